// The first screen: a title, five sentences and a picture of what drives the model.
const drivers_at_first = 8;
const drivers_on_phones = 5;
const drivers_beside_map = 3;  // single pixels say little

// Of images: the mean size of each pixel's attribution over all rows, whatever their target.
function pooled_sizes(data, entry) {
  const sums = new Array(data.features.length).fill(0);
  for (const block of data.importance) {
    const sizes = block.mean_abs[entry];
    sums.forEach((_, pixel) => {
      if (sizes && Assay.is_number(sizes[pixel])) sums[pixel] += block.rows * sizes[pixel];
    });
  }
  return sums;
}

Assay.text_list = function(
    items, kind) { return Assay.element("ul", {class: kind}, ...items.map((text) => Assay.element("li", {}, text))); };

// The files are plain ASCII; a page has the sign, and keeps it on one line with its numbers.
Assay.with_signs = (line) => line.replace(/(\d) \+- (?=\d)/g, "$1\u00a0±\u00a0").replace(/(\d) (%|s\b)/g, "$1\u00a0$2");

function summary_line(data) {
  const methods = data.entries.filter((entry) => entry.kind === "method").length;
  const aggregates = data.entries.length - methods;
  const counts = [
    Assay.plural(data.rows_total, "row"),
    Assay.plural(data.features.length, "feature"),
    Assay.plural(methods, "method"),
    Assay.plural(aggregates, "aggregate"),
    `${Assay.whole(data.criteria.length)} ${data.criteria.length === 1 ? "criterion" : "criteria"}`,
  ];
  return counts.join(" · ");
}

function driver_lines(data, count) {
  return data.drivers.slice(0, count).map((driver) => ({
                                            name: data.features[driver.feature],
                                            note: driver.direction,
                                            from: 0,
                                            to: driver.size,
                                            low: driver.low,
                                            high: driver.high,
                                            value: `${Assay.number(driver.size, 3)} (${Assay.chance(driver.share)})`,
                                            tone: "neutral",
                                          }));
}

function drivers_figure(data) {
  const name = data.entries[Assay.opened()].name;
  const lines = driver_lines(data, data.image ? drivers_beside_map : drivers_at_first);
  const label = `What drives ${data.explained.value}, by ${Assay.shortened(name, 40)}`;
  const chart = Assay.bar_chart(label, lines);
  [...chart.host.children].slice(drivers_on_phones).forEach((line) => line.classList.add("wide-only"));
  const unit = Assay.unit_of(Assay.opened()).trim();
  const reading =
      `How much each feature moves ${Assay.shortened(data.explained.value, 60)}, up or down: the mean size of its ` +
      `attribution${unit === "" ? "" : ` (${unit.replace(/[()]/g, "")})`}, with its 95 % interval and its share.`;
  const rest = data.features.length - lines.length;
  const more = (count, kind) => count <= 0 ? null :
      Assay.element("p", {class: `explain ${kind}`}, `${Assay.plural(count, "feature")} more: see Features below.`);
  const title = Assay.element("h2", {}, "What drives it, by ", Assay.breakable(Assay.shortened(name, 60)));
  const figure = Assay.figure(chart, "drivers", reading);
  if (data.image) figure.insertBefore(Assay.importance_map(data, pooled_sizes(data, Assay.opened()), name), chart.host);
  const shown_on_phones = Math.min(lines.length, drivers_on_phones);
  return Assay.element(
      "section", {class: "drivers", "aria-label": label}, title, figure, data.image ? null : more(rest, "wide-only"),
      data.image ? null : more(data.features.length - shown_on_phones, "phone-only"));
}

Assay.build_top = function(header, data) {
  header.append(
      Assay.element("p", {class: "brand"}, "Assay study"),
      Assay.element("h1", {}, data.headline),
      Assay.element("p", {class: "summary"}, summary_line(data)),
  );
  const answers = Assay.element("dl", {class: "answers"});
  for (const {label, text} of data.sentences) {
    answers.append(
        Assay.element("div", {}, Assay.element("dt", {}, label), Assay.element("dd", {}, Assay.with_signs(text))));
  }
  const first = Assay.element("div", {class: "first"}, answers);
  if (data.drivers && data.drivers.length > 0) first.append(drivers_figure(data));
  header.append(first);
  if (!Assay.has_plotly && !data.summary_only) {
    const how =
        "The plots are left out: this report was written by a build without plotly.js. To get them, install the Python " +
        "package plotly, configure and build Assay again, and write the report again. All numbers are in the tables.";
    header.append(Assay.element("p", {class: "notice", id: "no-plots"}, how));
  }
};

Assay.build_contents = function(nav, parts) {
  const links = parts.map((part) => Assay.element("li", {}, Assay.element("a", {href: `#${part.id}`}, part.short)));
  nav.append(Assay.element("ul", {}, ...links));
};

Assay.build_foot = function(footer, data) {
  footer.append(
      Assay.element(
          "p", {}, `Written by Assay ${data.version}. This page is one file and asks nothing of the network.`),
  );
};
