// Perturbs the explained rows and explains the perturbed rows, in large batches.
//
// Draw s moves every row by the same noise, which depends only on the seed, the criterion and s. So the score of a row
// does not depend on other rows. A perturbed row keeps the target of its original.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// A reason that several of these criteria give.
inline constexpr std::string_view kNothingMoves = "no column has a deviation to be moved by";

// The option for the unit of the noise.
struct NoiseUnit {
  std::string space = "scaled";

  void describe(OptionVisitor& visit) {
    visit.choice("space", space, "sizes in deviations of each column over the pool, or in the column's own unit",
                 {"scaled", "raw"});
  }
};

// For Criterion::refuses: refuses space "scaled" where no deviations are known.
std::optional<Refusal> refuses_unit(const EvaluateTask& task, const std::string& space);
// By column: its standard deviation over the pool, or 1 for "raw"; 0 for categories, which are never moved. The task
// must not have been refused.
std::vector<float> column_units(const EvaluateTask& task, const std::string& space);

// Writes row x, moved by this draw, to y.
using Perturb = std::function<void(size_t draw, size_t row, std::span<const float> x, std::span<float> y)>;

// y = x + size * unit * u; u is drawn for each column, uniform in [-1, 1] or standard normal.
enum class NoiseShape { uniform, normal };
Perturb make_noise(NoiseShape shape, double size, std::vector<float> units, size_t samples, uint64_t seed,
                   std::string_view purpose);

// One moved row, explained again.
struct PerturbedRow {
  size_t row = 0;
  size_t draw = 0;
  std::span<const float> point;    // the moved row
  std::span<const float> values;   // its attributions; NaN where the model or the method gives no number
  std::span<const float> outputs;  // of the model at `point`, if asked for
};

// take() gets all draws of a row in order, one at a time. Different rows may come from several threads at once.
void explain_perturbed(const EvaluateTask& task, size_t samples, const Perturb& perturb, bool with_outputs,
                       const std::function<void(const PerturbedRow&)>& take, uint64_t& evaluations,
                       const Context& context, std::string_view name);

}  // namespace assay
