// How much the explanations agree with each other: each with a chosen one as bars, and all pairs in fold-outs.
const agreement_scale = [[0, "#0072b2"], [0.5, "#f3f1ee"], [1, "#d55e00"]];

// The colour of a correlation, between the scale's middle and one of its ends.
function agreement_colour(value) {
  const ends = {negative: [0, 114, 178], positive: [213, 94, 0], middle: [243, 241, 238]};
  const end = value < 0 ? ends.negative : ends.positive;
  const share = Math.min(1, Math.abs(value));
  const mixed = ends.middle.map((part, index) => Math.round(part + share * (end[index] - part)));
  return `rgb(${mixed.join(",")})`;
}

function agreement_table(data) {
  const head = Assay.element("tr", {}, Assay.element("td"));
  data.entries.forEach((entry) => head.append(Assay.element("th", {scope: "col"}, Assay.breakable(entry.name))));
  const body = Assay.element("tbody");
  data.agreement.matrix.forEach((line, index) => {
    const row = Assay.element("tr", {}, Assay.element("th", {scope: "row"}, Assay.breakable(data.entries[index].name)));
    for (const value of line) {
      const known = Assay.is_number(value);
      const style = known ? `background:${agreement_colour(value)};color:${value < -0.6 ? "#fff" : "#111"}` : null;
      row.append(Assay.element("td", {style}, known ? Assay.fixed(value, 2) : "–"));
    }
    body.append(row);
  });
  const table = Assay.element("table", {class: "matrix"}, Assay.element("thead", {}, head), body);
  return Assay.scroll_box("Agreement as numbers", table);
}

// How far each explanation agrees with the chosen one, best first.
function agreement_bars(data, chosen) {
  const line = data.agreement.matrix[chosen];
  const others = line.map((value, index) => ({value, index})).filter(({index}) => index !== chosen);
  others.sort((a, b) => Assay.undefined_last(a.value, b.value, -1) || a.index - b.index);
  return others.map(({value, index}) => ({
                      name: data.entries[index].name,
                      note: Assay.entry_note(index),
                      from: Assay.is_number(value) ? 0 : null,
                      to: value,
                      value: Assay.is_number(value) ? Assay.fixed(value, 2) : "undefined",
                      tone: Assay.is_unfaithful(index) ? "muted" : "neutral",
                    }));
}

// Numbers stand for names across; names with their numbers stand at the left.
function agreement_plot(data) {
  const count = data.entries.length;
  const places = data.entries.map((_, index) => index);
  return Assay.plot("Heatmap of the agreement between explanations", 480, () => {
    const narrow = Assay.narrow();
    const names = data.entries.map((entry, index) => `${Assay.escaped(entry.name, narrow ? 13 : 30)}  ${index + 1}`);
    const matrix = data.agreement.matrix;
    const words = (a, b) => `${Assay.escaped(data.entries[a].name)}<br>${Assay.escaped(data.entries[b].name)}<br>` +
        `<b>${Assay.is_number(matrix[a][b]) ? Assay.fixed(matrix[a][b], 3) : "undefined"}</b>`;
    const step = Math.ceil(count / (narrow ? 10 : 40));
    const shown = places.filter((place) => place % step === 0);
    const axis = {showgrid: false, zeroline: false};
    const numbers = count <= 12 && !narrow;
    return {
      traces: [
        {
          type: "heatmap",
          z: matrix,
          x: places,
          y: places,
          zmin: -1,
          zmax: 1,
          colorscale: agreement_scale,
          xgap: 1,
          ygap: 1,
          hovertext: matrix.map((line, a) => line.map((_, b) => words(a, b))),
          hoverinfo: "text",
          hoverongaps: false,
          text: numbers ?
              matrix.map((line) => line.map((value) => (Assay.is_number(value) ? Assay.fixed(value, 2) : ""))) :
              undefined,
          texttemplate: numbers ? "%{text}" : undefined,
          textfont: {size: 11},
          showscale: !narrow,
          colorbar: {thickness: 10, len: 0.8, tickvals: [-1, 0, 1], outlinewidth: 0},
        },
      ],
      layout: {
        height: Math.max(280, Math.min(760, 80 + 22 * count)),
        xaxis: Assay.axis(
            "",
            {...axis, tickvals: shown, ticktext: shown.map((place) => String(place + 1)), side: "top", tickangle: 0}),
        yaxis: Assay.axis("", {...axis, tickvals: places, ticktext: names, autorange: "reversed"}),
        margin: {l: 40, r: 8, t: 28, b: 8},
      },
    };
  });
}

Assay.parts.push({
  id: "agreement",
  title: "Agreement between explanations",
  short: "Agreement",
  shown: (data) => Boolean(data.agreement) && data.entries.length >= 2,
  build(section, data) {
    let chosen = Assay.opened();
    const bars = Assay.element("div");
    const show = () => {
      const name = Assay.shortened(data.entries[chosen].name, 60);
      const chart = Assay.bar_chart(`Agreement with ${name}`, agreement_bars(data, chosen));
      bars.replaceChildren(Assay.figure(
          chart, `agreement-${name}`,
          `How far the others put the features in the same order as ${name}: 1 is the same order on every row, 0 no ` +
              "relation. Those that agree may still be wrong together."));
    };
    const plot = agreement_plot(data);
    const strongest = () => {
      let best = null;
      data.agreement.matrix.forEach((line, a) => line.forEach((value, b) => {
        if (a < b && Assay.is_number(value) && (best === null || value > best.value)) best = {a, b, value};
      }));
      return best === null ?
          "" :
          ` Closest: ${data.entries[best.a].name} and ${data.entries[best.b].name}, ${Assay.fixed(best.value, 2)}.`;
    };
    plot.describe(
        `Heatmap of the agreement between ${Assay.plural(data.entries.length, "explanation")}.${strongest()}`);
    const all = Assay.fold("All pairs", (box) => {
      box.append(Assay.figure(
          plot, "agreement",
          "Every explanation against every other, by the numbers at the left: orange is the same order, blue the reverse."));
    });
    section.append(
        Assay.paragraph(data.agreement.what.replace(/\.?$/, ".")),
        Assay.element(
            "div", {class: "controls"},
            Assay.entry_chooser(
                "Compared with", chosen,
                (value) => {
                  chosen = value;
                  show();
                })),
        bars,
        ...(Assay.has_plotly ? [all] : []),
        Assay.fold("All pairs as numbers", (box) => box.append(agreement_table(data)), !Assay.has_plotly),
    );
    show();
  },
});
