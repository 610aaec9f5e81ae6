// The row browser: one row's values, prediction and scores, and what every explanation says of it.
Assay.row_name = (row) =>
    (row.id === null || row.id === undefined ? `row ${row.number}` : `row ${row.number} (${row.id})`);

// Features by their mean rank of |attribution| over the explanations that have one for the row: an order in which all
// panels can be read side by side.
Assay.feature_order = function(row, count) {
  const total = new Array(count).fill(0);
  for (const values of row.values) {
    if (!values) continue;
    const size = (feature) => (Assay.is_number(values[feature]) ? Math.abs(values[feature]) : -1);
    const order = total.map((_, feature) => feature).sort((a, b) => size(b) - size(a) || a - b);
    order.forEach((feature, rank) => {
      total[feature] += rank;
    });
  }
  return total.map((_, feature) => feature).sort((a, b) => total[a] - total[b] || a - b);
};

// Rows whose id or number is the text, then those whose id starts with it, then those that hold it.
Assay.find_rows = function(rows, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const grades = [[], [], []];
  rows.forEach((row, index) => {
    const id = row.id === null || row.id === undefined ? "" : String(row.id).toLowerCase();
    const same = id === wanted || String(row.number) === wanted;
    const grade = same ? 0 : id.startsWith(wanted) ? 1 : id.includes(wanted) ? 2 : -1;
    if (grade >= 0) grades[grade].push(index);
  });
  return grades.flat();
};

function row_facts(row) {
  const list = Assay.element("dl", {class: "facts"});
  const add = (name, value) => {
    if (value === null || value === undefined) return;
    list.append(Assay.element("div", {}, Assay.element("dt", {}, name), Assay.element("dd", {}, String(value))));
  };
  add("row", row.number);
  add("id", row.id);
  add("predicted", row.predicted);
  add("label", row.label);
  add("explained target", row.target);
  add("model's output", Assay.is_number(row.output) ? Assay.number(row.output, 6) : null);
  const wrong = row.label !== null && row.predicted !== null && row.label !== undefined && row.label !== row.predicted;
  if (wrong && row.predicted !== undefined) add("note", "predicted is not the label");
  return list;
}

function neighbour_table(data, found, order) {
  const shown = found.neighbours.some((one) => one.cells) ? order.slice(0, 15) : [];
  const head = Assay.element("tr", {}, Assay.element("th", {scope: "col"}, "pool row"));
  head.append(Assay.element("th", {scope: "col"}, "weight"));
  for (const feature of shown) {
    head.append(Assay.element("th", {scope: "col"}, Assay.breakable(data.features[feature])));
  }
  const largest = Math.max(0, ...found.neighbours.map((one) => one.weight));
  const lines = found.neighbours.map((one) => {
    const width = largest > 0 ? (100 * Math.max(0, one.weight)) / largest : 0;
    const weight = Assay.element("td", {class: "weight"}, Assay.number(one.weight));
    weight.append(Assay.element("span", {class: "bar", style: `width:${width}%`, "aria-hidden": "true"}));
    const line = Assay.element("tr", {}, Assay.element("th", {scope: "row"}, String(one.row)), weight);
    for (const feature of shown) line.append(Assay.element("td", {}, one.cells ? one.cells[feature] : "–"));
    return line;
  });
  const table = Assay.element("table", {class: "neighbours"}, Assay.element("thead", {}, head));
  table.append(Assay.element("tbody", {}, ...lines));
  return Assay.scroll_box(`Neighbours of ${data.entries[found.entry].name}`, table);
}

function neighbours(data, row, order) {
  const box = Assay.element("div", {class: "neighbour-list"});
  for (const found of row.antecedents || []) {
    if (found.neighbours.length === 0) continue;
    box.append(
        Assay.element("h3", {}, `Neighbours used by ${data.entries[found.entry].name}`),
        Assay.paragraph("Rows of the pool whose explanations went into this one, with their weights."),
        neighbour_table(data, found, order),
    );
  }
  return box;
}

function row_controls(data, state) {
  const select = Assay.element("select", {id: "row-choice", change: () => state.show(Number(select.value))});
  data.rows.forEach((row, index) => select.append(Assay.option(index, `${Assay.row_name(row)}: ${row.target}`)));
  const count = data.rows.length;
  const step = (by) => () => state.show((state.row + by + count) % count);
  const search = Assay.element("input", {type: "search", id: "row-search", autocomplete: "off", spellcheck: "false"});
  const status = Assay.element("span", {class: "status", role: "status"});
  let matches = [];
  let place = 0;
  const pick = () => {
    if (matches.length > 0) state.show(matches[place]);
    const many = matches.length > 1 ? `${place + 1} of ${matches.length} matches; Enter for the next` : "";
    status.textContent = search.value.trim() === "" ? "" : matches.length === 0 ? "no such row in this file" : many;
  };
  search.addEventListener("input", () => {
    matches = Assay.find_rows(data.rows, search.value);
    place = 0;
    pick();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || matches.length === 0) return;
    place = (place + 1) % matches.length;
    pick();
  });
  state.chosen = (index) => {
    select.value = String(index);
  };
  const button = (id, text, label, by) =>
      Assay.element("button", {type: "button", id, class: "button", "aria-label": label, click: step(by)}, text);
  return Assay.element(
      "div",
      {class: "controls"},
      button("row-previous", "‹ Previous", "Previous row", -1),
      button("row-next", "Next ›", "Next row", 1),
      Assay.element("label", {class: "control"}, Assay.element("span", {}, "Row"), select),
      Assay.element("label", {class: "control"}, Assay.element("span", {}, "Find id or number"), search),
      status,
  );
}

Assay.parts.push({
  id: "rows",
  title: "Row by row",
  short: "Rows",
  shown: (data) => data.rows.length > 0,
  build(section, data) {
    const state = {row: 0};
    const heading = Assay.element("h3", {id: "row-heading", "aria-live": "polite"});
    const facts = Assay.element("div");
    const maps = Assay.element("div");
    const near = Assay.element("div");
    const panels = Assay.attribution_panels(data);
    let order = [];
    const as_bars = (box) => {
      box.append(panels.box);
      panels.draw();
    };
    const strongest = data.image ? Assay.fold("Strongest pixels as bars", as_bars) : null;
    state.show = (index) => {
      state.row = index;
      const row = data.rows[index];
      order = Assay.feature_order(row, data.features.length);
      state.chosen(index);
      heading.textContent = `${Assay.row_name(row)[0].toUpperCase()}${Assay.row_name(row).slice(1)}`;
      facts.replaceChildren(row_facts(row));
      panels.show(row, order);
      if (data.image) maps.replaceChildren(Assay.image_maps(data, row));
      near.replaceChildren(neighbours(data, row, order));
    };
    section.append(
        Assay.paragraph(
            `In this file: ${data.rows_words || Assay.plural(data.rows_shown, "row")}.` +
                (data.cells ? "" : " The values of the rows were kept out of it."),
            ),
        row_controls(data, state),
        heading,
        facts,
        maps,
        strongest || panels.box,
        near,
    );
    state.show(0);
  },
});
