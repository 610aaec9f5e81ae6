// Separability: whether different rows get different explanations (Bhatt, Weller, Moura 2020, appendix),
//   mean over pairs of distinct rows x, z of D(g(x), g(z)),   D = l0 by default: the players that differ at all.
// A row's score is the mean over its partners, the other rows. Rows are distinct when their inputs differ; where the
// inputs are not known, every two rows are.
//
// All other rows are partners if there are at most `partners` of them. Otherwise `partners` are drawn for each row,
// with replacement, and each score has its standard error. Rows that share inputs have fewer partners than others; the
// mean weighs rows equally, not pairs. Pairs are not independent, since each row is in many. The mean over rows is a
// U-statistic, and its standard error is the jackknife's (Hajek projection),
//   Var = 4 (n - 1) / (n (n - 2)^2) x sum over rows of (score - mean)^2, about 4 / n times the variance of the scores,
// If partners are sampled, the variance that this adds to the scores is subtracted, and that of the mean is added.
// Undefined for a row without a partner. One pair of rows has no standard error.
// Cost: none; rows x min(rows, partners) distances.
// Deviation from the paper: none where all pairs are formed; else sampled partners.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

constexpr std::string_view kNoPartner = "no other row to compare with";
constexpr std::string_view kNoDistance = "no distance to any other row is defined";
constexpr std::string_view kSeparability = "separability";
constexpr size_t kComparedRowsAtATime = 16;

// The same number for rows of equal inputs; -0 is 0, and a missing value equals itself.
std::vector<uint32_t> kinds_of_rows(const Matrix& x) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v + 0.0F); };
  std::vector<uint32_t> order(x.rows());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](uint32_t a, uint32_t b) {
    return std::ranges::lexicographical_compare(x.row(a), x.row(b), {}, bits, bits);
  };
  std::ranges::sort(order, before);
  std::vector<uint32_t> kinds(x.rows());
  uint32_t kind = 0;
  for (size_t i = 0; i < order.size(); i++) {
    if (i > 0 && before(order[i - 1], order[i])) kind++;
    kinds[order[i]] = kind;
  }
  return kinds;
}

double distance_of(ExplanationDistance distance, std::span<const float> a, std::span<const float> b) {
  if (distance != ExplanationDistance::l0) return distance_between(distance, a, b);
  // Whole numbers, so that the loop is one of vectors.
  uint32_t count = 0;
  for (size_t i = 0; i < a.size(); i++) count += a[i] != b[i] ? 1 : 0;
  return count;
}

// Where inputs are not known, every row is of its own kind.
std::vector<uint32_t> kinds_of_rows(size_t rows) {
  std::vector<uint32_t> kinds(rows);
  std::iota(kinds.begin(), kinds.end(), 0U);
  return kinds;
}

struct SeparatedRows {
  Matrix values;
  std::vector<uint8_t> usable;  // whether all attributions of a row are numbers
  std::vector<uint32_t> kinds;  // of the rows' inputs
  ExplanationDistance distance;
  size_t partners;
  bool sampled;
  std::vector<uint32_t> by_kind = {};  // usable rows, those of one kind side by side
  std::vector<uint32_t> first = {};    // of each kind in by_kind, and the end

  bool distinct(size_t a, size_t b) const { return usable[b] != 0 && kinds[a] != kinds[b]; }
  void order_by_kind();
};

void SeparatedRows::order_by_kind() {
  first.assign(size_t{std::ranges::max(kinds)} + 2, 0);
  for (size_t r = 0; r < kinds.size(); r++) first[kinds[r] + 1] += usable[r];
  std::partial_sum(first.begin(), first.end(), first.begin());
  by_kind.resize(first.back());
  std::vector<uint32_t> next = first;
  for (size_t r = 0; r < kinds.size(); r++) {
    if (usable[r] != 0) by_kind[next[kinds[r]]++] = static_cast<uint32_t>(r);
  }
}

struct RowResult {
  RunningMoments moments;
  bool met_anyone = false;
};

RowResult compare_row(const SeparatedRows& all, size_t row, uint64_t seed) {
  RowResult result;
  const auto meet = [&](size_t other) {
    if (!all.distinct(row, other)) return;
    result.met_anyone = true;
    const double apart = distance_of(all.distance, all.values.row(row), all.values.row(other));
    if (!std::isnan(apart)) result.moments.add(apart);
  };
  if (!all.sampled) {
    for (size_t other = 0; other < all.values.rows(); other++) meet(other);
    return result;
  }
  RandomStream stream(seed, kSeparability, row);
  // Rows of its own kind are one stretch, to be left out.
  const uint32_t begin = all.first[all.kinds[row]];
  const uint32_t own = all.first[all.kinds[row] + 1] - begin;
  const auto others = static_cast<uint32_t>(all.by_kind.size()) - own;
  for (size_t k = 0; others > 0 && k < all.partners; k++) {
    const uint32_t place = stream.below(others);
    meet(all.by_kind[place < begin ? place : place + own]);
  }
  return result;
}

// Standard error of the mean over rows; NaN for fewer than three of them.
double error_of_mean(const Scores& scores) {
  RunningMoments values;
  double own = 0;  // sum of the rows' sampling variances
  for (size_t r = 0; r < scores.values.size(); r++) {
    if (std::isnan(scores.values[r])) continue;
    values.add(scores.values[r]);
    if (!scores.standard_error.empty() && !std::isnan(scores.standard_error[r])) {
      own += scores.standard_error[r] * scores.standard_error[r];
    }
  }
  if (values.count() < 3) return NAN;
  const auto n = static_cast<double>(values.count());
  const double of_rows = std::max(0.0, values.variance() - own / n);
  return std::sqrt(4 * (n - 1) * (n - 1) / (n * (n - 2) * (n - 2)) * of_rows + own / (n * n));
}

struct SeparabilityOptions {
  ComparisonOptions comparison = {.distance = "l0"};
  int64_t partners = 500;

  void describe(OptionVisitor& visit) {
    comparison.describe(visit);
    visit.integer("partners", partners, "rows that each row is compared with: all others, or so many drawn", "rows", 2,
                  1'000'000);
  }
};

void score_separability(const EvaluateTask& task, const SeparabilityOptions& options, Scores& scores,
                        const Context& context) {
  const size_t rows = task.rows();
  SeparatedRows all{.values = prepared(task.explanations.values.view(), options.comparison),
                    .usable = std::vector<uint8_t>(rows),
                    .kinds = task.subject.rows != nullptr ? kinds_of_rows(task.subject.rows->x) : kinds_of_rows(rows),
                    .distance = explanation_distance(options.comparison.distance),
                    .partners = static_cast<size_t>(options.partners),
                    .sampled = rows > static_cast<size_t>(options.partners) + 1};
  for (size_t r = 0; r < rows; r++) all.usable[r] = all_finite(task.explanations.values.row(r)) ? 1 : 0;
  if (all.sampled) {
    all.order_by_kind();
    scores.standard_error.assign(rows, NAN);
  }
  std::vector<uint8_t> met_anyone(rows);
  parallel_blocks(
      context, rows, kComparedRowsAtATime,
      [&](const Block& block) {
        for (size_t r = block.begin; r < block.end; r++) {
          if (all.usable[r] == 0) continue;
          const RowResult result = compare_row(all, r, context.seed);
          met_anyone[r] = result.met_anyone ? 1 : 0;
          scores.values[r] = result.moments.mean();
          if (all.sampled) scores.standard_error[r] = result.moments.standard_error();
        }
      },
      kSeparability);
  UndefinedCounts undefined;
  for (size_t r = 0; r < rows; r++) {
    if (!std::isnan(scores.values[r])) continue;
    undefined.add(all.usable[r] == 0 ? kNotFinite : met_anyone[r] != 0 ? kNoDistance : kNoPartner);
  }
  scores.undefined = undefined.take();
  scores.dependent = true;
  scores.mean_error = error_of_mean(scores);
  if (all.sampled) {
    scores.notes.push_back(
        fmt::format("each row is compared with {} rows of other inputs, drawn by the seed", all.partners));
  }
  if (std::isnan(scores.mean_error)) {
    scores.notes.emplace_back("fewer than three rows are comparable: the mean has no standard error");
  }
}

}  // namespace

CriterionInfo separability_criterion() {
  return with_criterion_options<ScoredBy<score_separability>>(
      {.name = "separability",
       .title = "How much explanations of different rows differ",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "none; rows x min(rows, partners) distances",
       .direction = Direction::higher,
       .range = "0 to d for l0",
       .sampled = true,
       .of_paper = true,
       .scale_dependent = &distance_has_scale});
}

}  // namespace assay
