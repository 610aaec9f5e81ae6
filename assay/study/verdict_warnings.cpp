#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/agreement/rank_statistics.h"
#include "assay/evaluate/criteria.h"
#include "assay/study/study_reference.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

// With fewer rows, a t-test depends on the differences being normally distributed.
constexpr size_t kFewRows = 30;
constexpr double kLowCoverage = 0.5;
constexpr double kUnequalCoverage = 0.2;  // largest minus smallest coverage
constexpr double kStableOrder = 0.8;      // least Kendall's tau of two orders that count as alike
// How many standard errors ahead an entry must be to count as taking over from one that it is tied with.
constexpr double kLead = 2;
constexpr size_t kMostNamed = 3;
// From this share on, what all classes' margins have in common can change the order of a row's features.
constexpr double kLargeCommonShare = 0.1;

std::string name_of(const Study& study, size_t entry) { return short_name(study.entries[entry].name); }

std::string cut(std::vector<std::string> parts, size_t most, std::string_view what, std::string_view between = "; ") {
  if (parts.size() > most + 1) {
    const size_t more = parts.size() - most;
    parts.resize(most);
    parts.push_back(fmt::format("{} more {}", with_commas(more), what));
  }
  return fmt::format("{}", fmt::join(parts, between));
}

// Rows that are repeated are no more evidence. A few equal rows are usual where columns have few values.
void warn_of_repeated_rows(const Study& study, std::vector<std::string>& warnings) {
  const size_t distinct = study.facts.distinct_rows;
  if (distinct == 0 || 2 * distinct > study.rows()) return;
  warnings.push_back(
      fmt::format("Only {} of the {} rows are different: what is repeated counts as evidence here, so that errors and "
                  "intervals are too small.",
                  with_commas(distinct), with_commas(study.rows())));
}

void warn_of_rows(const Study& study, std::vector<std::string>& warnings) {
  if (study.rows() >= kFewRows) return;
  warnings.push_back(fmt::format("Only {} studied: below {} rows, standard errors and tests are rough.",
                                 study.rows() == 1 ? "1 row is" : fmt::format("{} rows are", study.rows()), kFewRows));
}

// Of two players, one is removed or the other: a correlation over two points.
void warn_of_two_features(const Study& study, std::vector<std::string>& warnings) {
  const auto is_faithfulness = [](const std::string& name) { return role_of(name) == CriterionRole::faithfulness; };
  if (study.facts.features.size() != 2 || std::ranges::none_of(study.criterion_names, is_faithfulness)) return;
  warnings.emplace_back(
      "With two features, the faithfulness of a row is 1 or -1: it only says whether the two are in the right order.");
}

// The main features of a row agree with those against the whole pool for a quarter to two thirds of the rows with 16
// background rows, for about four fifths with 100 (measured on german credit).
void warn_of_background(const Study& study, std::vector<std::string>& warnings) {
  const ReferenceFacts& reference = study.facts.reference_facts;
  if (!reference.background() || reference.rows >= kStudyBackgroundRows) return;
  const auto is_background = [](const StudyInput& input) { return input.role.starts_with("background"); };
  if (std::ranges::any_of(study.facts.inputs, is_background)) {
    // Rows that the user gave are no sample of the pool, whatever their number.
    warnings.push_back(fmt::format(
        "The background has the {} rows that were given: with fewer than {}, other rows may give a row other main "
        "features.",
        reference.rows, kStudyBackgroundRows));
    return;
  }
  if (reference.rows == study.facts.pool_rows_available) {
    warnings.push_back(fmt::format(
        "The background is the whole pool of {} rows: with fewer than {}, another pool may give a row other main "
        "features.",
        reference.rows, kStudyBackgroundRows));
    return;
  }
  warnings.push_back(
      fmt::format("The background has {} rows: with fewer than {}, the main features of a row may not be those against "
                  "the whole pool.",
                  reference.rows, kStudyBackgroundRows));
}

// Softmax sees only differences between margins, and training leaves their common part as it was drawn at the start.
void warn_of_common_margin(const Study& study, std::vector<std::string>& warnings) {
  const double share = study.facts.reference_facts.common_share;
  if (!(share >= kLargeCommonShare)) return;
  warnings.push_back(
      fmt::format("{} of the variance of the explained margin is common to all classes and changes no prediction, so "
                  "that a feature may count here and not for the decision: log-odds in place of margins leave it out.",
                  whole_percent(share)));
}

void warn_of_coverage(const Study& study, std::vector<std::string>& warnings) {
  std::vector<std::string> none;
  std::vector<std::string> low;
  std::vector<std::string> unequal;
  for (size_t c = 0; c < study.criteria.size(); ++c) {
    const std::string criterion = criterion_label(study, c);
    std::vector<size_t> below;
    double least = 1;
    double most = 0;
    for (size_t e = 0; e < study.entries.size(); ++e) {
      const Scores& scores = study.entries[e].scores[c];
      if (std::isnan(scores.mean)) continue;
      least = std::min(least, scores.coverage);
      most = std::max(most, scores.coverage);
      if (scores.coverage < kLowCoverage) below.push_back(e);
    }
    if (most == 0) {
      none.push_back(criterion);
      continue;
    }
    if (!below.empty()) {
      const bool all = below.size() == study.entries.size() && below.size() > 1;
      low.push_back(fmt::format(
          "{} of {} ({})", criterion, all ? "all" : entry_names(study, below, kMostNamed),
          least == most || below.size() == 1 ? whole_percent(least) : fmt::format("from {}", whole_percent(least))));
    }
    if (most - least >= kUnequalCoverage) {
      unequal.push_back(fmt::format("{} ({} to {})", criterion, whole_percent(least), whole_percent(most)));
    }
  }
  constexpr size_t kMostCriteria = 4;
  if (!none.empty()) {
    warnings.push_back(
        fmt::format("Nothing has a score by {}.", cut(std::move(none), kMostCriteria, "criteria", ", ")));
  }
  if (!low.empty()) {
    warnings.push_back(fmt::format("Most rows have no score, and the means are of the few that do: {}.",
                                   cut(std::move(low), kMostCriteria, "criteria")));
  }
  if (!unequal.empty()) {
    warnings.push_back(fmt::format("Means are of different rows, since coverage differs: {}.",
                                   cut(std::move(unequal), kMostCriteria, "criteria")));
  }
}

void warn_of_different_rows(const Study& study, const Assessment& assessment, std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  for (const CriterionRanking& ranking : assessment.rankings) {
    if (ranking.ahead_on_common_rows.empty()) continue;
    found.push_back(fmt::format("by {}, {} {} ahead of {}", criterion_label(study, ranking.criterion),
                                entry_names(study, ranking.ahead_on_common_rows, kMostNamed),
                                ranking.ahead_on_common_rows.size() == 1 ? "is" : "are",
                                name_of(study, ranking.order[0])));
  }
  if (found.empty()) return;
  warnings.push_back(fmt::format("The best mean is not the best on the rows where both have a score: {}.",
                                 cut(std::move(found), 3, "criteria")));
}

void warn_of_no_winner(const Study& study, const Assessment& assessment, std::vector<std::string>& warnings) {
  std::vector<std::string> named;
  size_t others = 0;
  for (const CriterionRanking& ranking : assessment.rankings) {
    if (!ranking.ranks || ranking.order.size() < 2 || ranking.standing[ranking.order[0]] == Standing::best) continue;
    if (role_of(study.criterion_names[ranking.criterion]) == CriterionRole::none) {
      others++;
      continue;
    }
    const auto top =
        std::ranges::count_if(ranking.order, [&](size_t e) { return ranking.standing[e] == Standing::tied; });
    named.push_back(
        fmt::format("{} ({} of {} tied)", criterion_label(study, ranking.criterion), top, ranking.order.size()));
  }
  if (others > 0) named.push_back(plural(others, named.empty() ? "criterion" : "other criterion"));
  if (others > 1) named.back() = fmt::format("{} {}criteria", with_commas(others), named.size() == 1 ? "" : "other ");
  if (named.empty()) return;
  warnings.push_back(fmt::format("No significant winner by {}.", joined(named)));
}

// The curves of one criterion, by entry; null where an entry has none.
std::vector<const Curve*> curves_of(const Study& study, std::string_view criterion, std::string_view along) {
  std::vector<const Curve*> curves;
  for (const StudyEntry& entry : study.entries) {
    const auto found = std::ranges::find_if(
        entry.curves, [&](const Curve& curve) { return curve.criterion == criterion && curve.along == along; });
    curves.push_back(found == entry.curves.end() ? nullptr : &*found);
  }
  return curves;
}

struct CurvePoint {
  double mean = NAN;  // NaN if it is not reliable
  double error = NAN;
};

CurvePoint curve_at(const Curve* curve, double x) {
  if (curve == nullptr) return {};
  const auto found = std::ranges::find(curve->x, x);
  if (found == curve->x.end()) return {};
  const auto i = static_cast<size_t>(found - curve->x.begin());
  if (!(curve->coverage[i] >= kLowCoverage) || !std::isfinite(curve->mean[i])) return {};
  return {curve->mean[i], curve->error[i]};
}

// The entry that is clearly ahead of the study's best at x, or the best itself. Entries that are tied anyway may change
// places: that does not count.
size_t best_at(const Study& study, const CriterionRanking& ranking, const std::vector<const Curve*>& curves,
               size_t best, double x) {
  const double sign = direction_sign(study.directions[ranking.criterion]);
  const CurvePoint own = curve_at(curves[best], x);
  size_t leader = best;
  double lead = 0;
  for (const size_t e : ranking.order) {
    const CurvePoint other = curve_at(curves[e], x);
    const double ahead = sign * (other.mean - own.mean);
    if (!(ahead > lead) || !above_rounding(sign * other.mean, sign * own.mean)) continue;
    leader = e;
    lead = ahead;
  }
  if (leader == best) return best;
  const bool was_worse =
      entry_comparison(study.entries[best].scores[ranking.criterion], study.entries[leader].scores[ranking.criterion])
          .p_value < kSignificance;
  const double error = std::hypot(own.error, curve_at(curves[leader], x).error);
  return was_worse || !(lead <= kLead * error) ? leader : best;
}

void warn_of_curve(const Study& study, const Assessment& assessment, CriterionRole role, std::string_view along,
                   std::vector<std::string>& parts) {
  const auto index = first_criterion_for(study, role);
  if (!index || !assessment.rankings[*index].ranks) return;
  const std::string& criterion = study.criterion_names[*index];
  const CriterionRanking& ranking = assessment.rankings[*index];
  const auto curves = curves_of(study, criterion, along);
  const auto first = std::ranges::find_if(ranking.order, [&](size_t e) { return curves[e] != nullptr; });
  if (first == ranking.order.end()) return;
  // Ranges of consecutive x in which the same entry is ahead.
  std::vector<std::string> changes;
  const std::vector<double>& x = curves[*first]->x;
  for (size_t i = 0; i < x.size();) {
    const size_t leader = best_at(study, ranking, curves, *first, x[i]);
    size_t end = i + 1;
    while (end < x.size() && best_at(study, ranking, curves, *first, x[end]) == leader) ++end;
    if (leader != *first) {
      const std::string where =
          end - i == 1 ? number_text(x[i]) : fmt::format("{} to {}", number_text(x[i]), number_text(x[end - 1]));
      changes.push_back(fmt::format("{} at {} {}", name_of(study, leader), along == "subset" ? "size" : along, where));
    }
    i = end;
  }
  if (changes.empty()) return;
  parts.push_back(fmt::format("by {}, {} gives way to {}", criterion, name_of(study, *first),
                              cut(std::move(changes), kMostNamed, "changes", ", ")));
}

void warn_of_curves(const Study& study, const Assessment& assessment, std::vector<std::string>& warnings) {
  std::vector<std::string> radius;
  warn_of_curve(study, assessment, CriterionRole::largest_change, "radius", radius);
  warn_of_curve(study, assessment, CriterionRole::stability, "radius", radius);
  if (!radius.empty()) {
    warnings.push_back(fmt::format("The most stable changes with the radius: {}.", fmt::join(radius, "; ")));
  }
  std::vector<std::string> subset;
  warn_of_curve(study, assessment, CriterionRole::faithfulness, "subset", subset);
  if (!subset.empty()) {
    warnings.push_back(fmt::format("The most faithful changes with the subset size: {}.", fmt::join(subset, "; ")));
  }
}

// Means by one criterion, as studied and under a variation, of the methods that have both. Signed: larger is better.
struct TwoOrders {
  std::vector<size_t> methods;
  std::vector<double> studied;
  std::vector<double> varied;
};

// The method's mean under the variation; NaN if it has none.
double varied_mean(const Study& study, const StudyEntry& entry, size_t criterion, const Variation& variation) {
  const auto found = std::ranges::find_if(entry.variations, [&](const Variation& each) {
    return each.what == variation.what && each.value == variation.value;
  });
  // Methods without sampling are the same with any seed, so they have no variation of the seed.
  if (found == entry.variations.end()) return variation.what == "seed" ? entry.scores[criterion].mean : NAN;
  for (size_t i = 0; i < found->criteria.size(); ++i) {
    const std::string& name = found->criteria[i];
    if (name == study.criterion_names[criterion] || name == study.criteria[criterion]) return found->mean[i];
  }
  return NAN;
}

TwoOrders orders_of(const Study& study, size_t criterion, const Variation& variation) {
  TwoOrders orders;
  const double sign = direction_sign(study.directions[criterion]);
  for (size_t e = 0; e < study.entries.size(); ++e) {
    const StudyEntry& entry = study.entries[e];
    const double studied = entry.scores[criterion].mean;
    const double varied = varied_mean(study, entry, criterion, variation);
    if (entry.aggregate() || !std::isfinite(studied) || !std::isfinite(varied)) continue;
    orders.methods.push_back(e);
    orders.studied.push_back(sign * studied);
    orders.varied.push_back(sign * varied);
  }
  return orders;
}

// Methods that compute the same values may differ in the last digits. For the order they count as equal.
std::vector<double> without_rounding(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> out = values;
  for (size_t i = 1; i < order.size(); ++i) {
    const double before = out[order[i - 1]];
    if (!above_rounding(values[order[i]], before)) out[order[i]] = before;
  }
  return out;
}

// How a variation changes the methods' order by one criterion; empty if it stays.
std::string change_under(const Study& study, size_t criterion, const Variation& variation) {
  const TwoOrders orders = orders_of(study, criterion, variation);
  if (orders.methods.size() < 2) return {};
  const auto index_of_best = [](const std::vector<double>& values) {
    return static_cast<size_t>(std::ranges::max_element(values) - values.begin());
  };
  const size_t best = index_of_best(orders.studied);
  const size_t leader = index_of_best(orders.varied);
  std::vector<std::string> parts;
  if (above_rounding(orders.varied[leader], orders.varied[best])) {
    const EntryComparison studied = entry_comparison(study.entries[orders.methods[best]].scores[criterion],
                                                     study.entries[orders.methods[leader]].scores[criterion]);
    const double lead = orders.varied[leader] - orders.varied[best];
    if (studied.p_value < kSignificance || !(lead <= kLead * studied.error)) {
      parts.push_back(fmt::format("{} is best in place of {}", name_of(study, orders.methods[leader]),
                                  name_of(study, orders.methods[best])));
    }
  }
  const double tau = kendall_tau_b(without_rounding(orders.studied), without_rounding(orders.varied));
  if (tau < kStableOrder) {
    parts.push_back(fmt::format("Kendall's tau of the {} methods' order is {:.2f}", orders.methods.size(), tau));
  }
  if (parts.empty()) return {};
  return fmt::format("by {} with {} {}, {}", criterion_label(study, criterion), variation.what,
                     variation.what == "seed" ? short_name(variation.value) : in_quotes(variation.value),
                     joined(parts));
}

void warn_of_variations(const Study& study, const Assessment& assessment, std::string_view what,
                        std::vector<std::string>& warnings) {
  // Each value once, in order of appearance: methods may have been tried with different ones.
  std::vector<const Variation*> values;
  for (const StudyEntry& entry : study.entries) {
    for (const Variation& variation : entry.variations) {
      const bool known = std::ranges::any_of(values, [&](const Variation* v) { return v->value == variation.value; });
      if (variation.what == what && !known) values.push_back(&variation);
    }
  }
  std::vector<std::string> changes;
  for (const Variation* variation : values) {
    for (const StudyAim& aim : kStudyAims) {
      const auto criterion = first_criterion_for(study, aim.role);
      if (!criterion || !assessment.rankings[*criterion].ranks) continue;
      if (auto change = change_under(study, *criterion, *variation); !change.empty()) {
        changes.push_back(std::move(change));
      }
    }
  }
  if (changes.empty()) return;
  warnings.push_back(fmt::format("The ranking of methods changes with the {}: {}.", what,
                                 cut(std::move(changes), kMostNamed, "changes")));
}

}  // namespace

std::vector<std::string> sample_warnings(const Study& study) {
  std::vector<std::string> warnings;
  warn_of_rows(study, warnings);
  warn_of_repeated_rows(study, warnings);
  warn_of_two_features(study, warnings);
  warn_of_background(study, warnings);
  warn_of_common_margin(study, warnings);
  return warnings;
}

std::vector<std::string> warning_sentences(const Study& study, const Assessment& assessment) {
  std::vector<std::string> warnings = sample_warnings(study);
  warn_of_coverage(study, warnings);
  warn_of_different_rows(study, assessment, warnings);
  warn_of_no_winner(study, assessment, warnings);
  warn_of_curves(study, assessment, warnings);
  warn_of_variations(study, assessment, "seed", warnings);
  warn_of_variations(study, assessment, "reference", warnings);
  warn_of_variations(study, assessment, "baseline", warnings);  // of older studies
  return warnings;
}

}  // namespace assay
