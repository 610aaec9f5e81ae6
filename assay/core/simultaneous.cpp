#include "assay/core/simultaneous.h"

#include <algorithm>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/core/random.h"

namespace assay {
namespace {

constexpr size_t kDrawsPerTask = 16;
constexpr double kFewRows = 5;

// All pairs of columns: differences by row, row after row, 0 where one of the two is undefined.
struct PairTable {
  size_t rows = 0;
  size_t pairs = 0;
  std::vector<double> difference;
  std::vector<double> defined;  // 1 or 0, like `difference`; empty if all scores are defined

  double count_in(size_t row, size_t pair) const { return defined.empty() ? 1 : defined[row * pairs + pair]; }
};

PairTable pair_table(std::span<const std::span<const double>> columns) {
  PairTable table;
  table.rows = columns.empty() ? 0 : columns[0].size();
  table.pairs = columns.size() * (columns.size() - std::min<size_t>(1, columns.size())) / 2;
  table.difference.reserve(table.rows * table.pairs);
  const bool all = std::ranges::all_of(columns, [](std::span<const double> column) {
    return std::ranges::all_of(column, [](double v) { return std::isfinite(v); });
  });
  for (size_t r = 0; r < table.rows; ++r) {
    for (size_t i = 0; i < columns.size(); ++i) {
      for (size_t j = i + 1; j < columns.size(); ++j) {
        const double apart = columns[i][r] - columns[j][r];
        table.difference.push_back(std::isfinite(apart) ? apart : 0);
        if (!all) table.defined.push_back(std::isfinite(apart) ? 1 : 0);
      }
    }
  }
  return table;
}

// Sums over a sample of the rows, by pair.
struct PairSums {
  std::vector<double> count, sum, squares;
  explicit PairSums(size_t pairs) : count(pairs), sum(pairs), squares(pairs) {}

  // weights: how often each row is in the sample.
  void fill(const PairTable& table, std::span<const uint32_t> weights) {
    std::ranges::fill(count, 0);
    std::ranges::fill(sum, 0);
    std::ranges::fill(squares, 0);
    for (size_t r = 0; r < table.rows; ++r) {
      if (weights[r] == 0) continue;
      const double weight = weights[r];
      const double* apart = table.difference.data() + r * table.pairs;
      for (size_t p = 0; p < table.pairs; ++p) {
        sum[p] += weight * apart[p];
        squares[p] += weight * apart[p] * apart[p];
      }
      for (size_t p = 0; p < table.pairs; ++p) count[p] += weight * table.count_in(r, p);
    }
  }

  double mean(size_t pair) const { return sum[pair] / count[pair]; }
  double variance(size_t pair) const {
    const double n = count[pair];
    return n > 1 ? std::max(0.0, squares[pair] - sum[pair] * sum[pair] / n) / (n - 1) : 0;
  }
};

double floored_error(double variance, double floor, double rows) {
  return std::sqrt((variance + floor * floor) / rows);
}

// The largest studentised change of a pair's mean from the sample to one resample of its rows.
double largest_change(const PairTable& table, const PairSums& sample, double least_rows, double floor,
                      RandomStream stream, std::vector<uint32_t>& weights, PairSums& again) {
  std::ranges::fill(weights, 0);
  const auto rows = static_cast<uint32_t>(table.rows);
  for (size_t r = 0; r < table.rows; ++r) weights[stream.below(rows)]++;
  again.fill(table, weights);
  double largest = 0;
  for (size_t p = 0; p < table.pairs; ++p) {
    if (sample.count[p] < least_rows || again.count[p] < 1) continue;
    const double error = floored_error(again.variance(p), floor, again.count[p]);
    const double change = std::fabs(again.mean(p) - sample.mean(p));
    if (change > 0) largest = std::max(largest, change / error);
  }
  return largest;
}

// Bonferroni's critical value for so many pairs, by Student's distribution: no dependence between pairs asks for more.
double most_critical(double confidence, double pairs, double rows) {
  return student_t_quantile(1 - (1 - confidence) / 2 / pairs, rows - 1);
}

}  // namespace

size_t SimultaneousDifferences::place(size_t first, size_t second) const {
  return first * (2 * columns_ - first - 1) / 2 + (second - first - 1);
}

SimultaneousDifferences::Difference SimultaneousDifferences::between(size_t first, size_t second) const {
  if (first == second) return {.mean = 0, .error = 0, .rows = 0, .interval = {0, 0}};
  const size_t at = place(std::min(first, second), std::max(first, second));
  Difference made{
      .mean = first < second ? mean_[at] : -mean_[at], .error = error_[at], .shared = shared_[at], .rows = rows_[at]};
  const double half = critical_ * made.error;
  made.interval = {made.mean - half, made.mean + half};
  return made;
}

SimultaneousDifferences simultaneous_differences(std::span<const std::span<const double>> columns,
                                                 const SimultaneousOptions& options,
                                                 const std::function<double(size_t first, size_t second)>& shared_error,
                                                 const Context& context) {
  SimultaneousDifferences made;
  made.columns_ = columns.size();
  const PairTable table = pair_table(columns);
  const std::vector<uint32_t> once(table.rows, 1);
  PairSums sample(table.pairs);
  sample.fill(table, once);
  const double most_rows = sample.count.empty() ? 0 : *std::ranges::max_element(sample.count);
  const double least_rows = std::clamp(most_rows, 2.0, kFewRows);
  std::vector<double> largest(options.draws, 0);
  parallel_blocks(context.quiet(), options.draws, kDrawsPerTask, [&](const Block& block) {
    std::vector<uint32_t> weights(table.rows);
    PairSums again(table.pairs);
    for (size_t draw = block.begin; draw < block.end; ++draw) {
      const RandomStream stream(context.seed, "simultaneous", draw);
      largest[draw] = largest_change(table, sample, least_rows, options.floor, stream, weights, again);
    }
  });
  const bool some = most_rows >= least_rows;
  made.critical_ = some ? std::min(quantile(largest, options.confidence),
                                   most_critical(options.confidence, static_cast<double>(table.pairs), most_rows))
                        : NAN;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = i + 1; j < columns.size(); ++j) {
      const size_t p = made.place(i, j);
      made.rows_.push_back(static_cast<size_t>(sample.count[p]));
      made.mean_.push_back(sample.count[p] > 0 ? sample.mean(p) : NAN);
      const double error =
          sample.count[p] >= least_rows ? floored_error(sample.variance(p), options.floor, sample.count[p]) : NAN;
      made.shared_.push_back(shared_error ? shared_error(i, j) : 0);
      made.error_.push_back(std::hypot(error, made.shared_.back()));
    }
  }
  return made;
}

}  // namespace assay
