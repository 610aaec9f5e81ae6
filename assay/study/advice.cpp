#include "assay/study/advice.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "assay/aggregate/aggregators.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/explain/replicates.h"
#include "assay/study/assess.h"
#include "assay/study/comparisons.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

// Entries whose unit vectors agree to this on all rows are one.
constexpr double kSameDirection = 1e-6;
// Attributions that miss the prediction by less than this share of it add up.
constexpr double kCompleteGap = 1e-3;
// Unit vectors that are so far apart differ by about a fiftieth in their correlations.
constexpr double kMostSampling = 0.2;
// Below this upper bound of the best faithfulness, no attribution describes the model.
constexpr double kLeastFaithfulness = 0.5;

double norm_of(std::span<const float> row) {
  double squares = 0;
  for (const float v : row) squares += static_cast<double>(v) * v;
  return std::sqrt(squares);
}

bool same_direction(std::span<const float> a, std::span<const float> b) {
  const double size_a = norm_of(a);
  const double size_b = norm_of(b);
  if (!std::isfinite(size_a) || !std::isfinite(size_b)) return std::isfinite(size_a) == std::isfinite(size_b);
  if (size_a == 0 || size_b == 0) return size_a == size_b;
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = a[i] / size_a - b[i] / size_b;
    squares += apart * apart;
    if (squares > kSameDirection * kSameDirection) return false;
  }
  return true;
}

bool adds_up(const Explanations& explanations) {
  if (explanations.combination.relative) return false;
  // Measured, whatever the method promises: a path integral misses the jumps of a model. Only a row without a gap is
  // taken on the method's word.
  const auto known = std::ranges::find(methods(), explanations.provenance.method, &MethodInfo::name);
  const bool promised = known != methods().end() && known->complete;
  double gap = 0;
  double rise = 0;
  for (size_t r = 0; r < explanations.gap.size(); ++r) {
    if (promised && std::isnan(explanations.gap[r])) continue;
    gap += std::fabs(explanations.gap[r]);
    rise += std::fabs(explanations.output[r] - explanations.base[r]);
  }
  return gap <= kCompleteGap * rise;  // NaN: false
}

// The standard errors from sampling, as a share of the attributions (both as lengths over all rows). NaN if an error is
// not known.
double sampling_share(const Explanations& explanations) {
  double errors = 0;
  double values = 0;
  for (const float error : explanations.standard_error.values()) errors += static_cast<double>(error) * error;
  for (const float value : explanations.values.values()) {
    if (std::isfinite(value)) values += static_cast<double>(value) * value;
  }
  return errors == 0 ? 0 : std::sqrt(errors / values);
}

// Shapley values, or an estimate that is near them: a poor one is no standard for others.
bool has_shapley_values(const StudyEntry& entry) {
  const auto known = std::ranges::find(methods(), entry.explanations.provenance.method, &MethodInfo::name);
  if (entry.aggregate() || known == methods().end() || !known->shapley) return false;
  return sampling_share(entry.explanations) <= kMostSampling;
}

// The order of preference among ties: complete, exact, cheap.
auto preference(const EntryAdvice& entry, bool by_complete) {
  return std::tuple(by_complete && !entry.complete, !entry.exact, entry.evaluations);
}

// Of entries that are alike in all this, the first.
size_t preferred(std::span<const EntryAdvice> advice, const std::vector<size_t>& entries, bool by_complete) {
  return *std::ranges::min_element(entries, {}, [&](size_t e) { return preference(advice[e], by_complete); });
}

void find_aliases(const Study& study, std::vector<EntryAdvice>& advice) {
  std::vector<std::vector<size_t>> groups;
  for (size_t e = 0; e < study.entries.size(); ++e) {
    const auto same = std::ranges::find_if(groups, [&](const std::vector<size_t>& group) {
      return same_directions(study.entries[group[0]].explanations, study.entries[e].explanations);
    });
    if (same == groups.end()) {
      groups.push_back({e});
    } else {
      same->push_back(e);
    }
  }
  for (const std::vector<size_t>& group : groups) {
    const size_t speaker = preferred(advice, group, true);
    const bool shapley = std::ranges::any_of(group, [&](size_t e) { return advice[e].shapley; });
    for (const size_t e : group) {
      advice[e].alias_of = speaker;
      advice[e].shapley = shapley;
    }
  }
}

class Adviser {
 public:
  Adviser(const Study& study, std::vector<EntryAdvice> entries, std::span<const CriterionComparison> compared)
      : study_(study), compared_(compared) {
    advice_.options = study.advice;
    advice_.entries = std::move(entries);
  }

  Advice make() {
    if (const auto criterion = ranked(CriterionRole::faithfulness)) judge(*criterion);
    return std::move(advice_);
  }

 private:
  // The study's criterion for this role, if it ranks.
  std::optional<size_t> ranked(CriterionRole role) const {
    const auto found = first_criterion_for(study_, role);
    return found && !with_signs(*found).empty() ? found : std::nullopt;
  }

  // Entries that speak for themselves and are compared by this criterion, best first, without ranks: what ranks say has
  // no direction.
  std::vector<size_t> with_signs(size_t criterion) const {
    std::vector<size_t> found = compared_[criterion].entries();
    std::erase_if(found, [&](size_t e) { return !advice_.entries[e].has_signs || advice_.entries[e].alias_of != e; });
    return found;
  }

  double mean(size_t entry, size_t criterion) const {
    return direction_sign(study_.directions[criterion]) * study_.entries[entry].scores[criterion].mean;
  }

  void judge(size_t criterion) {
    const CriterionComparison& compared = compared_[criterion];
    const std::vector<size_t> competing = with_signs(criterion);
    const auto shapley = std::ranges::find_if(competing, [&](size_t e) { return advice_.entries[e].shapley; });
    const size_t standard = shapley == competing.end() ? competing[0] : *shapley;
    const Scores& top = study_.entries[standard].scores[criterion];
    advice_.most_faithful = competing[0];
    advice_.standard = standard;
    advice_.critical = compared.critical();
    advice_.best_upper = std::isnan(top.interval.high) ? top.mean + 2 * top.mean_error : top.interval.high;
    // Correlations over all rows at once have another scale.
    const bool low = top.of_rows && advice_.best_upper < kLeastFaithfulness;
    const bool attributes = advice_.entries[standard].shapley && advice_.entries[standard].complete;
    advice_.one_number_fails = low && attributes;
    advice_.none_describes = low && !attributes;
    for (const size_t e : competing) judge_entry(standard, e, compared);
    // The best of these is no explanation of the model either.
    if (advice_.none_describes) {
      for (const size_t e : competing) {
        advice_.entries[e].faithful = Faithful::no;
        advice_.entries[e].rows_to_decide = NAN;
      }
    }
    for (EntryAdvice& entry : advice_.entries) {
      const EntryAdvice& speaker = advice_.entries[entry.alias_of];
      entry.faithful = speaker.faithful;
      entry.behind = speaker.behind;
      entry.behind_interval = speaker.behind_interval;
      entry.rows_to_decide = speaker.rows_to_decide;
    }
    if (!advice_.none_describes) recommend(criterion);
  }

  void judge_entry(size_t standard, size_t e, const CriterionComparison& compared) {
    EntryAdvice& entry = advice_.entries[e];
    const double margin = advice_.options.margin;
    const auto behind = compared.between(standard, e);
    entry.behind = behind.mean;
    entry.behind_interval = behind.interval;
    // A mean of a few rows of many says nothing about the others.
    const bool of_most_rows = behind.rows == 0 || 2 * behind.rows >= study_.rows();
    const bool within_tie = behind.mean <= advice_.options.tie && of_most_rows;
    if (e == standard || within_tie || behind.interval.high <= margin) {
      entry.faithful = Faithful::yes;
    } else if (behind.interval.low > margin) {
      entry.faithful = Faithful::no;
    } else {
      entry.faithful = Faithful::undecided;
      entry.rows_to_decide = rows_to_decide(behind, margin, advice_.critical);
    }
  }

  // With how many rows the interval would end at the margin, if the mean stays. More rows do not make the error of
  // draws that all rows share smaller: NaN if that alone is too large, or nothing is known.
  static double rows_to_decide(const CriterionComparison::Difference& behind, double margin, double critical) {
    const double reach = (margin - behind.mean) / critical;
    const double of_rows = behind.error * behind.error - behind.shared * behind.shared;
    const double allowed = reach * reach - behind.shared * behind.shared;
    if (behind.rows == 0 || !(allowed > 0)) return NAN;
    return std::ceil(static_cast<double>(behind.rows) * of_rows / allowed);
  }

  // Those that may be recommended: faithful, and not above the standard by more than the margin, which only a fit to
  // the test can be.
  std::vector<size_t> faithful_of(const std::vector<size_t>& entries) const {
    std::vector<size_t> kept;
    std::ranges::copy_if(entries, std::back_inserter(kept), [&](size_t e) {
      const EntryAdvice& entry = advice_.entries[e];
      return entry.faithful == Faithful::yes && !(entry.behind < -advice_.options.margin);
    });
    return kept;
  }

  // entries: candidates, best first. The preferred one of those whose mean is within the tie of the best.
  size_t within_tie(const std::vector<size_t>& entries, size_t criterion, bool by_complete) const {
    std::vector<size_t> equal;
    for (const size_t e : entries) {
      if (mean(entries[0], criterion) - mean(e, criterion) <= advice_.options.tie) equal.push_back(e);
    }
    return preferred(advice_.entries, equal, by_complete);
  }

  // Those of `some` that none of `others` is better than, by the intervals.
  std::vector<size_t> not_beaten(const std::vector<size_t>& some, const std::vector<size_t>& others,
                                 size_t criterion) const {
    const CriterionComparison& compared = compared_[criterion];
    std::vector<size_t> kept;
    std::ranges::copy_if(some, std::back_inserter(kept), [&](size_t e) {
      return std::ranges::none_of(others, [&](size_t other) { return other != e && compared.better(other, e); });
    });
    return kept;
  }

  // candidates: faithful ones, best first. See the top of advice.h.
  size_t best_for_aim(const std::vector<size_t>& candidates, size_t criterion) const {
    const CriterionComparison& compared = compared_[criterion];
    std::vector<size_t> own_methods;
    std::vector<size_t> aggregates;
    for (const size_t e : candidates) (study_.entries[e].aggregate() ? aggregates : own_methods).push_back(e);
    if (const auto kept = not_beaten(own_methods, candidates, criterion); !kept.empty()) {
      return preferred(advice_.entries, kept, true);
    }
    std::erase_if(aggregates, [&](size_t a) {
      return !std::ranges::all_of(own_methods, [&](size_t m) { return compared.better(a, m); });
    });
    if (const auto kept = not_beaten(aggregates, aggregates, criterion); !kept.empty()) {
      return preferred(advice_.entries, kept, true);
    }
    return own_methods.empty() ? candidates[0] : own_methods[0];
  }

  Recommendation recommendation(size_t entry, size_t criterion) const {
    const CriterionComparison& compared = compared_[criterion];
    Recommendation made{.entry = entry, .criterion = criterion};
    for (const size_t e : with_signs(criterion)) {
      if (e == made.entry) continue;
      if (advice_.entries[e].faithful != Faithful::yes) {
        if (mean(e, criterion) > mean(made.entry, criterion)) made.unfaithful.push_back(e);
      } else if (compared.better(e, made.entry)) {
        made.ahead.push_back(e);
      } else {
        (compared.better(made.entry, e) ? made.better : made.tied).push_back(e);
      }
    }
    return made;
  }

  void recommend(size_t criterion) {
    const std::vector<size_t> faithful = faithful_of(with_signs(criterion));
    std::vector<size_t> complete;
    std::ranges::copy_if(faithful, std::back_inserter(complete), [&](size_t e) { return advice_.entries[e].complete; });
    const std::vector<size_t>& first = complete.empty() ? faithful : complete;
    advice_.overall = recommendation(within_tie(first, criterion, false), criterion);
    advice_.faithfulness = recommendation(within_tie(faithful, criterion, true), criterion);
    add_gain(faithful, *advice_.faithfulness);
    for (auto [role, made] : {std::pair(CriterionRole::stability, &advice_.stability),
                              std::pair(CriterionRole::simplicity, &advice_.simplicity)}) {
      const auto other = ranked(role);
      if (!other) continue;
      const std::vector<size_t> candidates = faithful_of(with_signs(*other));
      if (candidates.empty()) continue;
      *made = recommendation(best_for_aim(candidates, *other), *other);
      add_gain(candidates, **made);
    }
    advice_.drivers = drivers_of(study_.entries[advice_.overall->entry]);
  }

  // candidates: faithful ones, best first. The aggregate is the one that is recommended, or else the best.
  void add_gain(const std::vector<size_t>& candidates, const Recommendation& made) {
    const auto is_aggregate = [&](size_t e) { return study_.entries[e].aggregate(); };
    const auto best = std::ranges::find_if(candidates, is_aggregate);
    const auto method = std::ranges::find_if_not(candidates, is_aggregate);
    if (best == candidates.end() || method == candidates.end()) return;
    const size_t aggregate = is_aggregate(made.entry) ? made.entry : *best;
    const auto found = compared_[made.criterion].between(aggregate, *method);
    advice_.gains.push_back({aggregate, *method, made.criterion, found.mean, found.interval});
  }

  const Study& study_;
  std::span<const CriterionComparison> compared_;
  Advice advice_;
};

}  // namespace

std::string_view faithful_name(Faithful state) {
  switch (state) {
    case Faithful::yes: return "yes";
    case Faithful::no: return "no";
    case Faithful::undecided: return "undecided";
    case Faithful::unknown: break;
  }
  return "unknown";
}

std::vector<Driver> drivers_of(const StudyEntry& entry) {
  const Explanations& made = entry.explanations;
  std::vector<Driver> drivers;
  double total = 0;
  for (size_t p = 0; p < made.players(); ++p) {
    Driver driver{.player = p};
    RunningMoments sizes;
    for (size_t r = 0; r < made.rows(); ++r) {
      const double value = made.values.row(r)[p];
      if (!std::isfinite(value)) continue;
      sizes.add(std::fabs(value));
      driver.size += std::fabs(value);
      driver.mean += value;
    }
    const double rows = static_cast<double>(std::max<size_t>(sizes.count(), 1));
    driver.size /= rows;
    driver.mean /= rows;
    driver.interval = size_interval(sizes);
    if (p < entry.trends.size()) driver.trend = entry.trends[p];
    total += driver.size;
    drivers.push_back(driver);
  }
  for (Driver& driver : drivers) driver.share = total > 0 ? driver.size / total : 0;
  std::ranges::stable_sort(drivers, std::greater<>(), &Driver::size);
  return drivers;
}

Interval size_interval(const RunningMoments& sizes) {
  if (sizes.count() < 2) return {NAN, NAN};
  const double half = student_t_quantile(0.975, static_cast<double>(sizes.count() - 1)) * sizes.standard_error();
  return {std::max(0.0, sizes.mean() - half), sizes.mean() + half};
}

bool same_directions(const Explanations& a, const Explanations& b) {
  if (a.rows() != b.rows() || a.players() != b.players() || a.rows() == 0) return false;
  for (size_t r = 0; r < a.rows(); ++r) {
    if (!same_direction(a.values.row(r), b.values.row(r))) return false;
  }
  return true;
}

std::vector<EntryAdvice> describe_entries(const Study& study) {
  std::vector<EntryAdvice> advice;
  for (const StudyEntry& entry : study.entries) {
    const Explanations& made = entry.explanations;
    EntryAdvice one{.alias_of = advice.size()};
    one.complete = adds_up(made);
    one.exact = !has_sampling_error(made);
    one.has_signs = has_signs(made);
    one.shapley = has_shapley_values(entry);
    one.evaluations = made.evaluations;
    for (const std::string& name : made.combination.members) {
      const auto member = std::ranges::find(study.entries, name, &StudyEntry::name);
      if (member == study.entries.end()) continue;
      one.evaluations += member->explanations.evaluations;
      one.exact = one.exact && !has_sampling_error(member->explanations);
    }
    advice.push_back(one);
  }
  find_aliases(study, advice);
  return advice;
}

Advice advise(const Study& study, std::vector<EntryAdvice> entries, std::span<const CriterionComparison> compared) {
  return Adviser(study, std::move(entries), compared).make();
}

std::vector<size_t> aliases_of(const Advice& advice, size_t entry) {
  std::vector<size_t> found;
  for (size_t e = 0; e < advice.entries.size(); ++e) {
    if (e != entry && advice.entries[e].alias_of == entry) found.push_back(e);
  }
  return found;
}

}  // namespace assay
