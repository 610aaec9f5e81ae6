// The head of the report: what it is about, the verdict and what the numbers do not support.
Assay.text_list = function(items, kind) {
  return Assay.element("ul", {class: kind}, ...items.map((text) => Assay.element("li", {}, text)));
};

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

Assay.build_top = function(header, data) {
  header.append(
      Assay.element("p", {class: "brand"}, "Assay study"),
      Assay.element("h1", {}, data.title),
      Assay.element("p", {class: "summary"}, summary_line(data)),
  );
  const cards = Assay.element("div", {class: "cards"});
  if (data.verdict.length > 0) {
    const heading = Assay.element("h2", {}, "Verdict");
    cards.append(Assay.element("section", {class: "card verdict"}, heading, Assay.text_list(data.verdict, "plain")));
  }
  if (data.warnings.length > 0) {
    const heading = Assay.element("h2", {}, data.warnings.length === 1 ? "Warning" : "Warnings");
    cards.append(Assay.element("section", {class: "card warning"}, heading, Assay.text_list(data.warnings, "plain")));
  }
  header.append(cards);
  if (!Assay.has_plotly) {
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
