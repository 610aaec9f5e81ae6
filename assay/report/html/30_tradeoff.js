// Two criteria against each other, with the explanations that none beats in both. Points have numbers, which are placed
// so that none covers another; a list beside the plot says which explanation each number is.

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

function tradeoff_points(data, x, y, all) {
  const points = [];
  data.entries.forEach((entry, index) => {
    if (!all && Assay.is_unfaithful(index)) return;
    const [across, up] = [entry.scores[x], entry.scores[y]];
    if (!Assay.is_number(across.mean) || !Assay.is_number(up.mean)) return;
    points.push({entry, index, x: across.mean, y: up.mean, x_error: across.stderr, y_error: up.stderr});
  });
  return points;
}

// The range of an axis: all points with their errors, and a margin for numbers beside them.
function padded_range(points, key) {
  const error = (point) => (Assay.is_number(point[`${key}_error`]) ? point[`${key}_error`] : 0);
  const low = Math.min(...points.map((point) => point[key] - error(point)));
  const high = Math.max(...points.map((point) => point[key] + error(point)));
  const span = high - low || Math.abs(high) || 1;
  return [low - 0.1 * span, high + 0.1 * span];
}

// Where the numbers stand, in pixels from their points: the nearest free place on rings around the point. A place is
// free if it lies inside the plot and covers no number and no point.
Assay.place_labels = function(points, width, height, half_width = 12, half_height = 9) {
  const placed = [];
  const covers = (x, y) =>
      placed.some((other) => Math.abs(other.x - x) < 2 * half_width && Math.abs(other.y - y) < 2 * half_height) ||
      points.some((point) => Math.abs(point.x - x) < half_width + 6 && Math.abs(point.y - y) < half_height + 6) ||
      x < half_width || y < half_height || x > width - half_width || y > height - half_height;
  for (const point of points) {
    let found = null;
    for (let ring = 20; ring < width + height && !found; ring += 9) {
      const steps = Math.max(12, Math.round(ring / 3));
      for (let step = 0; step < steps && !found; ++step) {
        const angle = (2 * Math.PI * step) / steps - Math.PI / 2;
        const [x, y] = [point.x + ring * Math.cos(angle), point.y + ring * Math.sin(angle)];
        if (!covers(x, y)) found = {x, y};
      }
    }
    placed.push(found || {x: point.x, y: point.y});
  }
  return placed.map((place, index) => ({ax: place.x - points[index].x, ay: place.y - points[index].y}));
};

function tradeoff_labels(points, ranges, width, height) {
  const across = (value) => (width * (value - ranges.x[0])) / (ranges.x[1] - ranges.x[0]);
  const up = (value) => height - (height * (value - ranges.y[0])) / (ranges.y[1] - ranges.y[0]);
  const offsets = Assay.place_labels(points.map((point) => ({x: across(point.x), y: up(point.y)})), width, height);
  const colours = Assay.colours();
  return points.map((point, index) => ({
                      x: point.x,
                      y: point.y,
                      ax: offsets[index].ax,
                      ay: offsets[index].ay,
                      text: String(point.number),
                      showarrow: true,
                      arrowhead: 0,
                      arrowwidth: 1,
                      arrowcolor: colours.quiet,
                      standoff: 5,
                      borderpad: 0,
                      font: {size: 12, color: Assay.is_unfaithful(point.index) ? colours.quiet : colours.text},
                    }));
}

function tradeoff_traces(points, front, words) {
  const colours = Assay.colours();
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
      color: Assay.with_alpha(colours[kind], 0.45),
    });
    traces.push({
      type: "scatter",
      mode: "markers",
      name: title,
      x: mine.map((point) => point.x),
      y: mine.map((point) => point.y),
      error_x: errors("x_error"),
      error_y: errors("y_error"),
      cliponaxis: false,
      hovertext: mine.map(words),
      hoverinfo: "text",
      marker: {
        // What is not faithful is hollow and grey.
        symbol: mine.map((point) => (Assay.is_unfaithful(point.index) ? `${symbol}-open` : symbol)),
        size: mine.map((point) => (point.index === Assay.data.recommended ? 15 : 9)),
        color: mine.map((point) => (Assay.is_unfaithful(point.index) ? colours.quiet : colours[kind])),
        line: {
          width: mine.map((point) => (point.index === Assay.data.recommended ? 3 : 1)),
          color: mine.map((point) => (point.index === Assay.data.recommended ? colours.text : colours.quiet)),
        },
      },
    });
  }
  return traces;
}

function tradeoff_list(points, front) {
  const on_front = new Set(front.map((point) => point.index));
  const list = Assay.element("ol", {class: "numbers"});
  for (const point of [...points].sort((a, b) => a.number - b.number)) {
    const notes = [point.entry.kind, Assay.entry_note(point.index), on_front.has(point.index) ? "on the front" : ""];
    const line = Assay.element("li", {
      value: point.number,
      class: `${point.entry.kind}${Assay.is_unfaithful(point.index) ? " unfaithful" : ""}`,
    });
    line.append(
        Assay.breakable(Assay.shortened(point.entry.name, 60)),
        Assay.element("small", {}, notes.filter(Boolean).join(", ")),
    );
    list.append(line);
  }
  return list;
}

Assay.parts.push({
  id: "tradeoff",
  title: "Trade-off between criteria",
  short: "Trade-off",
  shown: (data) => data.criteria.filter((criterion) => criterion.direction !== "neither").length >= 2,
  build(section, data) {
    const usable =
        data.criteria.map((_, index) => index).filter((index) => data.criteria[index].direction !== "neither");
    const named = (name, other) => {
      const found = usable.findIndex((index) => data.criteria[index].name === name);
      return found >= 0 ? found : other;
    };
    const chosen = {y: named("faithfulness", 0), x: named("complexity", 1), all: true};
    if (chosen.x === chosen.y) chosen.x = usable.findIndex((_, index) => index !== chosen.y);
    const criterion = (axis) => data.criteria[usable[chosen[axis]]];
    const criterion_words = (axis) => Assay.criterion_name(criterion(axis));
    const sign = (axis) => (criterion(axis).direction === "higher" ? 1 : -1);
    const found = () => {
      const points = tradeoff_points(data, usable[chosen.x], usable[chosen.y], chosen.all);
      // Best by the upright criterion first.
      [...points].sort((a, b) => sign("y") * (b.y - a.y) || a.index - b.index).forEach((point, place) => {
        point.number = place + 1;
      });
      return {points, front: Assay.pareto_front(points, sign("x"), sign("y"))};
    };
    const axis_title = (axis) => {
      const arrow = {x: ["← better", "better →"], y: ["↓ better", "better ↑"]}[axis][sign(axis) > 0 ? 1 : 0];
      return `${Assay.escaped(criterion_words(axis), Assay.narrow() ? 24 : 48)}  (${arrow})`;
    };
    const hover = (front) => (point) =>
        `<b>${point.number} ${Assay.escaped(point.entry.name)}</b> (${point.entry.kind})<br>${
            Assay.escaped(criterion_words("x"))}: ${Assay.with_error(point.x, point.x_error)}<br>` +
        `${Assay.escaped(criterion_words("y"))}: ${Assay.with_error(point.y, point.y_error)}` +
        (Assay.entry_note(point.index) === "" ? "" : `<br>${Assay.escaped(Assay.entry_note(point.index))}`) +
        (front.includes(point) ? "<br>on the Pareto front" : "");
    const margins = () => (Assay.narrow() ? {l: 64, r: 8, t: 8, b: 56} : {l: 76, r: 16, t: 12, b: 60});
    const plot = Assay.plot("Scatter plot of two criteria with the Pareto front", 480, () => {
      const {points, front} = found();
      if (points.length === 0) return {traces: [], layout: {height: 0}};
      const height = Assay.narrow() ? 420 : 480;
      const margin = margins();
      const ranges = {x: padded_range(points, "x"), y: padded_range(points, "y")};
      const width = Math.max(120, (Assay.printing ? 680 : plot.host.clientWidth || 600) - margin.l - margin.r);
      return {
        traces: tradeoff_traces(points, front, hover(front)),
        layout: {
          height,
          margin,
          showlegend: false,
          annotations: tradeoff_labels(points, ranges, width, height - margin.t - margin.b),
          xaxis: Assay.axis(axis_title("x"), {range: ranges.x, automargin: false, nticks: Assay.narrow() ? 4 : 8}),
          yaxis: Assay.axis(axis_title("y"), {range: ranges.y, automargin: false, nticks: 7}),
        },
      };
    });
    Assay.when_changed(() => plot.redraw());
    const figure = Assay.figure(plot, "trade-off");
    const list = Assay.element("div", {class: "half"});
    const words = Assay.element("p", {class: "result"});
    const update = () => {
      const {points, front} = found();
      const missing = data.entries.length - points.length;
      const names = front.map((point) => Assay.shortened(point.entry.name, 60)).join(", ");
      words.textContent =
          (front.length > 0 ? `On the Pareto front, best by ${criterion_words("x")} first: ${names}.` : "") +
          (missing === 0  ? "" :
               chosen.all ? ` ${Assay.plural(missing, "explanation")} without both scores left out.` :
                            ` ${Assay.plural(missing, "explanation")} left out: not faithful, or without both scores.`);
      figure.set_reading(
          `Each number is an explanation, best by ${
              criterion_words("y")} first; the dotted line joins those that none ` +
          "beats in both criteria, hollow grey ones are not faithful, and the large one is recommended.");
      plot.describe(`Scatter plot of ${criterion_words("y")} against ${criterion_words("x")} for ${
          Assay.plural(points.length, "explanation")}. ${words.textContent}`);
      list.replaceChildren(tradeoff_list(points, front));
      plot.redraw();
    };
    const names = usable.map((index) => Assay.criterion_name(data.criteria[index]));
    const choose = (axis) => (value) => {
      chosen[axis] = value;
      update();
    };
    const only = Assay.element("input", {
      type: "checkbox",
      id: "faithful-only",
      change: () => {
        chosen.all = !only.checked;
        update();
      }
    });
    const some_are_not = data.entries.some((_, index) => Assay.is_unfaithful(index));
    section.append(
        Assay.element(
            "div",
            {class: "controls"},
            Assay.chooser("Across", names, chosen.x, choose("x")),
            Assay.chooser("Up", names, chosen.y, choose("y")),
            some_are_not ? Assay.element(
                               "label", {class: "control check"}, only,
                               Assay.element("span", {}, "without those that are not faithful")) :
                           null,
            ),
        Assay.element("div", {class: "plot-and-list"}, Assay.element("div", {class: "half"}, figure), list),
        words,
    );
    update();
  },
});
