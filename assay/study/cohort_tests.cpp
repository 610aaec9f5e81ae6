#include "assay/study/cohort_tests.h"

#include <algorithm>
#include <vector>

#include "assay/study/comparisons.h"

namespace assay {
namespace {

// errors[i]: standard error of a mean of counts[i] values.
GroupTest difference_test(double first, double second, const double (&errors)[2], const size_t (&counts)[2],
                          double shared) {
  GroupTest made{.difference = first - second};
  if (!std::isfinite(made.difference) || counts[0] < 2 || counts[1] < 2) return made;
  const double a = errors[0] * errors[0];
  const double b = errors[1] * errors[1];
  made.error = std::sqrt(a + b + 2 * shared * shared);
  if (!std::isfinite(made.error)) return {.difference = made.difference};
  if (std::fabs(made.difference) <= kTieRounding * std::max(std::fabs(first), std::fabs(second))) {
    made.p_value = 1;
  } else if (made.error == 0) {
    made.p_value = 0;  // constants that differ, as in paired_t_test
  } else {
    const double below = a * a / static_cast<double>(counts[0] - 1) + b * b / static_cast<double>(counts[1] - 1);
    const double size = std::fabs(made.difference) / made.error;
    const double degrees = (a + b) * (a + b) / below;
    made.p_value = std::isfinite(degrees) ? 2 * student_t_cdf(-size, degrees) : std::erfc(size / std::sqrt(2.0));
  }
  return made;
}

}  // namespace

GroupTest welch_test(const RunningMoments& first, const RunningMoments& second, double shared) {
  return difference_test(first.mean(), second.mean(), {first.standard_error(), second.standard_error()},
                         {first.count(), second.count()}, shared);
}

GroupTest fisher_test(size_t first_successes, size_t first_count, size_t second_successes, size_t second_count) {
  GroupTest made;
  if (first_count == 0 || second_count == 0) return made;
  made.difference = static_cast<double>(first_successes) / static_cast<double>(first_count) -
                    static_cast<double>(second_successes) / static_cast<double>(second_count);
  const size_t successes = first_successes + second_successes;
  // Not by std::lgamma, which writes to a global.
  std::vector<double> log_factorial = {0};
  for (size_t i = 1; i <= std::max(first_count, second_count); i++) {
    log_factorial.push_back(log_factorial.back() + std::log(static_cast<double>(i)));
  }
  const auto log_choose = [&](size_t n, size_t k) {
    return log_factorial[n] - log_factorial[k] - log_factorial[n - k];
  };
  // Of the table with so many successes in the first group, up to what all tables share.
  const auto log_chance = [&](size_t in_first) {
    return log_choose(first_count, in_first) + log_choose(second_count, successes - in_first);
  };
  const double own = log_chance(first_successes);
  // Chances that are equal may differ by rounding.
  constexpr double kEqualChance = 1e-7;
  double as_unlikely = 0;
  double all = 0;
  const size_t least = successes > second_count ? successes - second_count : 0;
  for (size_t i = least; i <= std::min(successes, first_count); i++) {
    const double chance = std::exp(log_chance(i) - own);
    all += chance;
    if (chance <= 1 + kEqualChance) as_unlikely += chance;
  }
  // With very many rows and a very unlikely table, the others are infinitely likelier.
  made.p_value = std::isfinite(all) ? std::min(1.0, as_unlikely / all) : 0;
  return made;
}

Ratio ratio_of(std::span<const double> parts, std::span<const double> wholes) {
  Ratio made{.count = parts.size()};
  double part = 0;
  double whole = 0;
  for (size_t i = 0; i < parts.size(); i++) {
    part += parts[i];
    whole += wholes[i];
  }
  if (!(whole > 0) || !std::isfinite(whole)) return made;
  made.ratio = part / whole;
  const double mean = whole / static_cast<double>(parts.size());
  RunningMoments linear;
  for (size_t i = 0; i < parts.size(); i++) linear.add((parts[i] - made.ratio * wholes[i]) / mean);
  made.error = linear.standard_error();
  return made;
}

GroupTest ratio_test(const Ratio& first, const Ratio& second) {
  return difference_test(first.ratio, second.ratio, {first.error, second.error}, {first.count, second.count}, 0);
}

}  // namespace assay
