"use strict";
// Assay's report. Every file adds to the one namespace object; they are joined in the order of their names.
// Names, cells and ids come from files and are hostile: they reach the page as text nodes only (Assay.element), and
// Plotly, which reads a subset of HTML, through Assay.escaped.
const Assay = {
  data: null,
  parts: [],  // {id, title, short, shown(data), build(section, data)}, in the order of the page
  folds: [],  // fold-outs whose content is made when first opened
};

Assay.element = function(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      node.addEventListener(name, value);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

// The data with every text such that all of it can be seen: a name with U+202E in it would turn around what stands
// behind it. Characters that turn the direction of writing, and C1 controls, become \u{202e}.
Assay.seen = function(value) {
  if (typeof value === "string") {
    return value.replace(
        /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
        (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
  }
  if (value !== null && typeof value === "object") {
    for (const key of Object.keys(value)) {
      if (typeof value[key] !== "number") value[key] = Assay.seen(value[key]);
    }
  }
  return value;
};

// Lets long_names_like_this wrap after an underscore.
Assay.breakable = function(text) {
  const span = Assay.element("span", {class: "name"});
  const pieces = String(text).split(/(?<=_)/);
  pieces.forEach((piece, index) => {
    if (index > 0) span.append(document.createElement("wbr"));
    span.append(piece);
  });
  return span;
};

Assay.shortened = function(text, length) {
  const characters = Array.from(String(text));
  return characters.length <= length ? characters.join("") : `${characters.slice(0, length - 1).join("")}…`;
};

Assay.escaped = function(text, length = 60) {
  return Assay.shortened(String(text).replace(/\s+/g, " "), length)
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;");
};

Assay.is_number = (value) => typeof value === "number" && Number.isFinite(value);

const with_minus = (text) => text.replace(/-/g, "\u2212");

// Up to `digits` significant digits; a dash where undefined.
Assay.number = function(value, digits = 4) {
  if (!Assay.is_number(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    return with_minus(value.toExponential(Math.min(digits - 1, 2)).replace("e+", "e"));
  }
  return with_minus(String(Number(value.toPrecision(digits))));
};

Assay.whole = (value) => (Assay.is_number(value) ? value.toLocaleString("en", {maximumFractionDigits: 0}) : "–");

// Decimals that show two significant digits of the standard error.
Assay.decimals = function(error) {
  if (!Assay.is_number(error) || error <= 0) return 4;
  return Math.max(0, Math.min(8, 1 - Math.floor(Math.log10(error))));
};

Assay.fixed = function(value, decimals) {
  if (!Assay.is_number(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-6)) return Assay.number(value);
  return with_minus(value.toFixed(decimals));
};

Assay.with_error = function(mean, error) {
  if (!Assay.is_number(mean)) return "–";
  // What is below the digits that anybody reads is rounding.
  if (!Assay.is_number(error) || error <= 1e-9 * Math.abs(mean)) return Assay.number(mean);
  const decimals = Assay.decimals(error);
  return `${Assay.fixed(mean, decimals)} ± ${Assay.fixed(error, decimals)}`;
};

Assay.percent = function(fraction) {
  if (!Assay.is_number(fraction)) return "–";
  // 99.96 % is not all rows: never rounded up to it.
  const shown = fraction < 1 ? Math.min(Number((100 * fraction).toPrecision(3)), 99.9) : 100;
  return `${shown} %`;
};

// A probability as people say it: whole percents, never 0 or 100 unless it is.
Assay.chance = function(probability) {
  if (!Assay.is_number(probability)) return "";
  if (probability > 0 && probability < 0.01) return "below 1 %";
  if (probability < 1 && probability > 0.99) return "above 99 %";
  return `${Math.round(100 * probability)}\u00a0%`;
};

Assay.signed = (value, digits = 3) => (value > 0 ? `+${Assay.number(value, digits)}` : Assay.number(value, digits));

// The unit of attributions and outputs behind a number: " margin"; nothing for the value of a regression.
Assay.unit = function() {
  const unit = Assay.data.explained.unit;
  return !unit || unit === "value" ? "" : ` ${unit.replace("log_odds", "log-odds")}`;
};
// The unit of one entry's attributions: relative ones and ranks have none.
Assay.unit_of = (index) => !Assay.data.entries[index].has_signs ? " rank" :
    Assay.data.relative[index]                                  ? " (relative)" :
                                                                  Assay.unit();

// A score of the model with its unit, and the probability where it is known: "0.84 margin (69 %)".
Assay.score_words = function(value, probability, about = "") {
  const chance = Assay.data.explained.unit === "probability" ? "" : Assay.chance(probability);
  return `${Assay.number(value, 3)}${Assay.unit()}${chance === "" ? "" : ` (${chance}${about})`}`;
};

Assay.seconds = function(value) {
  if (!Assay.is_number(value)) return "–";
  if (value < 1) return `${Assay.number(value, 2)} s`;
  if (value < 100) return `${Assay.number(value, 3)} s`;
  return `${Math.round(value / 60)} min`;
};

Assay.plural = (count, word) => `${Assay.whole(count)} ${word}${count === 1 ? "" : "s"}`;

Assay.criterion_name = function(criterion) {
  const same = Assay.data.criteria.filter((other) => other.name === criterion.name);
  return same.length > 1 ? criterion.spec : criterion.name;
};

Assay.direction_words = {
  higher: "higher is better",
  lower: "lower is better",
  neither: "neither is better"
};

Assay.option = (value, text, selected) => Assay.element("option", {value, selected: Boolean(selected)}, text);

// A labelled select; `choices` are texts, the values their indices.
Assay.chooser = function(label, choices, chosen, changed) {
  const select = Assay.element("select", {change: () => changed(Number(select.value))});
  choices.forEach((text, index) => select.append(Assay.option(index, text, index === chosen)));
  return Assay.element("label", {class: "control"}, Assay.element("span", {}, label), select);
};

// What the study's advice says of an entry, in words; empty if there is nothing to say.
Assay.entry_note = function(index) {
  const entry = Assay.data.entries[index];
  const notes = [];
  if (index === Assay.data.recommended) notes.push("recommended");
  if (entry.faithful === "no") notes.push("not faithful");
  if (entry.faithful === "undecided") notes.push("undecided");
  if (!entry.has_signs) notes.push("ranks");
  if (Assay.is_number(entry.alias_of)) notes.push(`same as ${Assay.data.entries[entry.alias_of].name}`);
  return notes.join(", ");
};

Assay.is_unfaithful = (index) => Assay.data.entries[index].faithful === "no";

// The entry that everything opens on.
Assay.opened = () => Assay.data.opened ?? Assay.data.recommended ?? 0;

// All entries in the order in which they are read: the opened one first, those that are not faithful last.
Assay.reading_order = function() {
  const grade = (index) => (index === Assay.opened() ? 0 : Assay.is_unfaithful(index) ? 2 : 1);
  return Assay.data.entries.map((_, index) => index).sort((a, b) => grade(a) - grade(b) || a - b);
};

// The explanations as a select with methods and aggregates in groups.
Assay.entry_chooser = function(label, chosen, changed) {
  const select = Assay.element("select", {change: () => changed(Number(select.value))});
  for (const [kind, title] of [["method", "Methods"], ["aggregate", "Aggregates"]]) {
    const group = Assay.element("optgroup", {label: title});
    Assay.data.entries.forEach((entry, index) => {
      if (entry.kind !== kind) return;
      const note = Assay.entry_note(index);
      group.append(Assay.option(index, note === "" ? entry.name : `${entry.name} (${note})`, index === chosen));
    });
    if (group.children.length > 0) select.append(group);
  }
  return Assay.element("label", {class: "control"}, Assay.element("span", {}, label), select);
};

// A box of its own for what may be wider than the page; reachable by keyboard.
Assay.scroll_box = (label, ...children) =>
    Assay.element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, ...children);

// A fold-out; build(box) is called when it is first opened (or printed).
Assay.fold = function(title, build, open = false) {
  const box = Assay.element("div", {class: "fold-body"});
  const details = Assay.element("details", {class: "fold"}, Assay.element("summary", {}, title), box);
  const fold = {details, made: false};
  fold.make = () => {
    if (fold.made) return;
    fold.made = true;
    build(box);
  };
  details.addEventListener("toggle", () => details.open && fold.make());
  Assay.folds.push(fold);
  details.remake = () => {
    fold.made = false;
    box.replaceChildren();
    if (details.open) fold.make();
  };
  if (open) {
    details.open = true;
    fold.make();
  }
  return details;
};

Assay.paragraph = (text, kind = "explain") => Assay.element("p", {class: kind}, text);
