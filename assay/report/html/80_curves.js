// How the criteria change with their own settings: sensitivity with the radius, faithfulness with the subset's size.
const curves_at_first = 6;

function curve_order(data, criterion, curves) {
  const index = data.criteria.findIndex((one) => one.name === criterion || one.spec === criterion);
  const sign = index >= 0 && data.criteria[index].direction === "higher" ? -1 : 1;
  const middle = (curve) => {
    const known = curve.mean.filter(Assay.is_number);
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  };
  return [...curves].sort((a, b) => Assay.undefined_last(middle(a), middle(b), sign) || a.entry - b.entry);
}

function curve_traces(data, curve, place, visible) {
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
  const common = {type: "scatter", legendgroup: String(curve.entry), visible: visible ? true : "legendonly"};
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
      showlegend: false,
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
    const ordered = () => {
      const curves = groups.get(names[chosen]);
      return curve_order(data, curves[0].criterion, curves);
    };
    const plot = Assay.plot("Curves of a criterion against its setting", 460, () => {
      const curves = ordered();
      const lines = Math.ceil(curves.length / (Assay.narrow() ? 1 : 4));
      const height = Assay.narrow() ? 380 + 20 * lines : 400 + 22 * lines;
      const along = curves[0].along === "subset" ? "subset size" : curves[0].along;
      const measured = [...new Set(curves.flatMap((curve) => curve.x))];
      return {
        traces: curves.flatMap((curve, place) => curve_traces(data, curve, place, place < curves_at_first)),
        layout: {
          height,
          xaxis: Assay.axis(Assay.escaped(along), measured.length <= 12 ? {tickvals: measured} : {}),
          yaxis: Assay.axis(Assay.escaped(curves[0].criterion)),
          legend: {orientation: "h", y: -0.18, yanchor: "top", x: 0},
          margin: {l: 60, r: 16, t: 12, b: 48},
        },
      };
    });
    const numbers = Assay.fold("As numbers", (box) => box.append(curve_table(data, ordered())), !Assay.has_plotly);
    const chooser = Assay.chooser("Show", names, 0, (value) => {
      chosen = value;
      plot.redraw();
      numbers.remake();
    });
    const most = Math.max(...[...groups.values()].map((curves) => curves.length));
    const about = "Means over rows, bands of one standard error; aggregates are dashed. A ranking that turns over along " +
        "a curve depends on the setting.";
    const press = "best on average are drawn at first; press a name in the legend to show or hide one.";
    const few = Assay.has_plotly && most > curves_at_first ? ` The ${curves_at_first} ${press}` : "";
    section.append(
        Assay.paragraph(about + few),
        names.length > 1 ? Assay.element("div", {class: "controls"}, chooser) : Assay.element("h3", {}, names[0]),
        plot.host,
        numbers,
    );
  },
});
