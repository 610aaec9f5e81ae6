// Where the numbers come from: what was studied, how, with which inputs, and what was left out.
function pairs_table(pairs, caption) {
  const lines = pairs.map(
      ([name, value]) => Assay.element(
          "tr", {}, Assay.element("th", {scope: "row"}, String(name)), Assay.element("td", {}, String(value))),
  );
  const table = Assay.element("table", {class: "pairs"}, Assay.element("tbody", {}, ...lines));
  return Assay.scroll_box(caption, table);
}

function records_table(records, columns, caption) {
  const head = Assay.element("tr", {}, ...columns.map(([title]) => Assay.element("th", {scope: "col"}, title)));
  const lines = records.map((record) => {
    const cells = columns.map(([, key]) => {
      const text = record[key] === null || record[key] === undefined ? "–" : String(record[key]);
      return Assay.element("td", {class: key === "sha256" ? "hash" : null}, text);
    });
    return Assay.element("tr", {}, ...cells);
  });
  const table = Assay.element("table", {class: "records"}, Assay.element("thead", {}, head));
  table.append(Assay.element("tbody", {}, ...lines));
  return Assay.scroll_box(caption, table);
}

Assay.parts.push({
  id: "provenance",
  title: "Provenance",
  short: "Provenance",
  shown: () => true,
  build(section, data) {
    const add = (title, records, table) => {
      if (records.length === 0) return;
      section.append(Assay.element("h3", {}, title), table);
    };
    // On paper the summary has room for the first warnings alone.
    if (data.warnings.length > 0) {
      const list = Assay.text_list(data.warnings.map(Assay.with_signs), "plain");
      section.append(Assay.element("div", {class: "print-only"}, Assay.element("h3", {}, "All warnings"), list));
    }
    add("What was studied", data.facts, pairs_table(data.facts, "What was studied"));
    const inputs = [["input", "role"], ["name", "name"], ["SHA-256", "sha256"]];
    add("Inputs", data.inputs, records_table(data.inputs, inputs, "Inputs"));
    const left_out = [["kind", "kind"], ["name", "name"], ["why", "reason"]];
    add("Left out", data.left_out, records_table(data.left_out, left_out, "Left out"));
    if (data.settings.length > 0) {
      section.append(Assay.fold("Settings", (box) => box.append(pairs_table(data.settings, "Settings"))));
    }
    if (data.run.length > 0) {
      section.append(Assay.fold("This run: times and machine", (box) => box.append(pairs_table(data.run, "This run"))));
    }
    const specs =
        data.criteria.map((criterion) => ({...criterion, better: Assay.direction_words[criterion.direction]}));
    const columns = [
      ["criterion", "spec"], ["what it is", "title"], ["family", "family"], ["range", "range"], ["direction", "better"]
    ];
    section.append(
        Assay.fold("Criteria with their options", (box) => box.append(records_table(specs, columns, "Criteria"))));
    const about = [["explanation", "name"], ["kind", "kind"], ["what it is", "title"]];
    section.append(Assay.fold("Explanations", (box) => box.append(records_table(data.entries, about, "Explanations"))));
  },
});
