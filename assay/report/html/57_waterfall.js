// One explanation of one row: a waterfall from the reference's score to the row's, where the attributions add up to the
// difference; otherwise bars, which say that they do not.
const waterfall_features = 12;

function value_words(value, error) {
  const known = Assay.is_number(error) && error > 0;
  return `${Assay.signed(value)}${known ? ` ± ${Assay.number(error, 2)}` : ""}`;
}

// The features of a row by falling size of their attributions.
Assay.by_size = (values) => values.map((_, feature) => feature)
                                .filter((feature) => Assay.is_number(values[feature]))
                                .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b);

function reference_words(data, base) {
  const {reference_probability, background} = data.explained;
  return Assay.score_words(base, reference_probability, background ? " on average" : "");
}

// Lines from the base to the output. What is not shown by itself is one line, so that the last one ends at the output.
Assay.waterfall_lines = function(data, row, entry) {
  const values = row.values[entry];
  const errors = row.errors ? row.errors[entry] : null;
  const base = row.base[entry];
  const order = Assay.by_size(values);
  const shown = order.length > waterfall_features + 1 ? order.slice(0, waterfall_features) : order;
  const tone = (value) => (value < 0 ? "negative" : "positive");
  const lines = [{
    name: "the reference",
    from: base,
    to: base,
    value: reference_words(data, base),
    tone: "neutral",
    strong: true,
    mark: true
  }];
  let at = base;
  for (const feature of shown) {
    lines.push({
      name: data.features[feature],
      cell: row.cells ? row.cells[feature] : null,
      from: at,
      to: at + values[feature],
      value: value_words(values[feature], errors ? errors[feature] : null),
      tone: tone(values[feature]),
    });
    at += values[feature];
  }
  if (shown.length < order.length) {
    const rest = row.output - at;
    lines.push({
      name: `${Assay.whole(order.length - shown.length)} other features`,
      from: at,
      to: row.output,
      value: Assay.signed(rest),
      tone: tone(rest),
    });
  }
  const end = Assay.score_words(row.output, row.target_probability);
  lines.push(
      {name: "this row", from: row.output, to: row.output, value: end, tone: "neutral", strong: true, mark: true});
  return lines;
};

function plain_lines(data, row, entry) {
  const values = row.values[entry];
  const errors = row.errors ? row.errors[entry] : null;
  const signs = data.entries[entry].has_signs;
  return Assay.by_size(values)
      .slice(0, waterfall_features)
      .map((feature) => ({
             name: data.features[feature],
             cell: row.cells ? row.cells[feature] : null,
             from: 0,
             to: signs ? values[feature] : Math.abs(values[feature]),
             value: signs ? value_words(values[feature], errors ? errors[feature] : null) :
                            Assay.number(values[feature], 3),
             tone: !signs            ? "neutral" :
                 values[feature] < 0 ? "negative" :
                                       "positive",
           }));
}

function strongest_words(data, row, entry, raise) {
  const values = row.values[entry];
  const found =
      Assay.by_size(values).filter((feature) => (raise ? values[feature] > 0 : values[feature] < 0)).slice(0, 2);
  return found.map((feature) => `${Assay.shortened(data.features[feature], 40)} (${Assay.signed(values[feature])})`)
      .join(" and ");
}

// {reading, chart} of the row by the entry; chart is null if it has no attributions.
Assay.row_picture = function(data, row, entry) {
  const name = Assay.shortened(data.entries[entry].name, 60);
  const values = row.values[entry];
  if (!values) return {reading: `${name} has no attributions of this row.`, chart: null};
  const {complete, has_signs} = data.entries[entry];
  const label = `${Assay.row_name(row)} by ${name}`;
  const adds_up = complete && Assay.is_number(row.base[entry]) && Assay.is_number(row.output);
  if (!adds_up) {
    const why = !has_signs ?
        "These are ranks: longer is more important. They have no direction and do not add up, so there is no waterfall." :
        `These values do not add up to the prediction, so they are bars and no waterfall:${
            data.relative[entry] ? " they are relative, without unit." : " each says what its feature does alone."}`;
    return {
      reading: `${why} The ${waterfall_features} largest are shown.`,
      chart: Assay.bar_chart(label, plain_lines(data, row, entry))
    };
  }
  const [up, down] = [strongest_words(data, row, entry, true), strongest_words(data, row, entry, false)];
  const reading = `From the reference's ${reference_words(data, row.base[entry])} the features lead to this row's ${
                      Assay.score_words(row.output, row.target_probability)} for ${Assay.shortened(row.target, 40)}.` +
      (up === "" ? "" : ` Most of all ${up} raise it.`) + (down === "" ? "" : ` ${down} lower it most.`);
  return {reading, chart: Assay.bar_chart(label, Assay.waterfall_lines(data, row, entry), false)};
};
