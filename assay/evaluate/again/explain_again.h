// The explainer, asked again: the same rows with other random streams or another model, or rows beside them.
//
// Where nothing says otherwise the method draws from the seed that the explanations were made with. So a sampled method
// differs only by what the criterion changed, not by its own noise.
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
#include "assay/core/matrix.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// Reasons that several of these criteria give.
inline constexpr std::string_view kAgainNotFinite = "explained again, the attributions are not all numbers";

// For Criterion::refuses: the method's own reason, or the reference that it lacks.
std::optional<Refusal> refuses_again(const EvaluateTask& task);

// The reference of the task, or one without rows for methods that use none.
const Reference& reference_or_none(const EvaluateTask& task);

// What of the task is not as it was.
struct Again {
  const Model* model = nullptr;          // null: the task's
  const Reference* reference = nullptr;  // null: the task's
  std::optional<uint64_t> seed = {};     // nothing: the one the explanations were made with
};

// For identity: a seed that is not method_seed.
uint64_t fresh_seed(uint64_t seed, uint64_t method_seed);

// Attributions of rows: `row_of[i]` is the explained row whose target row i has. A row for which the model gives no
// number gets NaN. Adds to `evaluations`.
Matrix explain_rows_again(const EvaluateTask& task, const Again& again, MatrixView<const float> rows,
                          std::span<const size_t> row_of, uint64_t& evaluations, const Context& context);

// All explained rows, changed by change(row) where there is a change; take(row, values) sees the attributions of each
// row, from several threads at once. In parts of bounded memory.
void explain_all_again(const EvaluateTask& task, const Again& again,
                       const std::function<void(std::span<float> row)>& change,
                       const std::function<void(size_t row, std::span<const float> values)>& take,
                       uint64_t& evaluations, const Context& context, std::string_view name);

// Rows of this many columns that are explained in one call: many, because methods prepare for each call.
size_t rows_per_call(const EvaluateTask& task);

}  // namespace assay
