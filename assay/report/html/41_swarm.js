// The beeswarm: the attribution of every row in this file, feature by feature. Numbers are coloured from low to high;
// categories have no order, so their levels have colours of their own, which a list explains.
Assay.level_colour = (place) => Assay.series_colours[place % Assay.series_colours.length];
const most_levels_named = 8;

// Which level of a category a row has, by its place in the list of levels; -1 if none.
Assay.level_of = function(data, row, feature) {
  const levels = data.levels ? data.levels[feature] : null;
  if (!levels || !row.cells) return -1;
  return levels.indexOf(row.cells[feature]);
};

// The levels of a category that rows in this file have, most frequent first: {name, place, count}.
Assay.levels_there = function(data, feature, rows) {
  const counts = new Map();
  for (const row of rows) {
    const place = Assay.level_of(data, row, feature);
    if (place >= 0) counts.set(place, (counts.get(place) || 0) + 1);
  }
  return [...counts]
      .map(([place, count]) => ({name: data.levels[feature][place], place, count}))
      .sort((a, b) => b.count - a.count || a.place - b.place);
};

// The colours of a category's levels as a line of the page.
Assay.level_list = function(data, feature, rows) {
  const line = Assay.element("li", {}, Assay.element("strong", {}, Assay.shortened(data.features[feature], 40)));
  const there = Assay.levels_there(data, feature, rows);
  for (const level of there.slice(0, most_levels_named)) {
    const swatch = Assay.element("span", {class: "swatch", style: `background:${Assay.level_colour(level.place)}`});
    line.append(Assay.element("span", {class: "level"}, swatch, ` ${Assay.shortened(level.name, 40)}`));
  }
  if (there.length > most_levels_named) {
    line.append(Assay.element("span", {class: "level"}, `and ${Assay.whole(there.length - most_levels_named)} more`));
  }
  return line;
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

Assay.value_scale = [[0, "#1f78b4"], [0.5, "#b0a0b8"], [1, "#e66101"]];

function swarm_traces(data, entry, target, features) {
  const rows = data.rows.filter((row) => row.target === target && row.values[entry]);
  const all = features.flatMap((feature) => rows.map((row) => row.values[entry][feature])).filter(Assay.is_number);
  const low = Math.min(...all);
  const span = Math.max(...all) - low || 1;
  const quiet = Assay.colours().quiet;
  const plain = {x: [], y: [], hovertext: [], colour: []};
  const ordered = {x: [], y: [], hovertext: [], colour: []};
  features.forEach((feature, place) => {
    const mine = rows.filter((row) => Assay.is_number(row.values[entry][feature]));
    const offsets = swarm_offsets(mine.map((row) => row.values[entry][feature]), low, span);
    mine.forEach((row, index) => {
      const scale = row.cell_scale ? row.cell_scale[feature] : null;
      const into = Assay.is_number(scale) ? ordered : plain;
      into.x.push(row.values[entry][feature]);
      into.y.push(features.length - 1 - place + offsets[index]);
      const cell = row.cells ? ` = ${Assay.escaped(row.cells[feature], 30)}` : "";
      const name = Assay.escaped(data.features[feature], 40);
      into.hovertext.push(`<b>${name}</b>${cell}<br>attribution ${Assay.number(row.values[entry][feature])}${
          Assay.unit_of(entry)}<br>${Assay.escaped(Assay.row_name(row))}`);
      const level = Assay.level_of(data, row, feature);
      into.colour.push(into === ordered ? scale : level < 0 ? quiet : Assay.level_colour(level));
    });
  });
  const common = {type: "scatter", mode: "markers", hoverinfo: "text", showlegend: false};
  const traces = [];
  if (plain.x.length > 0) {
    const {x, y, hovertext, colour} = plain;
    traces.push({...common, x, y, hovertext, marker: {size: 5, opacity: 0.8, color: colour}});
  }
  if (ordered.x.length > 0) {
    const {x, y, hovertext, colour} = ordered;
    const marker = {size: 5, opacity: 0.85, color: colour, cmin: 0, cmax: 1, colorscale: Assay.value_scale};
    traces.push({...common, x, y, hovertext, marker});
  }
  return traces;
}

// chosen: {entry, block}, which the part changes before it calls update().
Assay.swarm = function(data, chosen, features) {
  const plot = Assay.plot("Beeswarm", 420, () => {
    const names = features().map((feature) => Assay.escaped(data.features[feature], Assay.narrow() ? 14 : 26));
    return {
      traces: swarm_traces(data, chosen.entry, data.importance[chosen.block].target, features()),
      layout: {
        height: Math.max(260, 90 + 24 * names.length),
        xaxis: Assay.axis(
            `attribution,${Assay.unit_of(chosen.entry) || " unit of the output"}`, {nticks: Assay.narrow() ? 4 : 7}),
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
  const figure = Assay.figure(plot, "beeswarm");
  const legend = Assay.element("ul", {class: "levels"});
  const key = Assay.element("p", {class: "colour-key"});
  key.append("low ", Assay.element("span", {class: "colour-ramp", "aria-hidden": "true"}), " high value of a number");
  figure.insertBefore(key, plot.host);
  plot.host.after(legend);
  const update = () => {
    const block = data.importance[chosen.block];
    const rows = data.rows.filter((row) => row.target === block.target && row.values[chosen.entry]);
    const categories = features().filter((feature) => data.levels && data.levels[feature]);
    const numbers = data.cells && features().some((feature) => data.kinds[feature] === "number");
    figure.hidden = !Assay.has_plotly || rows.length === 0;
    key.hidden = !numbers;
    legend.replaceChildren(...categories.map((feature) => Assay.level_list(data, feature, rows)));
    legend.hidden = categories.length === 0;
    figure.set_reading(
        (rows.length === 1 ? "Each dot is the one row of this target in this file" :
                             `Each dot is one of the ${Assay.plural(rows.length, "row")} of this target in this file`) +
        ": to the right the feature raises the explained value, to the left it lowers it.");
    const name = data.entries[chosen.entry].name;
    const most = features().slice(0, 3).map((feature) => {
      const values = rows.map((row) => row.values[chosen.entry][feature]).filter(Assay.is_number);
      const ends = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [null, null];
      return `${data.features[feature]} from ${Assay.number(ends[0], 3)} to ${Assay.number(ends[1], 3)}`;
    });
    plot.describe(`Beeswarm of ${name} for the target ${block.target}. Attributions of ${most.join("; ")}.`);
    plot.redraw();
  };
  return {box: figure, update};
};
