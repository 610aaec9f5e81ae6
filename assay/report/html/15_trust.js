// How far to trust it: the verdict, the warnings, and the scores of the opened explanation on scales that answer "is
// that good?".
const warnings_at_first = 3;

function warnings_card(data) {
  const lines = data.warnings.map(Assay.with_signs);
  const heading = Assay.element("h3", {}, lines.length === 1 ? "Warning" : "Warnings");
  const card = Assay.element("section", {class: "card warning"}, heading);
  card.append(Assay.text_list(lines.slice(0, warnings_at_first), "plain"));
  const more = lines.slice(warnings_at_first);
  if (more.length > 0) {
    const title = `${Assay.whole(more.length)} more ${more.length === 1 ? "warning" : "warnings"}`;
    const fold = Assay.fold(title, (box) => box.append(Assay.text_list(more, "plain")));
    fold.classList.add("more-warnings");
    card.append(fold);
  }
  return card;
}

// The scores that a scale is drawn from: those of the entries that speak for themselves.
function scored_entries(data, index) {
  return data.entries.map((entry, place) => ({place, score: entry.scores[index]}))
      .filter(({score}) => Assay.is_number(score.mean));
}

function scale_points(data, index) {
  const criterion = data.criteria[index];
  const better = criterion.direction === "lower" ? -1 : 1;
  const known = scored_entries(data, index);
  const by_quality = [...known].sort((a, b) => better * (b.score.mean - a.score.mean) || a.place - b.place);
  const own = known.find(({place}) => place === Assay.opened());
  const named = (one) => data.entries[one.place].name;
  const points = [];
  const add = (kind, what, value) => Assay.is_number(value) && points.push({kind, what, value});
  if (own) add("own", named(own), own.score.mean);
  add("best", `best here, ${named(by_quality[0])}`, by_quality[0].score.mean);
  const last = by_quality[by_quality.length - 1];
  add("worst", `worst here, ${named(last)}`, last.score.mean);
  add("random", "a random explanation", criterion.random);
  add("perfect", "the best there can be", criterion.perfect);
  return points;
}

// "98 % of the way from a random explanation to the best there can be", and what a number of complexity is like.
function scale_answer(data, index, value) {
  const criterion = data.criteria[index];
  const parts = [];
  if (Assay.is_number(criterion.random) && Assay.is_number(criterion.perfect)) {
    const share = (value - criterion.random) / (criterion.perfect - criterion.random);
    parts.push(
        share <= 0 ?
            "no better than a random explanation" :
            `${Assay.chance(Math.min(1, share))} of the way from a random explanation to the best there can be`);
  }
  if (criterion.alike) {
    const alike = Math.max(1, Math.round(Math.exp(value)));
    parts.push(`as if ${Assay.plural(alike, "feature")} of ${Assay.whole(data.features.length)} weighed the same`);
  }
  return parts.join("; ");
}

function scale_line(points) {
  const values = points.map((point) => point.value);
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const line = Assay.element("div", {class: "scale-line", "aria-hidden": "true"});
  // The own one last, on top of the others.
  for (const point of [...points].reverse()) {
    const left = (100 * (point.value - low)) / span;
    line.append(Assay.element("span", {class: `scale-mark ${point.kind}`, style: `left:${left}%`}));
  }
  return line;
}

function scale_block(data, index) {
  const criterion = data.criteria[index];
  const points = scale_points(data, index);
  const own = points.find((point) => point.kind === "own");
  const block = Assay.element("section", {class: "scale", "data-criterion": criterion.name});
  const heading = Assay.element("h4", {}, `${criterion.words[0].toUpperCase()}${criterion.words.slice(1)}`);
  if (own) {
    const score = data.entries[Assay.opened()].scores[index];
    heading.append(" ", Assay.element("strong", {}, Assay.with_error(score.mean, score.stderr)));
  }
  heading.append(Assay.element("small", {}, Assay.direction_words[criterion.direction]));
  block.append(heading, Assay.paragraph(criterion.meaning || criterion.title));
  if (own) {
    const answer = scale_answer(data, index, own.value);
    if (answer !== "") {
      block.append(Assay.element("p", {class: "answer"}, `Is ${Assay.number(own.value, 3)} good? It is ${answer}.`));
    }
  }
  const legend = Assay.element("ul", {class: "scale-legend"});
  for (const point of points) {
    legend.append(Assay.element(
        "li", {}, Assay.element("span", {class: `scale-mark ${point.kind}`, "aria-hidden": "true"}),
        Assay.element("span", {}, `${Assay.shortened(point.what, 60)}: ${Assay.number(point.value, 3)}`)));
  }
  block.append(scale_line(points), legend);
  return block;
}

Assay.parts.push({
  id: "trust",
  title: "How far to trust it",
  short: "Trust",
  shown: () => true,
  build(section, data) {
    const cards = Assay.element("div", {class: "cards"});
    if (data.verdict.length > 0) {
      const heading = Assay.element("h3", {}, "Verdict");
      const list = Assay.text_list(data.verdict.map(Assay.with_signs), "plain");
      cards.append(Assay.element("section", {class: "card verdict"}, heading, list));
    }
    if (data.warnings.length > 0) cards.append(warnings_card(data));
    section.append(cards);
    const scaled = data.criteria.map((_, index) => index).filter((index) => {
      const criterion = data.criteria[index];
      return criterion.main && criterion.direction !== "neither" && scored_entries(data, index).length > 0;
    });
    if (scaled.length > 0 && data.entries.length > 0) {
      const name = Assay.shortened(data.entries[Assay.opened()].name, 60);
      section.append(
          Assay.element("h3", {}, `The scores of ${name}, and what they are held against`),
          Assay.element("div", {class: "scales"}, ...scaled.map((index) => scale_block(data, index))),
      );
    }
    if (data.quality)
      section.append(Assay.paragraph(`The model: ${Assay.with_signs(data.quality)}.`, "explain quality"));
  },
});
