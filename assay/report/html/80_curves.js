// How the criteria change with their own settings: sensitivity with the radius, faithfulness with the subset's size.
const curves_at_first = 6;

const curve_label = (along) => (along === "subset" ? "size of the sets of features" : along);

function curve_order(data, criterion, curves) {
  const index = data.criteria.findIndex((one) => one.name === criterion || one.spec === criterion);
  const sign = index >= 0 && data.criteria[index].direction === "higher" ? -1 : 1;
  const middle = (curve) => {
    const known = curve.mean.filter(Assay.is_number);
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  };
  return [...curves].sort((a, b) => Assay.undefined_last(middle(a), middle(b), sign) || a.entry - b.entry);
}

function curve_traces(data, curve, place) {
  const colour = Assay.series_colours[place % Assay.series_colours.length];
  const entry = data.entries[curve.entry];
  const name = Assay.escaped(entry.name, 28);
  const known = curve.x.map((_, index) => index).filter((index) => Assay.is_number(curve.mean[index]));
  const error = (index) => (Assay.is_number(curve.error[index]) ? curve.error[index] : 0);
  const words = (index) => {
    const coverage = curve.coverage ? curve.coverage[index] : null;
    return (
        `<b>${Assay.escaped(entry.name)}</b><br>${Assay.escaped(curve.along)} ${Assay.number(curve.x[index])}: ` +
        `${Assay.with_error(curve.mean[index], curve.error[index])}` +
        (Assay.is_number(coverage) ? `<br>on ${Assay.percent(coverage)} of rows` : ""));
  };
  const common = {type: "scatter", showlegend: false};
  const there = known.map((index) => curve.x[index]);
  const upper = known.map((index) => curve.mean[index] + error(index));
  const lower = known.map((index) => curve.mean[index] - error(index));
  return [
    {
      ...common,
      x: [...there, ...[...there].reverse()],
      y: [...upper, ...[...lower].reverse()],
      mode: "lines",
      fill: "toself",
      fillcolor: Assay.with_alpha(colour, 0.15),
      line: {width: 0},
      hoverinfo: "skip",
    },
    {
      ...common,
      x: there,
      y: known.map((index) => curve.mean[index]),
      mode: "lines+markers",
      name,
      line: {color: colour, width: 2, dash: entry.kind === "aggregate" ? "dash" : "solid"},
      marker: {size: 7, symbol: Assay.series_symbols[Math.floor(place / Assay.series_colours.length) % 8]},
      hovertext: known.map(words),
      hoverinfo: "text",
    },
  ];
}

function curve_table(data, curves) {
  const xs = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const head = Assay.element("tr", {}, Assay.element("th", {scope: "col"}, curves[0].along));
  xs.forEach((x) => head.append(Assay.element("th", {scope: "col"}, Assay.number(x))));
  const body = Assay.element("tbody");
  for (const curve of curves) {
    const line =
        Assay.element("tr", {}, Assay.element("th", {scope: "row"}, Assay.breakable(data.entries[curve.entry].name)));
    for (const x of xs) {
      const index = curve.x.indexOf(x);
      const cell = Assay.element("td", {}, index < 0 ? "–" : Assay.with_error(curve.mean[index], curve.error[index]));
      const coverage = index >= 0 && curve.coverage ? curve.coverage[index] : null;
      if (Assay.is_number(coverage) && coverage < 1) {
        cell.append(Assay.element("small", {}, `on ${Assay.percent(coverage)} of rows`));
      }
      line.append(cell);
    }
    body.append(line);
  }
  return Assay.scroll_box(
      "Curves as numbers", Assay.element("table", {class: "numbers"}, Assay.element("thead", {}, head), body));
}

// One box to tick for each curve, with the look of its line.
function curve_boxes(data, curves, drawn, changed) {
  const list = Assay.element("ul", {class: "curve-list"});
  curves.forEach((curve, place) => {
    const box = Assay.element("input", {
      type: "checkbox",
      change: () => {
        if (box.checked) {
          drawn.add(curve.entry);
        } else {
          drawn.delete(curve.entry);
        }
        changed();
      }
    });
    box.checked = drawn.has(curve.entry);
    const kind = data.entries[curve.entry].kind;
    const colour = Assay.series_colours[place % Assay.series_colours.length];
    const look =
        Assay.element("span", {class: `line-look ${kind}`, style: `border-color:${colour}`, "aria-hidden": "true"});
    const note = Assay.entry_note(curve.entry);
    const name = Assay.element("span", {class: Assay.is_unfaithful(curve.entry) ? "unfaithful" : null});
    name.append(Assay.breakable(Assay.shortened(data.entries[curve.entry].name, 60)), note === "" ? "" : ` (${note})`);
    list.append(Assay.element("li", {}, Assay.element("label", {}, box, look, name)));
  });
  return list;
}

Assay.parts.push({
  id: "curves",
  title: "Criteria against their settings",
  short: "Curves",
  shown: (data) => data.curves.length > 0,
  build(section, data) {
    const groups = new Map();
    for (const curve of data.curves) {
      const key = `${curve.criterion} against ${curve.along === "subset" ? "subset size" : curve.along}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(curve);
    }
    const names = [...groups.keys()];
    let chosen = 0;
    let drawn = new Set();
    const ordered = () => {
      const curves = groups.get(names[chosen]);
      return curve_order(data, curves[0].criterion, curves);
    };
    // The opened one, and the best of the others, faithful ones first.
    const draw_first = () => {
      const place = (entry) => (entry === Assay.opened() ? 0 : Assay.data.entries[entry].faithful === "yes" ? 1 : 2);
      const entries = ordered().map((curve) => curve.entry);
      const order = entries.map((entry, index) => ({entry, index}));
      order.sort((a, b) => place(a.entry) - place(b.entry) || a.index - b.index);
      drawn = new Set(order.slice(0, curves_at_first).map(({entry}) => entry));
    };
    draw_first();
    const plot = Assay.plot("Curves of a criterion against its setting", 420, () => {
      const curves = ordered();
      const measured = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
      const ticks = measured.length <= (Assay.narrow() ? 5 : 12) ?
          {tickvals: measured, ticktext: measured.map((x) => Assay.number(x, 3))} :
          {nticks: Assay.narrow() ? 4 : 8};
      return {
        traces: curves.flatMap((curve, place) => (drawn.has(curve.entry) ? curve_traces(data, curve, place) : [])),
        layout: {
          height: Assay.narrow() ? 340 : 420,
          xaxis: Assay.axis(Assay.escaped(curve_label(curves[0].along)), ticks),
          yaxis: Assay.axis(Assay.escaped(curves[0].criterion, Assay.narrow() ? 26 : 48), {nticks: 7}),
          margin: {l: 60, r: 16, t: 12, b: 48},
        },
      };
    });
    const figure = Assay.figure(plot, "curves");
    const boxes = Assay.element("div", {class: "half"});
    const numbers = Assay.fold("As numbers", (box) => box.append(curve_table(data, ordered())), !Assay.has_plotly);
    const show = () => {
      const curves = ordered();
      const [first] = curves;
      figure.set_reading(
          `How ${first.criterion} changes with the ${
              curve_label(first.along)}: where curves cross, the ranking depends on ` +
          "that setting. Bands are one standard error; aggregates are dashed.");
      const own = curves.find((curve) => curve.entry === Assay.opened()) || first;
      const ends = [0, own.mean.length - 1].map(
          (place) => `${Assay.number(own.mean[place], 3)} at ${Assay.number(own.x[place], 3)}`);
      plot.describe(`Curves of ${first.criterion} against the ${curve_label(first.along)}. ${
          data.entries[own.entry].name}: ${ends.join(", ")}.`);
      if (Assay.has_plotly) boxes.replaceChildren(curve_boxes(data, curves, drawn, () => plot.redraw()));
      plot.redraw();
      numbers.remake();
    };
    const chooser = Assay.chooser("Show", names, 0, (value) => {
      chosen = value;
      draw_first();
      show();
    });
    figure.hidden = !Assay.has_plotly;
    section.append(
        names.length > 1 ? Assay.element("div", {class: "controls"}, chooser) : Assay.element("h3", {}, names[0]),
        Assay.element("div", {class: "plot-and-list"}, Assay.element("div", {class: "half"}, figure), boxes),
        numbers,
    );
    show();
  },
});
