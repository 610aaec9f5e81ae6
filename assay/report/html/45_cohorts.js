// Groups of rows: how good the model is on each, what drives it there, and how far the explanation can be trusted there.
const cohort_measures = {
  faithfulness: "faithfulness",
  stability: "stability",
  accuracy: "accuracy",
  squared_error: "mean squared error",
};

// A level is from the file; the words around it are ours. Marks say which is which.
Assay.cohort_title = (column) => (column.cut === "prediction" ? "prediction right or wrong" : column.name);

function cohort_criterion(data, index) {
  return index === null || index === undefined ? null : data.criteria[index];
}

// "faithfulness is 0.05 lower (p < 0.001)"
function cohort_difference(data, difference) {
  const way = difference.difference < 0 ? "lower" : "higher";
  const size = Assay.number(Math.abs(difference.difference), 2);
  const chance = difference.p < 0.001 ? "p < 0.001" : `p = ${Assay.number(difference.p, 2)}`;
  if (difference.measure === "driver") {
    const points = Assay.number(100 * Math.abs(difference.difference), 2);
    return `the share of ${data.features[difference.feature]} is ${points} points ${way} (${chance})`;
  }
  const stability = cohort_criterion(data, data.cohorts.stability);
  const known = difference.measure === "stability" && stability;
  const name = known ? Assay.criterion_name(stability) : cohort_measures[difference.measure];
  return `${name} is ${size} ${way} (${chance})`;
}

function cohort_mark(group, measure) {
  if (!group.differences.some((one) => one.measure === measure)) return null;
  const words = "differs significantly from the other rows";
  return Assay.element("span", {class: "mark differs", title: words, role: "img", "aria-label": words}, " ≠");
}

function cohort_interval([low, high], text) {
  if (!Assay.is_number(low) || !Assay.is_number(high)) return null;
  return Assay.element("small", {}, `95 %: ${text(low)} to ${text(high)}`);
}

// The columns of the table that some group of the chosen column, or of another one, has a value for.
function cohort_columns(data) {
  const groups = data.cohorts.columns.flatMap((column) => column.groups);
  const any = (key) => groups.some((group) => Assay.is_number(group[key]));
  const scored = (key) => groups.some((group) => Assay.is_number(group[key][0]));
  const share = (value) => Assay.percent(value);
  const plain = (value) => Assay.number(value, 3);
  const columns = [{label: "rows", hint: "", cell: (group) => [Assay.whole(group.rows)]}];
  const quality = (key, label, hint, measure, text) => {
    if (!any(key)) return;
    columns.push({
      label,
      hint,
      cell: (group) => Assay.is_number(group[key]) ?
          [text(group[key]), cohort_mark(group, measure), cohort_interval(group[`${key}_interval`], text)] :
          ["–"],
    });
  };
  quality("accuracy", "accuracy", "share predicted right", "accuracy", share);
  quality("auc", "AUC", "0.5: no better than chance", null, plain);
  quality("rmse", "RMSE", "typical error", "squared_error", plain);
  if (any("output")) {
    columns.push({
      label: "mean output",
      hint: `${data.cohorts.unit} of ${Assay.shortened(data.cohorts.target, 24)}`,
      cell: (group) => [
        plain(group.output),
        Assay.is_number(group.probability) && data.cohorts.unit !== "probability" ?
            Assay.element("small", {}, `probability ${plain(group.probability)}`) :
            null,
      ],
    });
  }
  for (const key of ["faithfulness", "stability"]) {
    const criterion = cohort_criterion(data, data.cohorts[key]);
    if (criterion === null || !scored(key)) continue;
    columns.push({
      label: Assay.criterion_name(criterion),
      hint: Assay.direction_words[criterion.direction],
      cell: (group) => [Assay.with_error(...group[key]), cohort_mark(group, key)],
    });
  }
  columns.push({
    label: "main drivers",
    hint: "share of all attributions",
    wide: true,
    cell: (group) => [
      ...group.drivers.map(({feature, share}) => Assay.element(
          "span", {class: "driver"}, Assay.breakable(Assay.shortened(data.features[feature], 40)), ` ${Assay.percent(share).replace(" ", "\u00a0")}`)),
      group.drivers.length === 0 ? "–" : null,
      cohort_mark(group, "driver"),
    ],
  });
  return columns;
}

function cohort_remark(data, group) {
  if (group.differences.length > 0) {
    return group.differences.map((one) => cohort_difference(data, one)).join("; ");
  }
  return group.not_tested ? `not tested: ${group.not_tested}` : "no significant difference";
}

function cohort_table(data, column) {
  const columns = cohort_columns(data);
  const head = Assay.element("tr", {}, Assay.element("th", {scope: "col"}, "group"));
  for (const {label, hint} of columns) {
    head.append(Assay.element(
        "th", {scope: "col"}, Assay.breakable(label), hint ? Assay.element("small", {}, hint) : null));
  }
  head.append(Assay.element("th", {scope: "col"}, "against the other rows"));
  const body = Assay.element("tbody");
  for (const group of column.groups) {
    const name = Assay.element("th", {scope: "row", title: group.name}, Assay.breakable(Assay.shortened(group.name, 60)));
    const line = Assay.element("tr", {class: group.differences.length > 0 ? "different" : null}, name);
    for (const one of columns) {
      line.append(Assay.element(
          "td", {"data-label": one.label, class: one.wide ? "wide" : null},
          Assay.element("span", {class: "value"}, ...one.cell(group).filter((part) => part !== null))));
    }
    line.append(Assay.element(
        "td", {"data-label": "against the other rows", class: "wide remark"},
        Assay.element("span", {class: "value"}, cohort_remark(data, group))));
    body.append(line);
  }
  const caption = `Groups by ${Assay.cohort_title(column)}`;
  return Assay.scroll_box(
      caption,
      Assay.element(
          "table", {class: "cohorts"}, Assay.element("caption", {class: "hidden"}, caption),
          Assay.element("thead", {}, head), body));
}

Assay.parts.push({
  id: "cohorts",
  title: "Groups of rows",
  short: "Groups",
  shown: (data) => Boolean(data.cohorts) && data.cohorts.columns.length > 0,
  build(section, data) {
    const {columns, tests, least_rows} = data.cohorts;
    const by = data.cohorts.explanation === null ? null : data.entries[data.cohorts.explanation].name;
    const explained = by === null ? "" : ` Drivers and scores are those of ${by}.`;
    section.append(Assay.paragraph(
        "Each line is a group of the studied rows, and ≠ marks what differs significantly from all other rows, so that " +
        `an average does not hide a group on which the model or its explanation is worse.${explained}`));
    // On paper, where nothing can be chosen, all of them are there.
    const tables = columns.map((column) => Assay.element(
        "div", {class: "cohort-column"}, Assay.element("h3", {}, `By ${Assay.cohort_title(column)}`),
        cohort_table(data, column)));
    const show = (chosen) => tables.forEach((table, index) => {
      table.hidden = index !== chosen;
    });
    const names = columns.map((column) => {
      const marked = column.groups.some((group) => group.differences.length > 0);
      return `${Assay.shortened(Assay.cohort_title(column), 60)}${marked ? " (groups differ)" : ""}`;
    });
    section.append(
        Assay.element("div", {class: "controls"}, Assay.chooser("Groups by", names, 0, show)), ...tables,
        Assay.paragraph(
            `${Assay.plural(tests, "test")} over all groups of all columns, corrected together (Holm): the chance of even ` +
            `one false mark is at most 5 %. Groups of fewer than ${Assay.whole(least_rows)} rows, or with fewer other ` +
            "rows, are not tested."));
    show(0);
  },
});
