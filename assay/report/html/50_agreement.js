// How much the explanations agree with each other.
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

function agreement_plot(data) {
  const count = data.entries.length;
  const places = data.entries.map((_, index) => index);
  return Assay.plot("Heatmap of the agreement between explanations", 480, () => {
    const names = data.entries.map((entry) => Assay.escaped(entry.name, Assay.narrow() ? 12 : 26));
    const matrix = data.agreement.matrix;
    const words = (a, b) => `${Assay.escaped(data.entries[a].name)}<br>${Assay.escaped(data.entries[b].name)}<br>` +
        `<b>${Assay.is_number(matrix[a][b]) ? Assay.fixed(matrix[a][b], 3) : "undefined"}</b>`;
    const axis = {tickvals: places, ticktext: names, showgrid: false, zeroline: false};
    const numbers = count <= 12 && !Assay.narrow();
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
          showscale: !Assay.narrow(),
          colorbar: {thickness: 10, len: 0.8, tickvals: [-1, 0, 1], outlinewidth: 0},
        },
      ],
      layout: {
        height: Math.max(300, Math.min(760, 150 + 26 * count)),
        xaxis: Assay.axis("", {...axis, tickangle: Assay.narrow() || count > 24 ? -90 : -45}),
        yaxis: Assay.axis("", {...axis, autorange: "reversed"}),
        margin: {l: 40, r: 8, t: 8, b: 40},
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
    const scale = "1: the same order of features on every row; 0: no relation; −1: the reverse. Orange is agreement, " +
        "blue is disagreement.";
    section.append(
        Assay.paragraph(`${data.agreement.what.replace(/\.?$/, ".")} ${scale}`),
        agreement_plot(data).host,
        Assay.fold("As numbers", (box) => box.append(agreement_table(data)), !Assay.has_plotly),
    );
  },
});
