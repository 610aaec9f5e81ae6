#include "assay/evaluate/density/surprise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/density/kernel_density.h"

namespace assay {
namespace {

constexpr size_t kRowsAtATime = 8;
// Densities that differ by rounding alone, as those of equal explanations may, are equal.
constexpr double kSlack = 1e-11;

// I of a density among the sorted ones of the reference rows; `member`: whether it is one of them.
double surprise(const std::vector<double>& sorted, double density, bool member, bool smoothed) {
  const double limit = density + kSlack * (1 + std::abs(density));
  const auto at_most = static_cast<double>(std::ranges::upper_bound(sorted, limit) - sorted.begin());
  const auto count = static_cast<double>(sorted.size());
  const double self = member ? 1 : 0;
  const double share = smoothed ? (at_most - self + 0.5) / (count - self + 1) : at_most / count;
  return share < 1 ? -std::log(share) : 0.0;
}

}  // namespace

ReferenceExplanations::ReferenceExplanations(const EvaluateTask& task)
    : explanations_(task.explanations), pool_(task.pool_explanations) {}

MatrixView<const float> ReferenceExplanations::values() const {
  return pool_ != nullptr ? pool_->values() : explanations_.values.view();
}

std::vector<size_t> ReferenceExplanations::draw(std::span<const size_t> from, size_t most, std::string_view purpose,
                                                uint64_t draw, const Context& context) const {
  std::vector<size_t> drawn(from.begin(), from.end());
  if (from.size() > most) {
    std::vector<uint32_t> chosen(most);
    RandomStream(context.seed, purpose, draw).subset(static_cast<uint32_t>(from.size()), chosen);
    drawn.clear();
    for (const uint32_t i : chosen) drawn.push_back(from[i]);
  }
  if (pool_ != nullptr) pool_->need(drawn, context);
  std::erase_if(drawn, [&](size_t row) { return !all_finite(values().row(row)); });
  return drawn;
}

void score_conviction(const Explanations& explanations, std::span<const size_t> rows,
                      const ReferenceExplanations& reference, std::span<const size_t> reference_rows,
                      const SurpriseOptions& options, std::string_view task_name, std::vector<double>& values,
                      UndefinedCounts& undefined, const Context& context) {
  std::vector<size_t> usable;
  for (const size_t row : rows) {
    if (all_finite(explanations.values.row(row))) {
      usable.push_back(row);
    } else {
      undefined.add(kNotFinite);
    }
  }
  if (reference_rows.size() < 2) {
    undefined.add(kTooFewReferences, usable.size());
    return;
  }
  const MatrixView<const float> reference_values = reference.values();
  const KernelDensity density(reference_values, reference_rows);
  if (density.coordinates() == 0) {
    undefined.add(kSameReferences, usable.size());
    return;
  }
  const bool smoothed = options.share == "smoothed";
  std::vector<double> of_reference(reference_rows.size());
  parallel_blocks(context, of_reference.size(), kRowsAtATime, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      of_reference[i] = density.log_density(reference_values.row(reference_rows[i]), i);
    }
  });
  std::vector<double> sorted = of_reference;
  std::ranges::sort(sorted);
  RunningMoments expected;
  for (const double each : of_reference) expected.add(surprise(sorted, each, true, smoothed));
  parallel_blocks(
      context, usable.size(), kRowsAtATime,
      [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          const size_t row = usable[i];
          const auto found = std::ranges::lower_bound(reference_rows, row);
          const bool member = reference.are_rows() && found != reference_rows.end() && *found == row;
          const double here = member ? of_reference[static_cast<size_t>(found - reference_rows.begin())]
                                     : density.log_density(explanations.values.row(row));
          values[row] = expected.mean() / surprise(sorted, here, member, smoothed);
        }
      },
      task_name);
  for (const size_t row : usable) {
    if (std::isnan(values[row])) undefined.add(kNoSurprise);
  }
}

void add_median(Scores& scores) {
  std::vector<double> copy = scores.values;
  const double median = quantile(copy, 0.5);
  scores.tables.push_back({.name = "median", .columns = {"median"}, .rows = {{median}}});
}

}  // namespace assay
