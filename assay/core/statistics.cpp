#include "assay/core/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "assay/core/random.h"

namespace assay {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// ln(Gamma(a + 1/2) / Gamma(a)). For large a the difference of two log-gammas would lose most of its digits, so there
// its asymptotic series (DLMF 5.11.13) stands in.
double log_gamma_half_step(double a) {
  // Not std::lgamma, which writes the sign to a global.
  int sign = 0;
  if (a < 50) return ::lgamma_r(a + 0.5, &sign) - ::lgamma_r(a, &sign);
  const double r = 1 / (a * a);
  return 0.5 * std::log(a) - (1.0 / 8 - r * (1.0 / 192 - r * (1.0 / 640 - r * 17.0 / 14336))) / a;
}

// Continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's algorithm; converges fast for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10000;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      step = c * d;
      fraction *= step;
    }
    if (std::fabs(step - 1) < 1e-15) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, 1/2), which is the two-sided tail of Student's t, given x and
// y = 1 - x separately, because neither follows from the other without losing digits.
double incomplete_beta_half(double a, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double log_x = y < 0.5 ? std::log1p(-y) : std::log(x);
  // 1 / B(a, 1/2) = Gamma(a + 1/2) / (Gamma(a) sqrt(pi))
  const double front = std::exp(log_gamma_half_step(a) + a * log_x) * std::sqrt(y / std::numbers::pi);
  if (x < (a + 1) / (a + 2.5)) return front * beta_fraction(a, 0.5, x) / a;
  return 1 - front * beta_fraction(0.5, a, y) / 0.5;
}

std::vector<double> defined_differences(std::span<const double> first, std::span<const double> second) {
  assert(first.size() == second.size());
  std::vector<double> differences;
  for (size_t i = 0; i < first.size(); ++i) {
    const double difference = first[i] - second[i];
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  return differences;
}

PairedTest summary_of(std::span<const double> differences) {
  RunningMoments moments;
  for (const double value : differences) moments.add(value);
  return {differences.size(), moments.mean(), moments.standard_error(), kUndefined};
}

}  // namespace

void RunningMoments::add(double value) {
  ++count_;
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (value - mean_);
}

void RunningMoments::merge(const RunningMoments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;  // the formula below would round
    return;
  }
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(other.count_);
  const double delta = other.mean_ - mean_;
  count_ += other.count_;
  mean_ += delta * m / (n + m);
  squares_ += other.squares_ + delta * delta * n * m / (n + m);
}

double RunningMoments::mean() const { return count_ > 0 ? mean_ : kUndefined; }

double RunningMoments::variance() const { return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) : kUndefined; }

double RunningMoments::standard_deviation() const { return std::sqrt(variance()); }

double RunningMoments::standard_error() const { return std::sqrt(variance() / static_cast<double>(count_)); }

void RunningCorrelation::add(double x, double y) {
  ++count_;
  const auto n = static_cast<double>(count_);
  const double delta_x = x - mean_x_;
  const double delta_y = y - mean_y_;
  mean_x_ += delta_x / n;
  mean_y_ += delta_y / n;
  squares_x_ += delta_x * (x - mean_x_);
  squares_y_ += delta_y * (y - mean_y_);
  products_ += delta_x * (y - mean_y_);
}

void RunningCorrelation::merge(const RunningCorrelation& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(other.count_);
  const double delta_x = other.mean_x_ - mean_x_;
  const double delta_y = other.mean_y_ - mean_y_;
  const double weight = n * m / (n + m);
  count_ += other.count_;
  mean_x_ += delta_x * m / (n + m);
  mean_y_ += delta_y * m / (n + m);
  squares_x_ += other.squares_x_ + delta_x * delta_x * weight;
  squares_y_ += other.squares_y_ + delta_y * delta_y * weight;
  products_ += other.products_ + delta_x * delta_y * weight;
}

double RunningCorrelation::correlation() const {
  // A side whose spread is only the rounding of its mean has no variance: its correlation would be noise.
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const auto n = static_cast<double>(count_);
  const auto constant = [&](double squares, double mean) {
    const double rounding = 4 * kEpsilon * mean;
    return !(squares > n * rounding * rounding);
  };
  if (count_ < 2 || constant(squares_x_, mean_x_) || constant(squares_y_, mean_y_)) return kUndefined;
  return std::clamp(products_ / (std::sqrt(squares_x_) * std::sqrt(squares_y_)), -1.0, 1.0);
}

double pearson(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size());
  RunningCorrelation running;
  for (size_t i = 0; i < x.size(); ++i) running.add(x[i], y[i]);
  return running.correlation();
}

double quantile(std::span<double> values, double q) {
  values = values.first(static_cast<size_t>(
      std::ranges::partition(values, [](double v) { return !std::isnan(v); }).begin() - values.begin()));
  if (values.empty() || !(q >= 0 && q <= 1)) return kUndefined;
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto nth = values.begin() + static_cast<ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0) return *nth;
  const double above = *std::min_element(nth + 1, values.end());
  if (*nth == above) return above;  // also two infinities, whose difference is undefined
  return *nth + fraction * (above - *nth);
}

namespace {

// What a bootstrap draws: one value, or the sum of several.
struct Group {
  double sum = 0;
  double values = 0;
};

std::vector<Group> grouped(std::span<const double> values, uint64_t seed) {
  constexpr size_t kMostGroups = 4096;
  std::vector<Group> groups(std::min(values.size(), kMostGroups));
  std::vector<uint32_t> order(values.size());
  if (values.size() > kMostGroups) {
    // Tables are often sorted: neighbours in one group would widen the interval, every 4096th would narrow it.
    RandomStream(seed, "bootstrap groups").permutation(order);
  } else {
    std::iota(order.begin(), order.end(), 0U);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    Group& group = groups[i % groups.size()];
    group.sum += values[order[i]];
    group.values += 1;
  }
  return groups;
}

}  // namespace

Interval bootstrap_mean(std::span<const double> values, double confidence, size_t draws, uint64_t seed) {
  std::vector<double> defined;
  std::ranges::copy_if(values, std::back_inserter(defined), [](double v) { return !std::isnan(v); });
  if (defined.empty() || draws == 0) return {kUndefined, kUndefined};
  const std::vector<Group> groups = grouped(defined, seed);
  const auto count = static_cast<uint32_t>(groups.size());
  std::vector<double> means(draws);
  for (size_t draw = 0; draw < draws; ++draw) {
    RandomStream random(seed, "bootstrap", 0, static_cast<uint32_t>(draw));
    Group total;
    for (size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[random.below(count)];
      total.sum += group.sum;
      total.values += group.values;
    }
    means[draw] = total.sum / total.values;
  }
  const double tail = (1 - confidence) / 2;
  return {quantile(means, tail), quantile(means, 1 - tail)};
}

PairedTest paired_t_test(std::span<const double> first, std::span<const double> second) {
  const auto differences = defined_differences(first, second);
  PairedTest test = summary_of(differences);
  if (differences.size() < 2) return test;
  if (test.standard_error == 0) {
    test.p_value = test.mean_difference == 0 ? 1 : 0;
  } else {
    const double t = -std::fabs(test.mean_difference / test.standard_error);
    test.p_value = 2 * student_t_cdf(t, static_cast<double>(differences.size() - 1));
  }
  return test;
}

PairedTest paired_permutation_test(std::span<const double> first, std::span<const double> second, size_t draws,
                                   uint64_t seed) {
  const auto differences = defined_differences(first, second);
  PairedTest test = summary_of(differences);
  const size_t n = differences.size();
  const bool finite = std::ranges::all_of(differences, [](double d) { return std::isfinite(d); });
  if (n == 0 || draws == 0 || !finite) return test;
  const double observed = std::fabs(std::accumulate(differences.begin(), differences.end(), 0.0));
  // Sums that are equal but for rounding count as equal.
  double magnitude = 0;
  for (const double d : differences) magnitude += std::fabs(d);
  const double bar = observed - 1e-12 * magnitude;
  const bool exact = n < 63 && (uint64_t{1} << n) <= draws;
  const uint64_t patterns = exact ? uint64_t{1} << n : draws;
  uint64_t extreme = 0;
  for (uint64_t pattern = 0; pattern < patterns; ++pattern) {
    RandomStream random(seed, "sign_flip", 0, static_cast<uint32_t>(pattern));
    uint64_t signs = pattern;
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      if (!exact && i % 64 == 0) signs = random.bits64();
      sum += (signs & 1) != 0 ? differences[i] : -differences[i];
      signs >>= 1;
    }
    if (std::fabs(sum) >= bar) ++extreme;
  }
  test.p_value = exact ? static_cast<double>(extreme) / static_cast<double>(patterns)
                       : static_cast<double>(extreme + 1) / static_cast<double>(patterns + 1);
  return test;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size(), kUndefined);
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, p_values[order[rank]] * static_cast<double>(order.size() - rank)));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

double student_t_cdf(double t, double degrees) {
  if (std::isnan(t) || !(degrees > 0)) return kUndefined;
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  const double sum = degrees + t * t;
  const double tail = 0.5 * incomplete_beta_half(degrees / 2, degrees / sum, t * t / sum);
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double probability, double degrees) {
  double low = 0;
  double high = 1;
  while (student_t_cdf(high, degrees) < probability && high < 1e12) high *= 2;
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (student_t_cdf(middle, degrees) < probability ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace assay
