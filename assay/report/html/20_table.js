// The criteria table: explanations as rows, criteria as columns; sorted by any column.
Assay.undefined_last = function(a, b, sign) {
  const a_known = a !== null && a !== undefined;
  const b_known = b !== null && b !== undefined;
  if (!a_known || !b_known) return Number(b_known) - Number(a_known);
  if (typeof a === "string") return sign * a.localeCompare(b, "en", {numeric: true});
  return sign * (a - b);
};

const standing_marks = {
  best: ["★", "best: significantly better than every other"],
  tied: ["~", "tied: the best, or not significantly worse than it"],
};

function score_range(data, criterion) {
  let low = Infinity;
  let high = -Infinity;
  for (const entry of data.entries) {
    const score = entry.scores[criterion];
    for (const value of [score.low, score.mean, score.high]) {
      if (!Assay.is_number(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return {low, span: high > low ? high - low : 1};
}

// A thin line with the interval and the mean, on the column's common scale.
function interval_track(score, range) {
  const place = (value) => (100 * (value - range.low)) / range.span;
  const track = Assay.element("span", {class: "track", "aria-hidden": "true"});
  if (Assay.is_number(score.low) && Assay.is_number(score.high)) {
    const left = place(score.low);
    const width = Math.max(0.5, place(score.high) - left);
    track.append(Assay.element("span", {class: "span", style: `left:${left}%;width:${width}%`}));
  }
  track.append(Assay.element("span", {class: "dot", style: `left:${place(score.mean)}%`}));
  return track;
}

function score_cell(score, range) {
  const cell = Assay.element("td", {class: `score ${score.standing}`});
  if (!Assay.is_number(score.mean)) {
    cell.append(Assay.element("span", {class: "value"}, "–"));
    if (score.reason) cell.append(Assay.element("small", {}, score.reason));
    return cell;
  }
  const mark = standing_marks[score.standing];
  const value = Assay.element("span", {class: "value"});
  if (mark) {
    const words = {class: "mark", title: mark[1], role: "img", "aria-label": mark[1]};
    value.append(Assay.element("span", words, mark[0]), " ");
  }
  value.append(Assay.with_error(score.mean, score.stderr));
  cell.append(value, interval_track(score, range));
  const notes = [];
  if (Assay.is_number(score.low) && Assay.is_number(score.high)) {
    const decimals = Assay.decimals(score.stderr);
    notes.push(`${Assay.fixed(score.low, decimals)} to ${Assay.fixed(score.high, decimals)}`);
  }
  if (Assay.is_number(score.coverage) && score.coverage < 1) notes.push(`on ${Assay.percent(score.coverage)} of rows`);
  for (const note of notes) cell.append(Assay.element("small", {}, note));
  const hints = [];
  if (Assay.is_number(score.behind_low) && Assay.is_number(score.behind_high)) {
    const [low, high] = [score.behind_low, score.behind_high].map((value) => Assay.number(value, 2));
    hints.push(`behind the best by ${low} to ${high} (95 %, for all pairs at once)`);
  }
  if (score.reason) hints.push(score.reason);
  if (hints.length > 0) cell.setAttribute("title", hints.join("; "));
  return cell;
}

function name_cell(entry) {
  const label = entry.title ? `${entry.name}: ${entry.title}` : entry.name;
  const cell = Assay.element("th", {scope: "row", class: `entry ${entry.kind}`, title: label});
  cell.append(Assay.breakable(entry.name), " ", Assay.element("span", {class: `tag ${entry.kind}`}, entry.kind));
  const note = Assay.entry_note(Assay.data.entries.indexOf(entry));
  if (note !== "") cell.append(Assay.element("small", {class: "note"}, note));
  if (entry.dominated) {
    const by = entry.dominated_by ? `dominated by ${entry.dominated_by}` : "dominated";
    cell.append(Assay.element("small", {}, by));
  }
  return cell;
}

function columns_of(data, chosen, with_cost) {
  const columns = [{label: "explanation", hint: "", first: 1, key: (entry) => entry.name, cell: name_cell}];
  for (const index of chosen) {
    const criterion = data.criteria[index];
    const range = score_range(data, index);
    columns.push({
      label: Assay.criterion_name(criterion),
      hint: Assay.direction_words[criterion.direction],
      about: [criterion.title, criterion.family, criterion.range ? `range ${criterion.range}` : "", criterion.spec],
      first: criterion.direction === "higher" ? -1 : 1,
      key: (entry) => entry.scores[index].mean,
      cell: (entry) => score_cell(entry.scores[index], range),
    });
  }
  if (!with_cost) return columns;
  const number_cell = (text) => Assay.element("td", {class: "cost"}, text);
  columns.push(
      {
        label: "evaluations",
        hint: "of the model",
        first: 1,
        key: (entry) => entry.evaluations,
        cell: (entry) => number_cell(Assay.whole(entry.evaluations)),
      },
      {
        label: "time",
        hint: "to explain",
        first: 1,
        key: (entry) => entry.seconds,
        cell: (entry) => number_cell(Assay.seconds(entry.seconds)),
      },
  );
  return columns;
}

function line_class(entry, index) {
  const classes = [entry.kind];
  if (entry.dominated) classes.push("dominated");
  if (Assay.is_unfaithful(index)) classes.push("unfaithful");
  if (index === Assay.opened()) classes.push("opened");
  return classes.join(" ");
}

// A table whose column heads are buttons: the first press puts the best first, the next turns the order round.
Assay.criteria_table = function(data, chosen, caption, with_cost) {
  const columns = columns_of(data, chosen, with_cost);
  const body = Assay.element("tbody");
  const lines = data.entries.map((entry, index) => {
    const line = Assay.element("tr", {class: line_class(entry, index), "data-entry": index});
    // On a phone each cell stands below its label.
    line.append(...columns.map((column) => {
      const cell = column.cell(entry);
      cell.setAttribute("data-label", column.label);
      return cell;
    }));
    return line;
  });
  body.append(...Assay.reading_order().map((index) => lines[index]));
  const heads = columns.map((column, place) => {
    const about = (column.about || []).filter(Boolean).join("; ");
    const button = Assay.element(
        "button",
        {type: "button", class: "sort", title: about || null, click: () => sort_by(place)},
        Assay.breakable(column.label),
    );
    const hint = column.hint ? Assay.element("small", {}, column.hint) : null;
    return Assay.element("th", {scope: "col", "aria-sort": "none"}, button, hint);
  });
  let sorted = -1;
  let sign = 1;
  function sort_by(place) {
    const column = columns[place];
    sign = sorted === place ? -sign : column.first;
    sorted = place;
    const order = data.entries.map((_, index) => index);
    const key = (index) => column.key(data.entries[index]);
    order.sort((a, b) => Assay.undefined_last(key(a), key(b), sign) || a - b);
    body.append(...order.map((index) => lines[index]));
    heads.forEach((head, index) => {
      head.setAttribute("aria-sort", index === place ? (sign > 0 ? "ascending" : "descending") : "none");
    });
  }
  return Assay.scroll_box(
      caption,
      Assay.element(
          "table",
          {class: "criteria"},
          Assay.element("caption", {class: "hidden"}, caption),
          Assay.element("thead", {}, Assay.element("tr", {}, ...heads)),
          body,
          ),
  );
};

Assay.parts.push({
  id: "criteria",
  title: "Explanations by criterion",
  short: "Criteria",
  shown: () => true,
  build(section, data) {
    const indices = data.criteria.map((_, index) => index);
    const main = indices.filter((index) => data.criteria[index].main);
    const others = indices.filter((index) => !data.criteria[index].main);
    section.append(
        Assay.paragraph(
            `Mean ± standard error over ${Assay.plural(data.rows_total, "row")}, with the 95 % interval below. ` +
                "Press a column's head to sort by it: best first, then turned round. Grey lines are not faithful: their " +
                `faithfulness is more than ${
                    Assay.number(data.margin)} behind the standard, so they should not be used.`,
            ),
        Assay.criteria_table(data, main, "Explanations by criterion", true),
    );
    const legend = Assay.element("ul", {class: "legend"});
    for (const [mark, words] of Object.values(standing_marks)) {
      legend.append(Assay.element("li", {}, Assay.element("span", {class: "mark"}, mark), ` ${words}`));
    }
    const dominated =
        "dominated: by their means, another one is at least as good in faithfulness, average sensitivity " +
        "and complexity (as far as they are studied), and better in one of them";
    legend.append(Assay.element("li", {}, dominated));
    section.append(legend);
    if (others.length > 0) {
      const title = `${Assay.whole(others.length)} other ${others.length === 1 ? "criterion" : "criteria"}`;
      section.append(Assay.fold(title, (box) => box.append(Assay.criteria_table(data, others, title, false))));
    }
    if (data.notes.length > 0) section.append(Assay.text_list(data.notes, "notes"));
  },
});
