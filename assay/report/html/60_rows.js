// The row browser: one row's prediction, what the opened explanation says of it, and on demand what all others say.
Assay.row_name = (row) =>
    (row.id === null || row.id === undefined ? `row ${row.number}` : `row ${row.number} (id ${row.id})`);

// What was predicted of the row and what is true: "predicted bad, 71 %, labelled bad".
Assay.row_words = function(row) {
  const parts = [];
  if (row.predicted !== null && row.predicted !== undefined) {
    const chance = Assay.chance(row.probability);
    parts.push(`predicted ${Assay.shortened(row.predicted, 60)}${chance === "" ? "" : `, ${chance}`}`);
  } else if (Assay.is_number(row.output)) {
    parts.push(`predicted ${Assay.number(row.output)}`);
  }
  if (row.label !== null && row.label !== undefined) parts.push(`labelled ${Assay.shortened(row.label, 60)}`);
  return parts.join(", ");
};

Assay.row_title = (row) => `${Assay.row_name(row)}: ${Assay.row_words(row)}`;

// 1: predicted right, 0: wrong, null: not known.
Assay.row_right = function(row) {
  const known = [row.label, row.predicted].every((one) => one !== null && one !== undefined);
  return known ? Number(row.label === row.predicted) : null;
};

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
    if (value === null || value === undefined || value === "") return;
    list.append(Assay.element("div", {}, Assay.element("dt", {}, name), Assay.element("dd", {}, String(value))));
  };
  const chance = Assay.chance(row.probability);
  add("row", row.number);
  add("id", row.id);
  add("predicted",
      row.predicted === null || row.predicted === undefined ? null :
                                                              `${row.predicted}${chance === "" ? "" : `, ${chance}`}`);
  add("label", row.label);
  add("explained target", row.target);
  add("model's output for it",
      Assay.is_number(row.output) ? Assay.score_words(row.output, row.target_probability) : null);
  if (Assay.row_right(row) === 0) add("note", "predicted is not the label");
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
        Assay.element("h3", {}, `Nearest antecedents, of ${data.entries[found.entry].name}`),
        Assay.paragraph("Training rows most like this one, whose explanations went into it, with their weights."),
        neighbour_table(data, found, order),
    );
  }
  return box;
}

function row_controls(data, state) {
  const select = Assay.element("select", {id: "row-choice", change: () => state.show(Number(select.value))});
  let listed = [];
  const list = (wanted) => {
    listed = data.rows.map((_, index) => index)
                 .filter((index) => wanted === null || Assay.row_right(data.rows[index]) === wanted);
    select.replaceChildren(...listed.map((index) => Assay.option(index, Assay.row_title(data.rows[index]))));
  };
  list(null);
  const step = (by) => () => {
    const place = listed.indexOf(state.row);
    state.show(listed[(place + by + listed.length) % listed.length]);
  };
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
  const counts = [1, 0].map((right) => data.rows.filter((row) => Assay.row_right(row) === right).length);
  const which = Assay.element("select", {
    id: "row-which",
    change: () => {
      list(which.value === "" ? null : Number(which.value));
      state.show(listed[0]);
    }
  });
  which.append(Assay.option("", "all rows"));
  if (counts[1] > 0) which.append(Assay.option(0, `predicted wrong (${counts[1]})`));
  if (counts[0] > 0) which.append(Assay.option(1, `predicted right (${counts[0]})`));
  state.chosen = (index) => {
    // A row that was searched for may not be among those that are listed.
    if (!listed.includes(index)) {
      which.value = "";
      list(null);
    }
    select.value = String(index);
  };
  const button = (id, text, label, by) =>
      Assay.element("button", {type: "button", id, class: "button", "aria-label": label, click: step(by)}, text);
  const control = (label, node, kind = "") =>
      Assay.element("label", {class: `control ${kind}`}, Assay.element("span", {}, label), node);
  return Assay.element(
      "div",
      {class: "controls"},
      button("row-previous", "‹ Previous", "Previous row", -1),
      button("row-next", "Next ›", "Next row", 1),
      control("Row", select, "wide"),
      which.options.length > 1 ? control("Which rows", which) : null,
      control("Find id or number", search),
      status,
  );
}

Assay.parts.push({
  id: "rows",
  title: "Row by row",
  short: "Rows",
  shown: (data) => data.rows.length > 0,
  build(section, data) {
    const state = {row: 0, entry: Assay.opened()};
    const heading = Assay.element("h3", {id: "row-heading", "aria-live": "polite"});
    const facts = Assay.element("div");
    const maps = Assay.element("div");
    const near = Assay.element("div");
    const picture = Assay.element("div", {class: "row-picture"});
    const panels = Assay.attribution_panels(data);
    let order = [];
    const rivals = Assay.fold(data.image ? "Strongest pixels as bars" : "Beside all other explanations", (box) => {
      box.append(panels.box);
      panels.draw();
    });
    const draw_picture = () => {
      if (data.image) return;
      const {reading, chart} = Assay.row_picture(data, data.rows[state.row], state.entry);
      const caution = Assay.entry_caution(data, state.entry);
      const words = caution === "" ? reading : `${caution} ${reading}`;
      picture.replaceChildren(
          chart ?
              Assay.figure(chart, `${Assay.row_name(data.rows[state.row])}-${data.entries[state.entry].name}`, words) :
              Assay.paragraph(words, "reading"));
    };
    state.show = (index) => {
      state.row = index;
      const row = data.rows[index];
      order = Assay.feature_order(row, data.features.length);
      state.chosen(index);
      const title = Assay.row_title(row);
      heading.textContent = `${title[0].toUpperCase()}${title.slice(1)}`;
      facts.replaceChildren(row_facts(row));
      draw_picture();
      panels.show(row, order);
      if (data.image) maps.replaceChildren(Assay.image_maps(data, row));
      near.replaceChildren(neighbours(data, row, order));
    };
    const by = Assay.entry_chooser("Explanation", state.entry, (value) => {
      state.entry = value;
      draw_picture();
    });
    section.append(
        Assay.paragraph(
            `In this file: ${data.rows_words || Assay.plural(data.rows_shown, "row")}.` +
                (data.cells ? "" : " The values of the rows were kept out of it."),
            ),
        row_controls(data, state),
        heading,
        facts,
        ...(data.image ? [maps] : [Assay.element("div", {class: "controls"}, by), picture]),
        rivals,
        near,
    );
    state.show(0);
  },
});
