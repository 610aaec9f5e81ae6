// The head of the report: what it is about, the verdict and what the numbers do not support.
Assay.text_list = function(items, kind) {
  return Assay.element("ul", {class: kind}, ...items.map((text) => Assay.element("li", {}, text)));
};

// The files are plain ASCII; a page has the sign, and keeps it on one line with its numbers.
function with_signs(lines) {
  return lines.map((line) => line.replace(/(\d) \+- (?=\d)/g, "$1\u00a0±\u00a0"));
}

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
    const list = Assay.text_list(with_signs(data.verdict), "plain");
    cards.append(Assay.element("section", {class: "card verdict"}, heading, list));
  }
  if (data.warnings.length > 0) {
    const heading = Assay.element("h2", {}, data.warnings.length === 1 ? "Warning" : "Warnings");
    const list = Assay.text_list(with_signs(data.warnings), "plain");
    cards.append(Assay.element("section", {class: "card warning"}, heading, list));
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
