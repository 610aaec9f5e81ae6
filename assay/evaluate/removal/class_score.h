// The model's score of one class, log-odds or probability, from outputs in any unit, in float64.
//
// From margins z, log-odds s = ln p - ln(1 - p) are z_y - ln sum over other classes c of exp(z_c), or +-z for the one
// output of a binary model; so they are precise even where the model is certain. Outputs that are log-odds are taken as
// they are. From probabilities, 1 - p is the sum over the other classes if all add up to 1; a probability of exactly 0
// or 1 has no log-odds. A regression has no classes: its score is the value itself.
// If the task also has the model in margins, all scores come from margins, whatever unit is explained.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "assay/evaluate/criterion.h"
#include "assay/model/model.h"

namespace assay {

inline constexpr std::string_view kCertain = "a probability is exactly 0 or 1 and has no log-odds";
inline constexpr std::string_view kNoNumber = "the model gives no number";

enum class ScoreUnit { log_odds, probability };

// The score of class `which`, or of that output of a regression. Infinite for the log-odds of a probability of exactly
// 0 or 1. NaN if outputs are not numbers, and for the log-odds of a "probability" outside 0 to 1.
double class_score(const ModelInfo& info, ScoreUnit unit, std::span<const float> outputs, size_t which);

// The reason why a score that is not finite is undefined: kCertain or kNoNumber.
std::string_view why_undefined(double score);

// The model whose outputs are scored: the one in margins if the task has it.
inline const Model& scored_model(const EvaluateTask& task) {
  return task.subject.margins != nullptr ? *task.subject.margins : *task.subject.model;
}

// Which class of a row is scored. An order of players by value only makes sense for the explained class.
enum class ScoredClass {
  predicted,  // at the row itself
  explained,  // the target; for the information form, which has no target class, the predicted class
};

// The class, or the explained output of a regression, given the outputs of scored_model at the row.
size_t scored_class(const EvaluateTask& task, ScoredClass which, size_t row, std::span<const float> outputs);

// Whether the strength |phi| of a player is the same for every class. So it is without classes, and for two classes
// whose values add up to a constant. Two margins have explanations of their own, which can differ.
bool strength_is_of_all_classes(const ModelInfo& explained);

}  // namespace assay
