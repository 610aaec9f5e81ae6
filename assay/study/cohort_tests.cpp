#include "assay/study/cohort_tests.h"

#include <algorithm>
#include <utility>
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

// The square of Welch's t, from the sums of one part and of all values.
double squared_t(double sum, double squares, size_t count, double all_sum, double all_squares, size_t all_count) {
  const auto n = static_cast<double>(count);
  const auto m = static_cast<double>(all_count - count);
  const double mean = sum / n;
  const double other_mean = (all_sum - sum) / m;
  // Rounding may leave a negative rest.
  const double variance = std::max(0.0, squares - sum * mean) / (n - 1);
  const double other_variance = std::max(0.0, all_squares - squares - (all_sum - sum) * other_mean) / (m - 1);
  const double difference = (mean - other_mean) * (mean - other_mean);
  return difference == 0 ? 0 : difference / (variance / n + other_variance / m);
}

}  // namespace

double shuffled_p_value(std::span<const double> values, std::span<const uint8_t> in_group, RandomStream random) {
  constexpr size_t kShuffles = 19'999;
  constexpr size_t kEnough = 50;  // shuffles that do as much
  const size_t all = values.size();
  const auto in_first = static_cast<size_t>(std::ranges::count(in_group, uint8_t{1}));
  const size_t part = std::min(in_first, all - in_first);
  if (part < 2) return NAN;
  // Sums of squares lose few digits around the mean.
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(all);
  std::vector<double> centred(all);
  std::ranges::transform(values, centred.begin(), [&](double value) { return value - mean; });
  double all_sum = 0;
  double all_squares = 0;
  double sum = 0;
  double squares = 0;
  const uint8_t smaller = in_first == part ? 1 : 0;
  for (size_t i = 0; i < all; i++) {
    all_sum += centred[i];
    all_squares += centred[i] * centred[i];
    if (in_group[i] != smaller) continue;
    sum += centred[i];
    squares += centred[i] * centred[i];
  }
  // Equal up to rounding counts as much.
  const double found = squared_t(sum, squares, part, all_sum, all_squares, all) * (1 - 1e-9);
  size_t as_much = 0;
  for (size_t shuffle = 1; shuffle <= kShuffles; shuffle++) {
    sum = squares = 0;
    for (size_t i = 0; i < part; i++) {
      std::swap(centred[i], centred[i + random.below(static_cast<uint32_t>(all - i))]);
      sum += centred[i];
      squares += centred[i] * centred[i];
    }
    if (squared_t(sum, squares, part, all_sum, all_squares, all) < found) continue;
    if (++as_much == kEnough) return static_cast<double>(kEnough) / static_cast<double>(shuffle);
  }
  return static_cast<double>(as_much + 1) / static_cast<double>(kShuffles + 1);
}

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
