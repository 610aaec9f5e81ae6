#include "assay/archive/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/explain/reference.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// In the order of the first list, then what only the second has. The values of a name that is repeated are joined.
std::vector<InputChange> pair_changes(const Pairs& before, const Pairs& after) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<std::string, std::string>> found;
  const auto collect = [&](const Pairs& pairs, bool second) {
    for (const auto& [name, value] : pairs) {
      const auto [place, is_new] = found.try_emplace(name);
      if (is_new) names.push_back(name);
      std::string& own = second ? place->second.second : place->second.first;
      own += fmt::format("{}{}", own.empty() ? "" : ", ", value);
    }
  };
  collect(before, false);
  collect(after, true);
  std::vector<InputChange> changes;
  for (const std::string& name : names) {
    const auto& [first, second] = found[name];
    if (first != second) changes.push_back({name, first, second});
  }
  return changes;
}

Pairs input_pairs(const StudySummary& study) {
  Pairs pairs;
  for (const StudyInput& input : study.inputs) {
    pairs.emplace_back(input.role, input.name);
    if (!input.sha256.empty()) pairs.emplace_back(fmt::format("{} sha256", input.role), input.sha256);
  }
  return pairs;
}

std::vector<InputChange> input_changes(const StudyFolder& before, const StudyFolder& after) {
  Pairs first = before.facts;
  Pairs second = after.facts;
  // Prefixed, because facts may have the same names.
  for (auto [study, pairs] : {std::pair(&before, &first), std::pair(&after, &second)}) {
    for (auto& [name, value] : input_pairs(study->summary)) pairs->emplace_back(fmt::format("input {}", name), value);
    for (const auto& [name, value] : study->settings) pairs->emplace_back(fmt::format("setting {}", name), value);
  }
  return pair_changes(first, second);
}

// A text that identifies the rows and the data. Has the hash in place of the name, because a file may have moved.
std::string chosen_rows(const StudyFolder& study) {
  std::string words = study.data;
  std::string hashes;
  for (const StudyInput& input : study.summary.inputs) {
    // For a built-in data set, "data (rows)" has the hash of the rows themselves.
    if (input.role != "data" && input.role != "data (rows)") continue;
    hashes += fmt::format(" {}", input.sha256.empty() ? input.name : input.sha256);
    if (input.sha256.empty() || input.name.empty()) continue;
    for (size_t at = words.find(input.name); at != std::string::npos; at = words.find(input.name, at)) {
      words.erase(at, input.name.size());
    }
  }
  if (hashes.empty()) return {};
  const bool chosen = study.summary.rows < study.rows_available;
  return fmt::format("{}|{}|{}|{}", words, hashes, study.summary.rows, chosen ? study.summary.seed : 0);
}

// Sets same_rows and rows_words.
void compare_rows(const StudyFolder& before, const StudyFolder& after, StudyDiff& diff) {
  const auto ids_of = [](const StudyFolder& study) {
    return study.summary.entries.empty() ? RowIds() : read_row_ids(study, 0);
  };
  const RowIds first = ids_of(before);
  const RowIds second = ids_of(after);
  const std::string rows = plural(before.summary.rows, "row");
  if (!first.ids.empty() && !second.ids.empty() && !first.numbers && !second.numbers) {
    diff.same_rows = first.ids == second.ids;
    diff.rows_words = diff.same_rows ? fmt::format("the same {} by name: compared row by row", rows)
                                     : "rows of other names: compared by means and their errors";
    return;
  }
  const std::string choice = chosen_rows(before);
  const bool other_numbers = first.numbers && second.numbers && first.ids != second.ids;
  diff.same_rows =
      before.summary.rows == after.summary.rows && !choice.empty() && choice == chosen_rows(after) && !other_numbers;
  diff.rows_words = diff.same_rows ? fmt::format("the same {} of the same data: compared row by row", rows)
                                   : "not the same rows of the same data: compared by means and their errors";
}

ChangeKind change_of(const ScoreChange& score) {
  const double first = score.before.mean;
  const double second = score.after.mean;
  if (std::isnan(first) || std::isnan(second)) {
    if (std::isnan(first) == std::isnan(second)) return ChangeKind::same;
    return std::isnan(second) ? ChangeKind::lost : ChangeKind::gained;
  }
  if (first == second) return ChangeKind::same;
  if (std::fabs(second - first) <= kTieRounding * std::max(std::fabs(first), std::fabs(second)) &&
      std::isfinite(first) && std::isfinite(second)) {
    return ChangeKind::same;
  }
  if (score.drawn_apart) return ChangeKind::untested;
  // NaN: infinities cannot be tested.
  if (!(score.adjusted_p < kSignificance) || std::isnan(score.test.difference)) return ChangeKind::unclear;
  if (score.direction == Direction::neither) return ChangeKind::different;
  return (score.test.difference > 0) == (score.direction == Direction::higher) ? ChangeKind::better : ChangeKind::worse;
}

// Fills adjusted_p and change. Scores must be sorted by criterion: p-values are adjusted within each.
void adjust(std::vector<ScoreChange>& scores) {
  for (size_t from = 0; from < scores.size();) {
    size_t to = from;
    std::vector<double> p_values;
    while (to < scores.size() && scores[to].criterion == scores[from].criterion) {
      p_values.push_back(scores[to++].test.p_value);
    }
    const std::vector<double> adjusted = holm_adjusted(p_values);
    for (size_t i = from; i < to; i++) {
      scores[i].adjusted_p = adjusted[i - from];
      scores[i].change = change_of(scores[i]);
    }
    from = to;
  }
}

std::string option_changes(const Scores& before, const Scores& after) {
  std::vector<std::string> parts;
  for (const InputChange& each : pair_changes(before.options, after.options)) {
    parts.push_back(fmt::format("{} {} -> {}", one_line(each.what), short_name(each.before), short_name(each.after)));
  }
  return parts.empty() ? std::string() : joined(parts);
}

std::string fact_named(const StudyFolder& study, std::string_view name) {
  const auto found = std::ranges::find(study.facts, name, &std::pair<std::string, std::string>::first);
  return found == study.facts.end() ? std::string() : found->second;
}

// The reference in words, without the names of files whose hash both studies have: they may have moved.
std::string reference_of(const StudyFolder& study, const StudyFolder& other) {
  std::string words = fact_named(study, "reference");
  for (const StudyInput& input : study.summary.inputs) {
    const auto same = [&](const StudyInput& each) { return each.role == input.role && each.sha256 == input.sha256; };
    if (input.sha256.empty() || input.name.empty() || std::ranges::none_of(other.summary.inputs, same)) continue;
    for (size_t at = words.find(input.name); at != std::string::npos; at = words.find(input.name, at)) {
      words.erase(at, input.name.size());
    }
  }
  return words;
}

std::vector<std::string> hashes_of(const StudyFolder& study, std::string_view role) {
  std::vector<std::string> found;
  for (const StudyInput& input : study.summary.inputs) {
    if (input.role.starts_with(role) && !input.sha256.empty()) found.push_back(input.sha256);
  }
  return found;
}

// The hashes of the tables that the reference was taken from: a background or a baseline that was given, else the pool.
std::vector<std::string> reference_hashes(const StudyFolder& study) {
  for (const std::string_view given : {"background", "baseline"}) {
    if (std::vector<std::string> found = hashes_of(study, given); !found.empty()) return found;
  }
  return fact_named(study, "reference") == kZeroBaseline ? std::vector<std::string>() : hashes_of(study, "pool");
}

// Whether the references come from tables with different contents, whatever these are called.
bool other_reference_rows(const StudyFolder& before, const StudyFolder& after) {
  const std::vector<std::string> first = reference_hashes(before);
  const std::vector<std::string> second = reference_hashes(after);
  return !first.empty() && !second.empty() && first != second;
}

// Whether a study averages over background rows that were drawn. Older studies do not say it; then all but files are
// taken for drawn.
bool draws_background(const StudyFolder& study) {
  if (study.reference.drawn_rows) return !study.reference.drawn_rows->empty();
  return study.reference.background() && hashes_of(study, "background").empty();
}

// inputs: those that differ between the studies.
bool other_draws(const StudyFolder& before, const StudyFolder& after, const std::vector<InputChange>& inputs) {
  if (!draws_background(before) && !draws_background(after)) return false;
  const auto& first = before.reference.drawn_rows;
  const auto& second = after.reference.drawn_rows;
  return first && second ? *first != *second : !inputs.empty();
}

// Whether what stands for absent features matters to this score of this explanation.
bool uses_reference(const StudyEntry& entry, const std::string& criterion, const Scores& scores) {
  const std::string name = entry.name.substr(0, entry.name.find(':'));
  const auto method = std::ranges::find(methods(), name, &MethodInfo::name);
  if (entry.aggregate() || method == methods().end() || method->uses_reference) return true;
  const auto known = std::ranges::find(criteria(), criterion, &CriterionInfo::name);
  if (known == criteria().end()) return true;
  return known->make({criterion, scores.options})->needs(known->needs).reference;
}

std::string unit_in_words(const std::string& unit) {
  if (unit == "probability") return "probabilities";
  if (unit == "log_odds") return "log-odds";
  return unit == "information" ? unit : fmt::format("{}s", one_line(unit));
}

// Why scores that have a scale cannot be compared; empty if they can.
std::string other_scale(const StudyFolder& before, const StudyFolder& after) {
  std::vector<std::string> reasons;
  const std::string units[] = {fact_named(before, "unit"), fact_named(after, "unit")};
  if (units[0] != units[1]) {
    reasons.push_back(
        fmt::format("one study explains {} and the other {}", unit_in_words(units[0]), unit_in_words(units[1])));
  }
  const std::string targets[] = {fact_named(before, "target"), fact_named(after, "target")};
  if (targets[0] != targets[1]) {
    reasons.push_back(fmt::format("one explains {} and the other {}", short_name(targets[0]), short_name(targets[1])));
  }
  if (other_reference_rows(before, after)) {
    reasons.emplace_back("the rows that stand for absent features come from tables with other contents");
  } else if (reference_of(before, after) != reference_of(after, before)) {
    reasons.push_back(fmt::format("absent features are {} in one and {} in the other",
                                  short_name(fact_named(before, "reference")),
                                  short_name(fact_named(after, "reference"))));
  }
  return reasons.empty() ? std::string() : joined(reasons);
}

struct Common {
  size_t before = 0;
  size_t after = 0;
};

template <class Item, class Name>
std::vector<Common> common_items(const std::vector<Item>& before, const std::vector<Item>& after, const Name& name,
                                 const auto& words, StudyDiff& diff) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < after.size(); i++) places.emplace(name(after[i]), i);
  std::vector<Common> common;
  std::vector<bool> met(after.size(), false);
  for (size_t i = 0; i < before.size(); i++) {
    const auto found = places.find(name(before[i]));
    if (found == places.end()) {
      diff.only_before.push_back(words(before[i]));
    } else {
      common.push_back({i, found->second});
      met[found->second] = true;
    }
  }
  for (size_t i = 0; i < after.size(); i++) {
    if (!met[i]) diff.only_after.push_back(words(after[i]));
  }
  return common;
}

// The name of the entry that a study recommends overall; empty if there is none.
std::string recommended_overall(const StudySummary& study) {
  const auto found = std::ranges::find(study.recommended, kAims[0], &std::pair<std::string, std::string>::first);
  return found == study.recommended.end() ? std::string() : found->second;
}

// The entry whose attributions show what drives the model, as both studies show it first: the one that both recommend
// overall. If they do not agree: of those that both have, the one that the first study found most faithful; without
// such a criterion the first.
const Common& driving_entry(const StudySummary& study, const StudySummary& other, const std::vector<Common>& entries) {
  const std::string recommended = recommended_overall(study);
  if (!recommended.empty() && recommended == recommended_overall(other)) {
    const auto own = [&](const Common& entry) { return study.entries[entry.before].name == recommended; };
    if (const auto found = std::ranges::find_if(entries, own); found != entries.end()) return *found;
  }
  const Common* best = &entries[0];
  for (size_t c = 0; c < study.criteria.size(); c++) {
    if (role_of(study.criteria[c].name) != CriterionRole::faithfulness) continue;
    for (const Common& entry : entries) {
      const double own = study.entries[entry.before].scores[c].mean;
      const double known = study.entries[best->before].scores[c].mean;
      if (std::isfinite(own) && !(own <= known)) best = &entry;
    }
    break;
  }
  return *best;
}

// What the model says and what drives it.
void compare_outputs(const StudyFolder& before, const StudyFolder& after, const std::vector<Common>& entries,
                     StudyDiff& diff, const Context& context) {
  if (entries.empty()) return;
  const Common& entry = driving_entry(before.summary, after.summary, entries);
  const auto read = [&](const StudyFolder& study, size_t index) {
    const std::string inner = fmt::format("explanations/{}.npz", study.summary.entries[index].stem);
    return read_explanations(file_within(study.path, inner), context);
  };
  const Explanations first = read(before, entry.before);
  const Explanations second = read(after, entry.after);
  if (diff.same_rows) diff.predictions = prediction_changes(first, second);
  const bool paired = diff.same_rows && first.rows() == second.rows();
  diff.drivers = driver_changes(before.summary.entries[entry.before].name, first, second, paired);
}

// Shares that depend on which rows were drawn.
void leave_untested(DriverChanges& drivers) {
  drivers.tested = false;
  for (DriverChange& each : drivers.players) each.test.p_value = each.adjusted_p = NAN;
}

}  // namespace

std::string_view change_name(ChangeKind change) {
  switch (change) {
    case ChangeKind::unclear: return "unclear";
    case ChangeKind::untested: return "untested";
    case ChangeKind::better: return "better";
    case ChangeKind::worse: return "worse";
    case ChangeKind::different: return "different";
    case ChangeKind::lost: return "lost";
    case ChangeKind::gained: return "gained";
    case ChangeKind::same: break;
  }
  return "same";
}

EntryComparison welch_comparison(const Scores& first, const Scores& second) {
  EntryComparison made;
  made.difference = first.mean - second.mean;
  const double a = first.mean_error * first.mean_error;
  const double b = second.mean_error * second.mean_error;
  made.error = std::sqrt(a + b);
  const double largest = std::max(std::fabs(first.mean), std::fabs(second.mean));
  if (std::isnan(made.difference) || std::isnan(made.error)) return made;
  if (made.error == 0 || std::fabs(made.difference) <= kTieRounding * largest) {
    made.p_value = std::fabs(made.difference) <= kTieRounding * largest ? 1 : 0;
    return made;
  }
  const double size = std::fabs(made.difference) / made.error;
  if (first.dependent || second.dependent) {
    made.p_value = std::erfc(size / std::sqrt(2.0));
    return made;
  }
  const auto spare = [](const Scores& scores) {
    const auto defined = std::ranges::count_if(scores.values, [](double value) { return !std::isnan(value); });
    return static_cast<double>(defined) - 1;
  };
  const double degrees = (a + b) * (a + b) / ((a > 0 ? a * a / spare(first) : 0) + (b > 0 ? b * b / spare(second) : 0));
  made.p_value = 2 * student_t_cdf(-size, degrees);
  return made;
}

StudyDiff diff_studies(const StudyFolder& before, const StudyFolder& after, const Context& context) {
  StudyDiff diff;
  diff.before = before.path;
  diff.after = after.path;
  diff.inputs = input_changes(before, after);
  const StudySummary& first = before.summary;
  const StudySummary& second = after.summary;
  const std::vector<Common> entries = common_items(
      first.entries, second.entries, [](const EntrySummary& entry) { return entry.name; },
      [](const EntrySummary& entry) { return fmt::format("the {} {}", entry_kind_name(entry.kind), entry.name); },
      diff);
  const std::vector<Common> criteria = common_items(
      first.criteria, second.criteria, [](const CriterionSummary& criterion) { return criterion.spec; },
      [](const CriterionSummary& criterion) { return fmt::format("the criterion {}", criterion.spec); }, diff);
  compare_rows(before, after, diff);

  compare_outputs(before, after, entries, diff, context);
  const bool drawn_apart = other_draws(before, after, diff.inputs);
  if (drawn_apart) {
    diff.notes.emplace_back(
        "each study drew background rows of its own, and differences may come from the draw: what depends on it is not "
        "tested. It is where both have the same rows: a file of them, or as many drawn plainly from one pool by one "
        "seed");
    leave_untested(diff.drivers);
  }
  const std::string scale = other_scale(before, after);
  // Entropies and counts of features depend on how many there are, and so does what has a scale.
  const bool same_players = diff.drivers.same_players && hashes_of(before, "groups") == hashes_of(after, "groups");
  const std::string other_players =
      same_players ? std::string() : "the features or groups of the two studies are not the same";
  const auto reason_not_to = [&](const std::string& name, const Scores& old_scores, const Scores& new_scores) {
    const bool scaled = scale_dependent({name, old_scores.options}) || scale_dependent({name, new_scores.options});
    if (scaled && !scale.empty()) return std::string(scale);
    const auto known = std::ranges::find(assay::criteria(), name, &CriterionInfo::name);
    const bool counts = known != assay::criteria().end() && known->family == "complexity";
    return scaled || counts ? other_players : std::string();
  };
  std::set<size_t> not_compared;
  std::set<std::string> notes;  // one for each criterion and change of options, not for each entry
  for (const Common& entry : entries) {
    context.check_cancelled();
    const StudyEntry own = read_study_entry(before, entry.before, context);
    const StudyEntry other = read_study_entry(after, entry.after, context);
    for (const Common& criterion : criteria) {
      const Scores& old_scores = own.scores[criterion.before];
      const Scores& new_scores = other.scores[criterion.after];
      const std::string& name = first.criteria[criterion.before].name;
      if (const std::string reason = reason_not_to(name, old_scores, new_scores); !reason.empty()) {
        if (not_compared.insert(criterion.before).second) {
          diff.not_compared.push_back({first.criteria[criterion.before].spec, reason});
        }
        continue;
      }
      ScoreChange score;
      score.criterion = criterion.before;
      score.criterion_spec = first.criteria[criterion.before].spec;
      score.explanation = own.name;
      score.direction = first.criteria[criterion.before].direction;
      score.before = first.entries[entry.before].scores[criterion.before];
      score.after = second.entries[entry.after].scores[criterion.after];
      score.test = diff.same_rows ? entry_comparison(new_scores, old_scores) : welch_comparison(new_scores, old_scores);
      score.drawn_apart = drawn_apart && uses_reference(own, name, new_scores);
      if (score.drawn_apart) score.test.p_value = NAN;
      const std::string options = option_changes(old_scores, new_scores);
      const std::string note = fmt::format("{} was computed with other options: {}", score.criterion_spec, options);
      if (!options.empty() && notes.insert(note).second) diff.notes.push_back(note);
      diff.scores.push_back(std::move(score));
    }
  }
  std::ranges::stable_sort(diff.scores, {}, &ScoreChange::criterion);
  adjust(diff.scores);
  return diff;
}

bool something_untested(const StudyDiff& diff) {
  return std::ranges::find(diff.scores, ChangeKind::untested, &ScoreChange::change) != diff.scores.end();
}

bool something_worse(const StudyDiff& diff) {
  return std::ranges::any_of(diff.scores, [](const ScoreChange& score) {
    return score.change == ChangeKind::worse || score.change == ChangeKind::lost;
  });
}

}  // namespace assay
