// Bars with names, whiskers and numbers: as elements of the page, which wrap long names, and as an SVG to save.
//
// A line is {name, cell, note, from, to, low, high, value, tone}: a bar from `from` to `to` on the common scale, a
// whisker from `low` to `high`, the text `value` at its end, and notes below the name. tone: positive, negative,
// neutral or muted for the colour; what it means always stands in words beside it. With `mark` it is a mark at `from`,
// not a bar.
function bar_scale(lines, include_zero) {
  const ends = lines.flatMap((line) => [line.from, line.to, line.low, line.high]).filter(Assay.is_number);
  if (include_zero) ends.push(0);
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  const span = high - low || 1;
  return {low, span, place: (value) => (100 * (value - low)) / span};
}

function bar_track(line, scale, with_zero) {
  const track = Assay.element("span", {class: "bar-track", "aria-hidden": "true"});
  if (with_zero) track.append(Assay.element("span", {class: "zero", style: `left:${scale.place(0)}%`}));
  if (Assay.is_number(line.from) && Assay.is_number(line.to)) {
    const left = scale.place(Math.min(line.from, line.to));
    const width = scale.place(Math.max(line.from, line.to)) - left;
    const kind = line.mark ? "spot" : "bar";
    track.append(Assay.element("span", {class: `${kind} ${line.tone}`, style: `left:${left}%;width:${width}%`}));
  }
  if (Assay.is_number(line.low) && Assay.is_number(line.high) && line.high > line.low) {
    const left = scale.place(line.low);
    const style = `left:${left}%;width:${scale.place(line.high) - left}%`;
    track.append(Assay.element("span", {class: "whisker", style}));
  }
  return track;
}

function bar_line(line, scale, with_zero) {
  const name =
      Assay.element("span", {class: "bar-name", title: line.name}, Assay.breakable(Assay.shortened(line.name, 60)));
  if (line.cell !== undefined && line.cell !== null) {
    name.append(Assay.element("span", {class: "cell"}, `= ${Assay.shortened(line.cell, 40)}`));
  }
  if (line.note) name.append(Assay.element("small", {}, Assay.shortened(line.note, 90)));
  return Assay.element(
      "li",
      {class: line.strong ? "strong" : null},
      name,
      bar_track(line, scale, with_zero),
      Assay.element("span", {class: "bar-value"}, line.value),
  );
}

// The same as a picture of its own, without wrapped text.
function bars_svg(title, lines, scale, with_zero) {
  const colours = Assay.colours();
  const [width, left, right, height] = [760, 270, 620, 40 + 30 * lines.length];
  const at = (value) => (left + ((right - left) * scale.place(value)) / 100).toFixed(1);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
        `font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="${colours.page}"/>`,
    `<text x="10" y="20" font-weight="600" fill="${colours.text}">${Assay.svg_text(title, 100)}</text>`,
  ];
  if (with_zero) {
    parts.push(`<line x1="${at(0)}" x2="${at(0)}" y1="30" y2="${height - 6}" stroke="${colours.quiet}"/>`);
  }
  lines.forEach((line, index) => {
    const y = 45 + 30 * index;
    const name = line.cell === undefined || line.cell === null ? line.name : `${line.name} = ${line.cell}`;
    parts.push(`<text x="${left - 12}" y="${y + 5}" text-anchor="end" fill="${colours.text}">${
        Assay.svg_text(name, 36)}</text>`);
    if (Assay.is_number(line.from) && Assay.is_number(line.to)) {
      const [from, to] = [Math.min(line.from, line.to), Math.max(line.from, line.to)];
      const size = line.mark ? 4 : Math.max(1, Number(at(to)) - Number(at(from)));
      parts.push(`<rect x="${at(from)}" y="${y - 8}" width="${size}" height="16" fill="${colours[line.tone]}"/>`);
    }
    if (Assay.is_number(line.low) && Assay.is_number(line.high) && line.high > line.low) {
      const [low, high] = [at(line.low), at(line.high)];
      const path = `M${low} ${y - 4}V${y + 4}M${low} ${y}H${high}M${high} ${y - 4}V${y + 4}`;
      parts.push(`<path d="${path}" stroke="${colours.text}" fill="none"/>`);
    }
    parts.push(`<text x="${right + 12}" y="${y + 5}" fill="${colours.text}">${Assay.svg_text(line.value, 24)}</text>`);
  });
  return `${parts.join("")}</svg>`;
}

// with_zero: whether 0 is on the scale, with a line. Without it, bars begin anywhere (a waterfall).
Assay.bar_chart = function(label, lines, with_zero = true) {
  const scale = bar_scale(lines, with_zero);
  const list = Assay.element(
      "ol", {class: "bars", "aria-label": label}, ...lines.map((line) => bar_line(line, scale, with_zero)));
  return {host: list, svg: () => bars_svg(label, lines, scale, with_zero)};
};
