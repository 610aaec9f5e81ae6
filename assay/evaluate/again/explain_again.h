// Explains again for criteria that compare explanations: the same rows with another seed or model, or changed rows.
//
// By default the method uses the seed that the explanations were made with. So the result of a sampled method differs
// only by what the criterion changed, not by sampling noise.
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

// A reason that several of these criteria give.
inline constexpr std::string_view kAgainNotFinite = "explained again, the attributions are not all numbers";

// For Criterion::refuses: why the method cannot explain again, by its own refusal or because it lacks a reference.
std::optional<Refusal> refuses_again(const EvaluateTask& task);

// The reference of the task, or one without rows if the task has none.
const Reference& reference_or_none(const EvaluateTask& task);

// What differs from how the explanations were made.
struct Changes {
  const Model* model = nullptr;          // null: the task's
  const Reference* reference = nullptr;  // null: the task's
  std::optional<uint64_t> seed = {};     // nothing: the one the explanations were made with
};

// A new seed for the criterion "identity", never method_seed itself.
uint64_t fresh_seed(uint64_t seed, uint64_t method_seed);

// Attributions of `rows`. Row i gets the target of explained row row_of[i]. A row for which the model gives no number
// gets NaN. Adds the model evaluations to `evaluations`.
Matrix explain_rows_again(const EvaluateTask& task, const Changes& changes, MatrixView<const float> rows,
                          std::span<const size_t> row_of, uint64_t& evaluations, const Context& context);

// Explains all explained rows again, in parts of bounded memory. change(row), if not empty, changes each row first.
// take(row, values) gets the attributions of each row. Both are called from several threads at once.
void explain_all_again(const EvaluateTask& task, const Changes& changes,
                       const std::function<void(std::span<float> row)>& change,
                       const std::function<void(size_t row, std::span<const float> values)>& take,
                       uint64_t& evaluations, const Context& context, std::string_view name);

// How many rows to explain in one call of the method: many, because each call has a fixed cost.
size_t rows_per_call(const EvaluateTask& task);

}  // namespace assay
