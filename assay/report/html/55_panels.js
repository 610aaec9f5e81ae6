// Attributions of one row as aligned bars: a table whose lines are features and whose columns are explanations, broken
// into blocks of as many columns as the page is wide.
const panel_features = 15;
const most_panel_cells = 6000;

function largest_reach(row, entry, features) {
  const values = row.values[entry];
  if (!values) return 0;
  const errors = row.errors ? row.errors[entry] : null;
  let reach = 0;
  for (const feature of features) {
    if (!Assay.is_number(values[feature])) continue;
    const error = errors && Assay.is_number(errors[feature]) ? errors[feature] : 0;
    reach = Math.max(reach, Math.abs(values[feature]) + error);
  }
  return reach;
}

// A bar from the middle to the value, a whisker of one standard error each way, the number below. Ranks, which have no
// direction, are neutral bars from the left.
function bar_cell(value, error, reach, signs) {
  if (!Assay.is_number(value)) {
    return Assay.element("td", {class: "phi"}, Assay.element("span", {class: "number"}, "–"));
  }
  const middle = signs ? 50 : 0;
  const place = (x) =>
      middle + (reach > 0 ? Math.max(-middle, Math.min(100 - middle, ((100 - middle) * x) / reach)) : 0);
  const [from, to] = value < 0 && signs ? [place(value), middle] : [middle, place(signs ? value : Math.abs(value))];
  const sign = !signs ? "neutral" : value < 0 ? "negative" : "positive";
  const bars = Assay.element("span", {class: signs ? "axis" : "axis ranks", "aria-hidden": "true"});
  bars.append(Assay.element("span", {class: `bar ${sign}`, style: `left:${from}%;width:${to - from}%`}));
  const known = Assay.is_number(error) && error > 0;
  if (known) {
    const low = place(value - error);
    bars.append(Assay.element("span", {class: "whisker", style: `left:${low}%;width:${place(value + error) - low}%`}));
  }
  const number = Assay.element("span", {class: "number"}, signs ? Assay.signed(value, 3) : Assay.number(value, 3));
  if (known) number.append(Assay.element("span", {class: "error"}, ` ± ${Assay.number(error, 2)}`));
  return Assay.element("td", {class: "phi"}, bars, number);
}

function feature_head(data, row, feature) {
  const head = Assay.element("th", {scope: "row", class: "feature"});
  head.append(Assay.breakable(Assay.shortened(data.features[feature], 80)));
  if (row.cells) head.append(Assay.element("span", {class: "cell"}, `= ${Assay.shortened(row.cells[feature], 40)}`));
  return head;
}

function entry_head(data, entry, own_scale) {
  const {name, kind, has_signs} = data.entries[entry];
  const head_class = `${kind}${Assay.is_unfaithful(entry) ? " unfaithful" : ""}`;
  const head = Assay.element("th", {scope: "col", class: head_class}, Assay.breakable(name));
  const note = Assay.entry_note(entry);
  if (note !== "") head.append(Assay.element("small", {class: "note"}, note));
  if (!has_signs) {
    head.append(Assay.element("small", {}, "no direction, own scale"));
  } else if (data.relative[entry]) {
    const about = {title: "of unit-normed members: no unit of the model's output"};
    head.append(Assay.element("small", about, "relative, own scale"));
  } else if (own_scale) {
    head.append(Assay.element("small", {}, "own scale"));
  }
  return head;
}

function panel_foot(data, row, entries) {
  const foot = Assay.element("tfoot");
  const add = (name, values) => {
    if (!values.some(Assay.is_number)) return;
    const line = Assay.element("tr", {}, Assay.element("th", {scope: "row"}, Assay.breakable(name)));
    for (const value of values) line.append(Assay.element("td", {}, Assay.number(value)));
    foot.append(line);
  };
  add("base value", entries.map((entry) => (row.base ? row.base[entry] : null)));
  data.criteria.forEach((criterion, index) => {
    if (!criterion.main) return;
    add(Assay.criterion_name(criterion),
        entries.map((entry) => (row.scores && row.scores[entry] ? row.scores[entry][index] : null)));
  });
  return foot;
}

function panel_block(data, row, entries, features, reaches, own_scale) {
  const head = Assay.element("tr", {}, Assay.element("th", {scope: "col", class: "feature"}, "feature"));
  for (const entry of entries) head.append(entry_head(data, entry, own_scale));
  const body = Assay.element("tbody");
  for (const feature of features) {
    const line = Assay.element("tr", {}, feature_head(data, row, feature));
    for (const entry of entries) {
      const value = row.values[entry] ? row.values[entry][feature] : null;
      const error = row.errors && row.errors[entry] ? row.errors[entry][feature] : null;
      line.append(bar_cell(value, error, reaches[entry], data.entries[entry].has_signs));
    }
    body.append(line);
  }
  const table = Assay.element("table", {class: "panels"}, Assay.element("thead", {}, head), body);
  table.append(panel_foot(data, row, entries));
  return table;
}

// How many columns fit beside the features' names; blocks of nearly equal size.
function block_size(box, entries) {
  const width = box.clientWidth || window.innerWidth - 48;
  const fits =
      Assay.printing ? 6 : Math.max(2, Math.floor((width - (width < 560 ? 110 : 190)) / (width < 560 ? 96 : 124)));
  return entries === 0 ? fits : Math.ceil(entries / Math.ceil(entries / fits));
}

Assay.attribution_panels = function(data) {
  const box = Assay.element("div", {class: "panel-box"});
  const blocks = Assay.element("div");
  const state = {row: null, order: [], all: false, own: false, kind: 0, columns: 0};
  const kinds = ["all", "methods", "aggregates"];
  const chosen_entries = () =>
      Assay.reading_order().filter((index) => state.kind === 0 || `${data.entries[index].kind}s` === kinds[state.kind]);
  const most = () =>
      Math.min(data.features.length, Math.max(panel_features, Math.floor(most_panel_cells / data.entries.length)));

  const more = Assay.element("button", {
    type: "button",
    class: "button",
    id: "all-features",
    click: () => {
      state.all = !state.all;
      draw_panels();
    }
  });
  const own = Assay.element("input", {
    type: "checkbox",
    id: "own-scale",
    change: () => {
      state.own = own.checked;
      draw_panels();
    }
  });
  const controls = Assay.element(
      "div",
      {class: "controls"},
      Assay.chooser(
          "Explanations", kinds, 0,
          (value) => {
            state.kind = value;
            draw_panels();
          }),
      Assay.element("label", {class: "control check"}, own, Assay.element("span", {}, "each on its own scale")),
      data.features.length > panel_features ? more : null,
  );

  function draw_panels() {
    // In a fold-out that was never opened there is nothing to draw.
    if (!state.row || !box.isConnected) return;
    const features = state.order.slice(0, state.all ? most() : panel_features);
    more.textContent = state.all ? `Show the first ${panel_features} features` :
        most() < data.features.length ? `Show ${most()} of ${Assay.whole(data.features.length)} features` :
                                        `Show all ${data.features.length} features`;
    more.setAttribute("aria-expanded", String(state.all));
    const reaches = data.entries.map((_, entry) => largest_reach(state.row, entry, state.order));
    const own_unit = (entry) => data.relative[entry] || !data.entries[entry].has_signs;
    const common = Math.max(0, ...reaches.filter((_, entry) => !own_unit(entry)));
    const scaled = reaches.map((reach, entry) => (state.own || own_unit(entry) ? reach : common));
    const entries = chosen_entries();
    state.columns = block_size(box, entries.length);
    blocks.replaceChildren();
    for (let from = 0; from < entries.length; from += state.columns) {
      blocks.append(
          panel_block(data, state.row, entries.slice(from, from + state.columns), features, scaled, state.own));
    }
  }
  Assay.when_changed(() => block_size(box, chosen_entries().length) !== state.columns && draw_panels());

  const words = Assay.paragraph(
      "Features by their mean rank over the explanations. Bars to the right (+) raise the explained value, to the left " +
          "(−) they lower it; whiskers are one standard error of the sampling. Methods share one scale; relative " +
          "explanations and ranks have no unit and are scaled each on its own.",
  );
  box.append(words, controls, blocks);
  return {
    box,
    draw: draw_panels,
    show(row, order) {
      state.row = row;
      state.order = order;
      draw_panels();
    },
  };
};
