// Which features an explanation makes much of over all rows. One target at a time: attributions to different outputs
// answer different questions and are never pooled.
const importance_top = 20;

Assay.top_indices = function(values, count) {
  const order = values.map((_, index) => index).filter((index) => Assay.is_number(values[index]));
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, count);
};

Assay.bars = function(lines, label) {
  const largest = Math.max(0, ...lines.map((line) => line.value));
  const list = Assay.element("ol", {class: "bars", "aria-label": label});
  for (const line of lines) {
    const width = largest > 0 ? (100 * line.value) / largest : 0;
    list.append(
        Assay.element(
            "li",
            {},
            Assay.element(
                "span", {class: "bar-name", title: line.name}, Assay.breakable(Assay.shortened(line.name, 60))),
            Assay.element(
                "span", {class: "bar-track"}, Assay.element("span", {class: "bar", style: `width:${width}%`})),
            Assay.element("span", {class: "bar-value"}, Assay.number(line.value)),
            ),
    );
  }
  return list;
};

// Points that would lie on each other are moved apart: each takes the next free place up or down in its bin.
function swarm_offsets(values, low, span) {
  const bins = new Map();
  return values.map((value) => {
    const bin = Math.round((60 * (value - low)) / span);
    const before = bins.get(bin) || 0;
    bins.set(bin, before + 1);
    const step = Math.ceil(before / 2) * (before % 2 === 0 ? 1 : -1);
    return Math.max(-0.42, Math.min(0.42, 0.05 * step));
  });
}

function swarm_traces(data, entry, target, features) {
  const rows = data.rows.filter((row) => row.target === target && row.values[entry]);
  const all = features.flatMap((feature) => rows.map((row) => row.values[entry][feature])).filter(Assay.is_number);
  const low = Math.min(...all);
  const span = Math.max(...all) - low || 1;
  const plain = {x: [], y: [], hovertext: []};
  const coloured = {x: [], y: [], hovertext: [], colour: []};
  features.forEach((feature, place) => {
    const mine = rows.filter((row) => Assay.is_number(row.values[entry][feature]));
    const offsets = swarm_offsets(mine.map((row) => row.values[entry][feature]), low, span);
    mine.forEach((row, index) => {
      const scale = row.cell_scale ? row.cell_scale[feature] : null;
      const into = Assay.is_number(scale) ? coloured : plain;
      into.x.push(row.values[entry][feature]);
      into.y.push(features.length - 1 - place + offsets[index]);
      const cell = row.cells ? ` = ${Assay.escaped(row.cells[feature], 30)}` : "";
      const name = Assay.escaped(data.features[feature], 40);
      into.hovertext.push(`<b>${name}</b>${cell}<br>attribution ${Assay.number(row.values[entry][feature])}<br>${
          Assay.escaped(Assay.row_name(row))}`);
      if (into === coloured) coloured.colour.push(scale);
    });
  });
  const common = {type: "scatter", mode: "markers", hoverinfo: "text", showlegend: false};
  const traces = [];
  if (plain.x.length > 0) {
    const {x, y, hovertext} = plain;
    traces.push({...common, x, y, hovertext, marker: {size: 5, opacity: 0.75, color: Assay.colours().quiet}});
  }
  if (coloured.x.length > 0) {
    const {x, y, hovertext, colour} = coloured;
    const marker = {
      size: 5,
      opacity: 0.85,
      color: colour,
      cmin: 0,
      cmax: 1,
      colorscale: [[0, "#1f78b4"], [0.5, "#b0a0b8"], [1, "#e66101"]],
      showscale: !Assay.narrow(),
      colorbar: {
        title: {text: "feature's value", side: "right"},
        tickvals: [0, 1],
        ticktext: ["low", "high"],
        thickness: 8,
        len: 0.7,
        outlinewidth: 0,
      },
    };
    traces.push({...common, x, y, hovertext, marker});
  }
  return traces;
}

function swarm(data, chosen, features) {
  const entry = data.entries[chosen.entry];
  return Assay.plot(`Beeswarm of ${entry.name}`, 420, () => {
    const names = features().map((feature) => Assay.escaped(data.features[feature], Assay.narrow() ? 14 : 26));
    return {
      traces: swarm_traces(data, chosen.entry, data.importance[chosen.block].target, features()),
      layout: {
        height: Math.max(260, 90 + 24 * names.length),
        xaxis: Assay.axis("attribution"),
        yaxis: Assay.axis("", {
          tickvals: names.map((_, place) => names.length - 1 - place),
          ticktext: names,
          range: [-0.6, names.length - 0.4],
          zeroline: false,
        }),
        margin: {l: 40, r: 8, t: 8, b: 48},
      },
    };
  });
}

Assay.parts.push({
  id: "importance",
  title: "Features over all rows",
  short: "Features",
  shown: (data) => data.importance.length > 0 && data.entries.length > 0,
  build(section, data) {
    const rows_of = data.importance.map((block) => block.rows);
    const chosen = {entry: 0, block: rows_of.indexOf(Math.max(...rows_of))};
    const values = () => data.importance[chosen.block].mean_abs[chosen.entry] || [];
    const top = () => Assay.top_indices(values(), importance_top);
    const bars = Assay.element("div", {class: "half"});
    const words = Assay.element("p", {class: "result", "aria-live": "polite"});
    const plot = swarm(data, chosen, top);
    const update = () => {
      const block = data.importance[chosen.block];
      const name = data.entries[chosen.entry].name;
      const lines = top().map((feature) => ({name: data.features[feature], value: values()[feature]}));
      bars.replaceChildren();
      if (data.image) bars.append(Assay.importance_map(data, values(), name));
      bars.append(Assay.bars(lines, `Mean absolute attribution of ${name}`));
      const shown = data.rows.filter((row) => row.target === block.target).length;
      const coloured = data.rows.some((row) => row.cell_scale) ?
          ", blue where the feature's value is low, orange where it is high" :
          "";
      const left = data.features.length - lines.length;
      words.textContent = `Bars: mean |attribution| of ${name} for the target ${block.target}, over ${
                              Assay.plural(block.rows, "row")}` +
          `${left > 0 ? `; the ${lines.length} largest of ${Assay.whole(data.features.length)} features` : ""}.` +
          (data.relative[chosen.entry] ?
               " This one is relative: its sizes do not compare with those of other explanations." :
               "") +
          (Assay.has_plotly ? ` Dots: the ${Assay.plural(shown, "row")} of this target in this file${coloured}.` : "");
      plot.host.setAttribute("aria-label", `Beeswarm of ${name} for the target ${block.target}`);
      plot.redraw();
    };
    const targets = data.importance.map((block) => `${block.target} (${Assay.plural(block.rows, "row")})`);
    const choose = (key) => (value) => {
      chosen[key] = value;
      update();
    };
    section.append(
        Assay.element(
            "div",
            {class: "controls"},
            Assay.entry_chooser("Explanation", chosen.entry, choose("entry")),
            Assay.chooser("Target", targets, chosen.block, choose("block")),
            ),
        words,
        Assay.element("div", {class: "halves"}, bars, Assay.element("div", {class: "half"}, plot.host)),
    );
    update();
  },
});
