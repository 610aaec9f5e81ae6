// What criteria share: the order of players by strength, distances between explanations, predicted classes, and
// predictions of rows that a criterion makes.
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
#include "assay/core/options.h"
#include "assay/evaluate/criterion.h"
#include "assay/model/model.h"

namespace assay {

// Rows that one thread fills or judges at a time.
inline constexpr size_t kRowsPerTask = 64;

// Reasons that several criteria give.
inline constexpr std::string_view kNotFinite = "attributions are not all numbers";
inline constexpr std::string_view kAllZero = "all attributions are 0";

bool all_finite(std::span<const float> values);
bool all_zero(std::span<const float> values);

// Counts the rows without a score by reason: all attributions are 0, or they are not all numbers.
void count_undefined(const Matrix& attributions, Scores& scores);

// Why a criterion that compares players cannot score this task; nothing when there are two players or more.
std::optional<Refusal> refuses_one_player(const EvaluateTask& task);
// Why a criterion of classes cannot score this task; nothing when the model has classes.
std::optional<Refusal> refuses_regression(const EvaluateTask& task);

// Players by decreasing |value|; ties by index.
std::vector<uint32_t> strongest_first(std::span<const float> values);
// Players by decreasing value; ties by index.
std::vector<uint32_t> largest_first(std::span<const float> values);

// Ranks 1 .. n of the values, ascending; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> values);

// The distance D between two explanations. l0 counts the players that differ at all. cosine is 1 - cosine similarity: 0
// if both are zero, undefined if one is. kendall is the share (0 to 1) of pairs of players that the two order
// differently by |value|; a pair tied in only one of them counts half.
enum class ExplanationDistance { l1, l2, l0, cosine, kendall };
const std::vector<std::string>& explanation_distance_names();
ExplanationDistance explanation_distance(std::string_view name);
double distance_between(ExplanationDistance distance, std::span<const float> a, std::span<const float> b);

// The options of every criterion that compares explanations.
struct ComparisonOptions {
  std::string distance = "l2";
  std::string normalise = "raw";

  void describe(OptionVisitor& visit) {
    visit.choice("distance", distance, "D, between two explanations", explanation_distance_names());
    visit.choice("normalise", normalise, "explanations as they are, or each scaled to unit l2 norm", {"raw", "unit"});
  }
};

// Scales each row to unit l2 norm; a zero row stays zero. Returns how many rows are zero.
size_t scale_to_unit_norm(MatrixView<float> rows);
// A copy of the values, scaled to unit norm if the options ask for it.
Matrix prepared(MatrixView<const float> values, const ComparisonOptions& options);

// The predicted class of each row; for a regression all rows are of one class.
std::vector<uint32_t> predicted_classes(const Model& model, MatrixView<const float> rows, const Context& context);

// Predicts `count` rows in batches of bounded memory: fill(i, row) writes row i, take(i, outputs) gets its outputs.
// Both may be called from several threads at once for different i; a black-box model itself is called on this thread.
// No result depends on the size of the batches.
void predict_made_rows(const Model& model, size_t count,
                       const std::function<void(size_t i, std::span<float> row)>& fill,
                       const std::function<void(size_t i, std::span<const float> outputs)>& take,
                       const Context& context, std::string_view task = {});

// row = x, with the columns of players that are not kept taken from the reference row. kept: one byte for each player.
void mask_row(const Players& players, std::span<const float> x, std::span<const float> reference,
              std::span<const uint8_t> kept, std::span<float> row);

}  // namespace assay
