// Dependence: a feature's value against its attribution, one dot for each row in this file. Categories have a box for
// each level. Dots are coloured by the feature that it interacts with most, where the study knows one
// (data.dependence).
const most_boxes = 20;

// The partner of a feature: {feature, strength}, or nothing.
Assay.partner_of = function(data, feature) {
  const index_of = (one) => (typeof one === "number" ? one : data.features.indexOf(one));
  const found = (data.dependence || []).find((one) => index_of(one.feature) === feature);
  if (!found || found.partner === null || found.partner === undefined) return null;
  const partner = index_of(found.partner);
  return partner >= 0 && partner !== feature ? {feature: partner, strength: found.strength} : null;
};

const cell_number = (row, feature) => {
  const text = row.cells ? row.cells[feature] : "";
  const value = text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};

// A colour of Assay.value_scale.
function scale_colour(share) {
  const ends = Assay.value_scale.map(([, hex]) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const [from, to, part] = share < 0.5 ? [ends[0], ends[1], 2 * share] : [ends[1], ends[2], 2 * share - 1];
  return `rgb(${from.map((one, index) => Math.round(one + part * (to[index] - one))).join(",")})`;
}

// The colours of these rows' dots, by the partner's values; grey where it has none.
function partner_marker(data, rows, partner) {
  const colours = Assay.colours();
  if (!partner) return {color: colours.neutral};
  if (data.kinds[partner.feature] === "category") {
    return {
      color: rows.map((row) => {
        const level = Assay.level_of(data, row, partner.feature);
        return level < 0 ? colours.quiet : Assay.level_colour(level);
      })
    };
  }
  const scale = (row) => (row.cell_scale ? row.cell_scale[partner.feature] : null);
  return {color: rows.map((row) => (Assay.is_number(scale(row)) ? scale_colour(scale(row)) : colours.quiet))};
}

function dependence_hover(data, rows, entry, feature, partner) {
  return rows.map((row) => {
    const beside = partner ?
        `<br>${Assay.escaped(data.features[partner.feature], 40)} = ${Assay.escaped(row.cells[partner.feature], 30)}` :
        "";
    return `<b>${Assay.escaped(data.features[feature], 40)}</b> = ${Assay.escaped(row.cells[feature], 30)}<br>` +
        `attribution ${Assay.number(row.values[entry][feature])}${Assay.unit_of(entry)}${beside}<br>${
               Assay.escaped(Assay.row_name(row))}`;
  });
}

function dots_of_numbers(data, rows, entry, feature, partner) {
  const known = rows.filter((row) => cell_number(row, feature) !== null);
  return {
    traces: [{
      type: "scatter",
      mode: "markers",
      x: known.map((row) => cell_number(row, feature)),
      y: known.map((row) => row.values[entry][feature]),
      hovertext: dependence_hover(data, known, entry, feature, partner),
      hoverinfo: "text",
      showlegend: false,
      marker: {size: 7, opacity: 0.85, ...partner_marker(data, known, partner)},
    }],
    layout: {
      height: Assay.narrow() ? 340 : 400,
      xaxis: Assay.axis(
          `value of ${Assay.escaped(data.features[feature], Assay.narrow() ? 22 : 40)}`,
          {nticks: Assay.narrow() ? 4 : 8}),
      yaxis: Assay.axis(`attribution,${Assay.unit_of(entry) || " unit of the output"}`),
      margin: {l: 64, r: 12, t: 8, b: 56},
    },
  };
}

// One box for each level, with its dots, lying down so that long names have room.
function boxes_of_levels(data, rows, entry, feature, partner) {
  const levels = Assay.levels_there(data, feature, rows).slice(0, most_boxes);
  const colours = Assay.colours();
  const traces = [];
  levels.forEach((level, place) => {
    const mine = rows.filter((row) => Assay.level_of(data, row, feature) === level.place);
    const at = levels.length - 1 - place;
    traces.push({
      type: "box",
      orientation: "h",
      x: mine.map((row) => row.values[entry][feature]),
      y0: at,
      boxpoints: false,
      width: 0.6,
      line: {color: colours.quiet, width: 1},
      fillcolor: "rgba(128,128,128,0.15)",
      hoverinfo: "skip",
      showlegend: false,
    });
    traces.push({
      type: "scatter",
      mode: "markers",
      x: mine.map((row) => row.values[entry][feature]),
      // Spread by the golden ratio, the same each time.
      y: mine.map((_, index) => at + 0.4 * (((index * 0.618034) % 1) - 0.5)),
      hovertext: dependence_hover(data, mine, entry, feature, partner),
      hoverinfo: "text",
      showlegend: false,
      marker: {size: 5, opacity: 0.8, ...partner_marker(data, mine, partner)},
    });
  });
  const names = levels.map((level) => `${Assay.escaped(level.name, Assay.narrow() ? 14 : 28)} (${level.count})`);
  return {
    traces,
    layout: {
      height: Math.max(220, 90 + 40 * levels.length),
      xaxis:
          Assay.axis(`attribution,${Assay.unit_of(entry) || " unit of the output"}`, {nticks: Assay.narrow() ? 4 : 8}),
      yaxis: Assay.axis("", {
        tickvals: names.map((_, place) => names.length - 1 - place),
        ticktext: names,
        range: [-0.7, names.length - 0.3],
        zeroline: false,
      }),
      margin: {l: 40, r: 12, t: 8, b: 52},
    },
  };
}

Assay.dependence = function(data, chosen) {
  const box = Assay.element("div", {class: "dependence"});
  const usable = data.features.map((_, feature) => feature)
                     .filter((feature) => data.kinds[feature] === "number" || data.kinds[feature] === "category");
  if (!Assay.has_plotly || !data.cells || data.image || usable.length === 0 || data.rows.length === 0) {
    return {box, update() {}};
  }
  let feature = usable[0];
  const rows = () => data.rows.filter((row) => {
    const values = row.target === data.importance[chosen.block].target ? row.values[chosen.entry] : null;
    return values && Assay.is_number(values[feature]);
  });
  const plot = Assay.plot("Dependence plot", 400, () => {
    const draw_it = data.kinds[feature] === "category" ? boxes_of_levels : dots_of_numbers;
    return draw_it(data, rows(), chosen.entry, feature, Assay.partner_of(data, feature));
  });
  const figure = Assay.figure(plot, "dependence");
  const legend = Assay.element("ul", {class: "levels"});
  const key = Assay.element("p", {class: "colour-key"});
  figure.insertBefore(key, plot.host);
  plot.host.after(legend);
  const select = Assay.element("select", {
    id: "dependence-feature",
    change: () => {
      feature = Number(select.value);
      show();
    }
  });
  const show = () => {
    figure.hidden = rows().length === 0;
    if (figure.hidden) return;
    const partner = Assay.partner_of(data, feature);
    const by_level = partner && data.kinds[partner.feature] === "category";
    const name = Assay.shortened(data.features[feature], 60);
    const beside = partner ? Assay.shortened(data.features[partner.feature], 60) : "";
    figure.set_reading(
        (data.kinds[feature] === "category" ?
             `What each level of ${name} does to the explained value: a box holds the middle half of its rows.` :
             `How the attribution of ${name} goes with its value: dots above 0 raise the explained value.`) +
        (partner ? ` Colours show ${beside}, which it interacts with most (strength ${
                       Assay.number(partner.strength, 2)} of 1).` :
                   ""));
    key.replaceChildren();
    if (partner && !by_level) {
      key.append("low ", Assay.element("span", {class: "colour-ramp", "aria-hidden": "true"}), ` high ${beside}`);
    }
    key.hidden = key.childNodes.length === 0;
    legend.replaceChildren(...(by_level ? [Assay.level_list(data, partner.feature, rows())] : []));
    legend.hidden = !by_level;
    const values = rows().map((row) => row.values[chosen.entry][feature]);
    plot.describe(`Dependence of the attribution of ${name} on its value, ${Assay.plural(values.length, "row")}: from ${
        Assay.number(
            Math.min(...values), 3)} to ${Assay.number(Math.max(...values), 3)}${Assay.unit_of(chosen.entry)}.`);
    plot.redraw();
  };
  const control = Assay.element("label", {class: "control"}, Assay.element("span", {}, "Feature"), select);
  box.append(
      Assay.element("h3", {}, "Dependence of one feature"),
      Assay.element("div", {class: "controls"}, control),
      figure,
  );
  return {
    box,
    // order: the features, largest first.
    update(order) {
      const shown = [...order, ...usable.filter((one) => !order.includes(one))].filter((one) => usable.includes(one));
      if (!select.options.length) feature = shown[0];
      select.replaceChildren(...shown.map((one) => Assay.option(one, data.features[one], one === feature)));
      show();
    },
  };
};
