#include "assay/evaluate/density/surprise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/density/kernel_density.h"
#include "assay/evaluate/density/same_inputs.h"

namespace assay {
namespace {

constexpr size_t kSurprisesAtATime = 8;
// Numbers that a block looks at, unless one row needs more: cancelling must not wait long.
constexpr size_t kNumbersAtATime = size_t{1} << 24;
// Densities that differ by rounding alone, as those of equal explanations may, are equal.
constexpr double kSlack = 1e-11;

// The densities of the reference rows, each without itself.
class Surprise {
 public:
  Surprise(std::vector<double> densities, bool smoothed)
      : densities_(std::move(densities)), sorted_(densities_), smoothed_(smoothed) {
    std::ranges::sort(sorted_);
  }

  const std::vector<double>& densities() const { return densities_; }
  // I of a density; `self`: the reference rows that it is without.
  double of(double density, std::span<const size_t> self) const {
    const double limit = density + kSlack * (1 + std::abs(density));
    auto others = std::ranges::upper_bound(sorted_, limit) - sorted_.begin();
    // Sampled explanations of one row differ: not all of them need be below the limit.
    others -= std::ranges::count_if(self, [&](size_t i) { return densities_[i] <= limit; });
    const auto at_most = static_cast<double>(others);
    const auto count = static_cast<double>(sorted_.size());
    const auto own = static_cast<double>(self.size());
    const double share = smoothed_ ? (at_most + 0.5) / (count - own + 1) : (at_most + own) / count;
    return share < 1 ? -std::log(share) : 0.0;
  }

 private:
  std::vector<double> densities_;
  std::vector<double> sorted_;
  bool smoothed_;
};

// Which of the reference rows are the row itself.
class Selves {
 public:
  Selves(const ReferenceExplanations& reference, std::span<const size_t> reference_rows)
      : reference_(reference), rows_(reference_rows) {
    if (reference.inputs() != nullptr) copies_.emplace(reference.inputs()->x.view(), reference_rows);
  }

  std::vector<size_t> of_reference(size_t i) const {
    return copies_ ? copies_->of(reference_.inputs()->x.row(rows_[i])) : std::vector<size_t>{i};
  }
  std::vector<size_t> of_row(size_t row) const {
    if (copies_) return copies_->of(reference_.row_inputs()->x.row(row));
    if (!reference_.are_rows()) return {};
    const auto found = std::ranges::lower_bound(rows_, row);
    if (found == rows_.end() || *found != row) return {};
    return {static_cast<size_t>(found - rows_.begin())};
  }

 private:
  const ReferenceExplanations& reference_;
  std::span<const size_t> rows_;  // ascending
  std::optional<SameInputs> copies_ = {};
};

}  // namespace

ReferenceExplanations::ReferenceExplanations(const EvaluateTask& task)
    : explanations_(task.explanations), pool_(task.pool_explanations) {
  const Dataset* inputs = are_rows() ? task.subject.rows : task.subject.pool;
  if (task.subject.rows == nullptr || inputs == nullptr || inputs->rows() != rows()) return;
  row_inputs_ = task.subject.rows;
  inputs_ = inputs;
}

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

size_t score_conviction(const Explanations& explanations, std::span<const size_t> rows,
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
  const auto without_score = [&](std::string_view reason) {
    undefined.add(reason, usable.size());
    return size_t{0};
  };
  if (reference_rows.size() < 2) return without_score(kTooFewReferences);
  const MatrixView<const float> reference_values = reference.values();
  const KernelDensity density(reference_values, reference_rows);
  if (density.coordinates() == 0) return without_score(kSameReferences);
  const Selves selves(reference, reference_rows);
  if (selves.of_reference(0).size() == reference_rows.size()) return without_score(kSameInputs);
  const size_t block_rows =
      std::clamp<size_t>(kNumbersAtATime / (reference_rows.size() * density.coordinates()), 1, kSurprisesAtATime);
  std::vector<double> densities(reference_rows.size());
  parallel_blocks(
      context, densities.size(), block_rows,
      [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          densities[i] = density.log_density(reference_values.row(reference_rows[i]), selves.of_reference(i));
        }
      },
      fmt::format("{}: references", task_name));
  const Surprise surprise(std::move(densities), options.share == "smoothed");
  RunningMoments expected;
  for (size_t i = 0; i < reference_rows.size(); i++) {
    expected.add(surprise.of(surprise.densities()[i], selves.of_reference(i)));
  }
  std::vector<uint8_t> among(usable.size(), 0);
  parallel_blocks(
      context, usable.size(), block_rows,
      [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          const size_t row = usable[i];
          const std::vector<size_t> self = selves.of_row(row);
          among[i] = self.empty() ? 0 : 1;
          const double here = density.log_density(explanations.values.row(row), self);
          values[row] = expected.mean() / surprise.of(here, self);
        }
      },
      task_name);
  for (const size_t row : usable) {
    if (std::isnan(values[row])) undefined.add(kNoSurprise);
  }
  return static_cast<size_t>(std::ranges::count(among, uint8_t{1}));
}

void note_own_references(const ReferenceExplanations& reference, size_t among, Scores& scores) {
  if (reference.are_rows() || among == 0) return;
  scores.notes.push_back(fmt::format(
      "{} of the rows are among those that they are held against; each is held against those of other inputs alone",
      among));
}

void add_median(Scores& scores) {
  std::vector<double> copy = scores.values;
  const double median = quantile(copy, 0.5);
  scores.tables.push_back({.name = "median", .columns = {"median"}, .rows = {{median}}});
}

}  // namespace assay
