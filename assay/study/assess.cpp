#include "assay/study/assess.h"

#include <algorithm>
#include <span>
#include <utility>

#include "assay/core/statistics.h"
#include "assay/study/comparisons.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

bool by_independent_rows(const Scores& scores) { return scores.of_rows && !scores.dependent; }

size_t count_of_defined(const Scores& scores) {
  return static_cast<size_t>(std::ranges::count_if(scores.values, [](double v) { return !std::isnan(v); }));
}

// Two-sided p-value of difference / error, by Student's t. degrees INFINITY: by the normal distribution.
double p_of(double difference, double error, double degrees) {
  if (std::isnan(error)) return NAN;
  if (error == 0) return 0;  // a constant difference, as in paired_t_test
  const double size = std::fabs(difference / error);
  return std::isfinite(degrees) ? 2 * student_t_cdf(-size, degrees) : std::erfc(size / std::sqrt(2.0));
}

// Degrees of freedom if both are values of runs, which are few. INFINITY otherwise: dependent values have an error of
// their own, and no count of independent values.
double welch_degrees(const Scores& first, const Scores& second) {
  if (first.of_rows || second.of_rows || first.dependent || second.dependent) return INFINITY;
  const double a = first.mean_error * first.mean_error;
  const double b = second.mean_error * second.mean_error;
  if (!(a + b > 0)) return INFINITY;
  const auto spare = [](const Scores& scores) { return static_cast<double>(count_of_defined(scores)) - 1; };
  const double below = (a > 0 ? a * a / spare(first) : 0) + (b > 0 ? b * b / spare(second) : 0);
  return (a + b) * (a + b) / below;
}

// Entries of one direction may still differ by a criterion that measures their size: then each speaks for itself.
constexpr double kSameScore = 1e-4;  // relatively

// The entry that speaks for `entry` by this criterion.
size_t voice_by(const Study& study, size_t criterion, std::span<const EntryAdvice> voices, size_t entry) {
  const size_t speaker = voices[entry].alias_of;
  const double own = study.entries[entry].scores[criterion].mean;
  const double other = study.entries[speaker].scores[criterion].mean;
  const bool same = std::fabs(own - other) <= kSameScore * std::max(std::fabs(own), std::fabs(other));
  return same ? speaker : entry;
}

CriterionRanking ranking_of(const Study& study, const CriterionComparison& compared, size_t criterion,
                            std::span<const EntryAdvice> voices) {
  CriterionRanking ranking;
  ranking.criterion = criterion;
  if (study.directions[criterion] == Direction::neither) return ranking;
  const double sign = direction_sign(study.directions[criterion]);
  const auto scores = [&](size_t entry) -> const Scores& { return study.entries[entry].scores[criterion]; };
  const size_t count = study.entries.size();
  for (size_t e = 0; e < count; ++e) {
    if (std::isfinite(scores(e).mean)) ranking.order.push_back(e);
  }
  if (ranking.order.empty()) return ranking;
  std::ranges::stable_sort(ranking.order,
                           [&](size_t a, size_t b) { return sign * scores(a).mean > sign * scores(b).mean; });
  ranking.ranks = true;
  ranking.standing.assign(count, Standing::undefined);

  const auto voice_of = [&](size_t e) { return voice_by(study, criterion, voices, e); };
  const size_t first = voice_of(ranking.order[0]);
  ranking.behind.assign(count, NAN);
  ranking.behind_interval.assign(count, {NAN, NAN});
  std::vector<size_t> others;
  for (const size_t e : ranking.order) {
    const size_t voice = voice_of(e);
    if (voice == first) continue;
    others.push_back(e);
    const CriterionComparison::Difference found = compared.between(first, voice);
    ranking.behind[e] = found.mean;
    ranking.behind_interval[e] = found.interval;
    ranking.standing[e] = compared.better(first, voice) ? Standing::worse : Standing::tied;
    if (-found.mean > found.error) ranking.ahead_on_common_rows.push_back(e);
  }
  const bool alone =
      !others.empty() && std::ranges::all_of(others, [&](size_t e) { return ranking.standing[e] == Standing::worse; });
  for (const size_t e : ranking.order) {
    if (voice_of(e) == first) ranking.standing[e] = alone ? Standing::best : Standing::tied;
  }
  return ranking;
}

// Who is compared by this criterion: entries that speak for themselves by it and have a finite mean, best first.
CriterionComparison compared_by(const Study& study, size_t criterion, std::span<const EntryAdvice> voices,
                                const Context& context) {
  std::vector<size_t> entries;
  const auto mean = [&](size_t e) {
    return direction_sign(study.directions[criterion]) * study.entries[e].scores[criterion].mean;
  };
  if (study.directions[criterion] != Direction::neither) {
    for (size_t e = 0; e < study.entries.size(); ++e) {
      if (std::isfinite(mean(e)) && voice_by(study, criterion, voices, e) == e) entries.push_back(e);
    }
  }
  std::ranges::stable_sort(entries, [&](size_t a, size_t b) { return mean(a) > mean(b); });
  return {study, criterion, std::move(entries), context};
}

void find_dominated(const Study& study, Assessment& assessment) {
  const size_t count = study.entries.size();
  assessment.dominated.assign(count, false);
  assessment.dominated_by.resize(count);
  for (size_t e = 0; e < count; ++e) assessment.dominated_by[e] = e;
  const std::vector<size_t> aims = ranked_aims(study, assessment.rankings);
  if (aims.size() < 2) return;
  const auto value = [&](size_t entry, size_t aim) {
    return direction_sign(study.directions[aim]) * study.entries[entry].scores[aim].mean;
  };
  const auto has_all = [&](size_t entry) {
    return std::ranges::all_of(aims, [&](size_t aim) { return std::isfinite(value(entry, aim)); });
  };
  const auto above_somewhere = [&](size_t a, size_t b) {
    return std::ranges::any_of(aims, [&](size_t aim) { return above_rounding(value(a, aim), value(b, aim)); });
  };
  for (size_t e = 0; e < count; ++e) {
    if (!has_all(e)) continue;
    for (size_t other = 0; other < count && !assessment.dominated[e]; ++other) {
      if (!has_all(other) || above_somewhere(e, other) || !above_somewhere(other, e)) continue;
      assessment.dominated[e] = true;
      assessment.dominated_by[e] = other;
    }
  }
}

}  // namespace

std::string_view standing_name(Standing standing) {
  switch (standing) {
    case Standing::best: return "best";
    case Standing::tied: return "tied";
    case Standing::worse: return "worse";
    case Standing::undefined: break;
  }
  return "undefined";
}

EntryComparison entry_comparison(const Scores& first, const Scores& second) {
  EntryComparison made;
  made.paired =
      by_independent_rows(first) && by_independent_rows(second) && first.values.size() == second.values.size();
  double degrees = INFINITY;
  if (made.paired) {
    const PairedTest test = paired_t_test(first.values, second.values);
    made.difference = test.mean_difference;
    if (test.pairs < 2) return made;  // one pair has no error
    made.error = std::hypot(test.standard_error, std::hypot(first.shared_error, second.shared_error));
    degrees = static_cast<double>(test.pairs - 1);
  } else {
    made.difference = first.mean - second.mean;
    made.error = std::hypot(first.mean_error, second.mean_error);
    degrees = welch_degrees(first, second);
  }
  made.degrees = degrees;
  const double rounding = kTieRounding * std::max(std::fabs(first.mean), std::fabs(second.mean));
  made.p_value = std::fabs(made.difference) <= rounding ? 1 : p_of(made.difference, made.error, degrees);
  return made;
}

Assessment assess(const Study& study, const Context& context) {
  Assessment assessment;
  std::vector<EntryAdvice> voices = describe_entries(study);
  std::vector<CriterionComparison> compared;
  compared.reserve(study.criteria.size());
  for (size_t c = 0; c < study.criteria.size(); ++c) {
    compared.push_back(compared_by(study, c, voices, context));
    assessment.rankings.push_back(ranking_of(study, compared[c], c, voices));
  }
  assessment.advice = advise(study, std::move(voices), compared);
  assessment.advice.next = next_steps(study, assessment.advice);
  find_dominated(study, assessment);
  assessment.verdict = verdict_sentences(study, assessment);
  assessment.warnings = warning_sentences(study, assessment);
  return assessment;
}

}  // namespace assay
