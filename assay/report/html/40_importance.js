// Which features an explanation makes much of over all rows. One target at a time: attributions to different outputs
// answer different questions and are never pooled.
const importance_top = 20;

Assay.top_indices = function(values, count) {
  const order = values.map((_, index) => index).filter((index) => Assay.is_number(values[index]));
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, count);
};

function importance_lines(data, chosen, features) {
  const block = data.importance[chosen.block];
  const part = (name, feature) => (block[name] ? block[name][chosen.entry][feature] : null);
  return features.map((feature) => ({
                        name: data.features[feature],
                        from: 0,
                        to: part("mean_abs", feature),
                        low: part("low", feature),
                        high: part("high", feature),
                        value: Assay.number(part("mean_abs", feature), 3),
                        tone: Assay.is_unfaithful(chosen.entry) ? "muted" : "neutral",
                      }));
}

// What must be known of the chosen explanation before its sizes are read.
Assay.entry_caution = function(data, index) {
  const parts = [];
  const entry = data.entries[index];
  if (entry.faithful === "no") parts.push("It is not faithful: do not use it.");
  if (entry.faithful === "undecided") parts.push("Whether it is faithful is undecided.");
  if (!entry.has_signs) {
    parts.push("These are ranks, without direction.");
  } else if (data.relative[index]) {
    parts.push("This one is relative: its sizes do not compare with those of other explanations.");
  }
  return parts.join(" ");
};

Assay.parts.push({
  id: "importance",
  title: "Features over all rows",
  short: "Features",
  shown: (data) => data.importance.length > 0 && data.entries.length > 0,
  build(section, data) {
    const rows_of = data.importance.map((block) => block.rows);
    const chosen = {entry: Assay.opened(), block: rows_of.indexOf(Math.max(...rows_of)), feature: null};
    const values = () => data.importance[chosen.block].mean_abs[chosen.entry] || [];
    const top = () => Assay.top_indices(values(), importance_top);
    const bars = Assay.element("div", {class: "half"});
    const words = Assay.element("p", {class: "result", "aria-live": "polite"});
    const swarm = Assay.swarm(data, chosen, top);
    const dependence = Assay.dependence(data, chosen);
    const update = () => {
      const block = data.importance[chosen.block];
      const name = data.entries[chosen.entry].name;
      const lines = importance_lines(data, chosen, top());
      const left = data.features.length - lines.length;
      const chart = Assay.bar_chart(`Mean size of attributions of ${name} for ${block.target}`, lines);
      const unit = Assay.unit_of(chosen.entry).trim();
      bars.replaceChildren();
      if (data.image) bars.append(Assay.importance_map(data, values(), name));
      bars.append(Assay.figure(
          chart, `importance-${name}`,
          `The longer a bar, the more the feature moves the explained value on average: mean |attribution|${
              unit === "" ? "" : `, ${unit}`}, over ${Assay.plural(block.rows, "row")}${
              block.low ? ", with its 95 % interval" : ""}${
              left > 0 ? `; the ${lines.length} largest of ${Assay.whole(data.features.length)} features` : ""}.`));
      const caution = Assay.entry_caution(data, chosen.entry);
      words.textContent = `By ${Assay.shortened(name, 60)}, for the target ${Assay.shortened(block.target, 60)}.${
          caution === "" ? "" : ` ${caution}`}`;
      swarm.update();
      dependence.update(top());
    };
    const targets = data.importance.map((block) => `${block.target} (${Assay.plural(block.rows, "row")})`);
    const choose = (key) => (value) => {
      chosen[key] = value;
      update();
    };
    section.append(
        Assay.element(
            "div",
            {class: "controls"},
            Assay.entry_chooser("Explanation", chosen.entry, choose("entry")),
            Assay.chooser("Target", targets, chosen.block, choose("block")),
            ),
        words,
        Assay.element("div", {class: "halves"}, bars, Assay.element("div", {class: "half"}, swarm.box)),
        dependence.box,
    );
    update();
  },
});
