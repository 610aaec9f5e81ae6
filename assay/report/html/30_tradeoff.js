// Two criteria against each other, with the explanations that none beats in both.

// Indices of the points that no other is at least as good as in both and better in one, by falling x quality.
Assay.pareto_front = function(points, x_sign, y_sign) {
  const beats = (a, b) => {
    const x = x_sign * (a.x - b.x);
    const y = y_sign * (a.y - b.y);
    return x >= 0 && y >= 0 && (x > 0 || y > 0);
  };
  const front = points.filter((point) => !points.some((other) => beats(other, point)));
  return front.sort((a, b) => x_sign * (b.x - a.x) || y_sign * (b.y - a.y));
};

function tradeoff_points(data, x, y) {
  const points = [];
  data.entries.forEach((entry, index) => {
    const [across, up] = [entry.scores[x], entry.scores[y]];
    if (!Assay.is_number(across.mean) || !Assay.is_number(up.mean)) return;
    points.push({entry, index, x: across.mean, y: up.mean, x_error: across.stderr, y_error: up.stderr});
  });
  return points;
}

function tradeoff_traces(data, points, front, x, y) {
  const colours = Assay.colours();
  const on_front = new Set(front.map((point) => point.index));
  const [x_name, y_name] = [x, y].map((index) => Assay.escaped(Assay.criterion_name(data.criteria[index])));
  const words = (point) => `<b>${Assay.escaped(point.entry.name)}</b> (${point.entry.kind})<br>` +
      `${x_name}: ${Assay.with_error(point.x, point.x_error)}<br>${y_name}: ${
                               Assay.with_error(point.y, point.y_error)}` +
      (on_front.has(point.index) ? "<br>on the Pareto front" : "");
  const traces = [
    {
      type: "scatter",
      mode: "lines",
      name: "Pareto front",
      x: front.map((point) => point.x),
      y: front.map((point) => point.y),
      line: {shape: "hv", dash: "dot", width: 2, color: colours.quiet},
      hoverinfo: "skip",
    },
  ];
  for (const [kind, title, symbol] of [["method", "methods", "circle"], ["aggregate", "aggregates", "diamond"]]) {
    const mine = points.filter((point) => point.entry.kind === kind);
    if (mine.length === 0) continue;
    const errors = (key) => ({
      type: "data",
      array: mine.map((point) => (Assay.is_number(point[key]) ? point[key] : 0)),
      thickness: 1,
      width: 0,
      color: Assay.with_alpha(colours[kind], 0.55),
    });
    traces.push({
      type: "scatter",
      mode: "markers+text",
      name: title,
      x: mine.map((point) => point.x),
      y: mine.map((point) => point.y),
      error_x: errors("x_error"),
      error_y: errors("y_error"),
      // Names of the others would cover each other; they are shown under the pointer.
      text: mine.map(
          (point) => (on_front.has(point.index) || points.length <= 6 ? Assay.escaped(point.entry.name, 24) : "")),
      textposition: "top center",
      textfont: {size: 11},
      cliponaxis: false,
      hovertext: mine.map(words),
      hoverinfo: "text",
      marker: {
        symbol,
        size: mine.map((point) => (on_front.has(point.index) ? 12 : 8)),
        color: mine.map((point) => (on_front.has(point.index) ? colours[kind] : Assay.with_alpha(colours[kind], 0.7))),
        line: {width: 1, color: colours.page},
      },
    });
  }
  return traces;
}

Assay.parts.push({
  id: "tradeoff",
  title: "Trade-off",
  short: "Trade-off",
  shown: (data) => data.criteria.filter((criterion) => criterion.direction !== "neither").length >= 2,
  build(section, data) {
    const usable =
        data.criteria.map((_, index) => index).filter((index) => data.criteria[index].direction !== "neither");
    const named = (name, other) => {
      const found = usable.findIndex((index) => data.criteria[index].name === name);
      return found >= 0 ? found : other;
    };
    const chosen = {y: named("faithfulness", 0), x: named("complexity", 1)};
    if (chosen.x === chosen.y) chosen.x = usable.findIndex((_, index) => index !== chosen.y);
    const criterion = (axis) => data.criteria[usable[chosen[axis]]];
    const sign = (axis) => (criterion(axis).direction === "higher" ? 1 : -1);
    const found = () => {
      const points = tradeoff_points(data, usable[chosen.x], usable[chosen.y]);
      return {points, front: Assay.pareto_front(points, sign("x"), sign("y"))};
    };
    const axis_title = (axis) => {
      const arrow = {x: ["← better", "better →"], y: ["↓ better", "better ↑"]}[axis][sign(axis) > 0 ? 1 : 0];
      return `${Assay.escaped(Assay.criterion_name(criterion(axis)))}  (${arrow})`;
    };
    const plot = Assay.plot("Scatter plot of two criteria with the Pareto front", 460, () => {
      const {points, front} = found();
      return {
        traces: tradeoff_traces(data, points, front, usable[chosen.x], usable[chosen.y]),
        layout: {
          height: 460,
          xaxis: Assay.axis(axis_title("x")),
          yaxis: Assay.axis(axis_title("y")),
          legend: {orientation: "h", y: 1.02, yanchor: "bottom", x: 0},
          margin: {l: 60, r: 24, t: 40, b: 56},
        },
      };
    });
    const words = Assay.element("p", {class: "result", "aria-live": "polite"});
    const update = () => {
      const {points, front} = found();
      const missing = data.entries.length - points.length;
      const names = front.map((point) => point.entry.name).join(", ");
      words.textContent =
          (front.length > 0 ? `On the Pareto front, best by ${Assay.criterion_name(criterion("x"))} first: ${names}.` :
                              "") +
          (missing > 0 ? ` ${Assay.plural(missing, "explanation")} without both scores left out.` : "");
      plot.redraw();
    };
    const names = usable.map((index) => Assay.criterion_name(data.criteria[index]));
    const choose = (axis) => (value) => {
      chosen[axis] = value;
      update();
    };
    const about = "Each point is an explanation, bars are standard errors. Those on the front (large, named) are beaten " +
        "by no other in both criteria at once: which of them to use is a matter of what matters more.";
    section.append(
        Assay.paragraph(about),
        Assay.element(
            "div",
            {class: "controls"},
            Assay.chooser("Across", names, chosen.x, choose("x")),
            Assay.chooser("Up", names, chosen.y, choose("y")),
            ),
        plot.host,
        words,
    );
    update();
  },
});
