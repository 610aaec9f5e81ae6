#include "assay/study/assess.h"

#include <algorithm>

#include "assay/core/statistics.h"
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

CriterionRanking ranking_of(const Study& study, size_t criterion) {
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

  const size_t first = ranking.order[0];
  std::vector<double> p_values(count, NAN);
  std::vector<bool> behind(count, false);  // worse than the first in the comparison
  for (const size_t e : ranking.order) {
    if (e == first) continue;
    const EntryComparison test = entry_comparison(scores(first), scores(e));
    p_values[e] = test.p_value;
    behind[e] = sign * test.difference > 0;
    if (sign * test.difference < 0 && std::fabs(test.difference) > test.error) {
      ranking.ahead_on_common_rows.push_back(e);
    }
  }
  // The first was chosen by the same data (see assess.h).
  const double choices = static_cast<double>(ranking.order.size()) / 2;
  for (double& p : p_values) {
    if (!std::isnan(p)) p = std::min(1.0, choices * p);
  }
  ranking.p_value = holm_adjusted(p_values);

  bool alone = ranking.order.size() > 1;
  for (const size_t e : ranking.order) {
    if (e == first) continue;
    const bool worse = behind[e] && ranking.p_value[e] < kSignificance;
    ranking.standing[e] = worse ? Standing::worse : Standing::tied;
    alone = alone && worse;
  }
  ranking.standing[first] = alone ? Standing::best : Standing::tied;
  return ranking;
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
  const double rounding = kTieRounding * std::max(std::fabs(first.mean), std::fabs(second.mean));
  made.p_value = std::fabs(made.difference) <= rounding ? 1 : p_of(made.difference, made.error, degrees);
  return made;
}

Assessment assess(const Study& study) {
  Assessment assessment;
  for (size_t c = 0; c < study.criteria.size(); ++c) assessment.rankings.push_back(ranking_of(study, c));
  find_dominated(study, assessment);
  assessment.verdict = verdict_sentences(study, assessment);
  assessment.warnings = warning_sentences(study, assessment);
  return assessment;
}

}  // namespace assay
