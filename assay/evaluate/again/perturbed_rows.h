// Rows beside the explained ones: perturbed, explained again, in large batches.
//
// Draw s moves every row by the same noise, which depends on the seed, the criterion and s alone: the scores of a row
// do not depend on the others. Targets stay those of the unmoved rows.
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

// In what the size of noise is measured.
struct NoiseUnit {
  std::string space = "scaled";

  void describe(OptionVisitor& visit) {
    visit.choice("space", space, "sizes in deviations of each column over the pool, or in the column's own unit",
                 {"scaled", "raw"});
  }
};

// For refuses: scaled, and no deviations are known.
std::optional<Refusal> refuses_unit(const EvaluateTask& task, const std::string& space);
// Of each column: its deviation over the pool or 1 for raw; 0 for categories, which stay as they are. The task was
// not refused.
std::vector<float> column_units(const EvaluateTask& task, const std::string& space);

// Writes row x, moved by draw s, to y.
using Perturb = std::function<void(size_t draw, size_t row, std::span<const float> x, std::span<float> y)>;

// x + size * unit * u with u uniform in [-1, 1] for each column, or standard normal.
enum class NoiseShape { uniform, normal };
Perturb make_noise(NoiseShape shape, double size, std::vector<float> units, size_t samples, uint64_t seed,
                   std::string_view purpose);

// One moved row, explained again.
struct PerturbedRow {
  size_t row = 0;
  size_t draw = 0;
  std::span<const float> point;
  std::span<const float> values;   // attributions; NaN where the model or the method gives no number
  std::span<const float> outputs;  // of the model, when asked for
};

// take() sees all draws of a row in order, from one thread at a time; different rows may come at once.
void explain_perturbed(const EvaluateTask& task, size_t samples, const Perturb& perturb, bool with_outputs,
                       const std::function<void(const PerturbedRow&)>& take, uint64_t& evaluations,
                       const Context& context, std::string_view name);

}  // namespace assay
