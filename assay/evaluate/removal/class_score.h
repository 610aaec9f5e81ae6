// How sure the model is of one class, from its outputs in whatever unit, in float64.
//
// Log-odds s = ln p - ln(1 - p) come straight from margins: z_y - ln sum over other classes c of exp(z_c), or +-z for
// the one output of a binary model, so that a class the model is certain of keeps its digits. Outputs that are log-odds
// already are taken as they are. From probabilities, 1 - p is the sum of the other classes' where those add up; a
// probability of exactly 0 or 1 has no log-odds. A regression has no classes: its score is the value itself.
// Where the task has the model in margins too, all scores come from those, whatever unit is explained.
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

// Of class `which`, or of that output of a regression. Infinite for the log-odds of a probability of exactly 0 or 1;
// NaN where outputs are not numbers, or no probabilities although they should be.
double class_score(const ModelInfo& info, ScoreUnit unit, std::span<const float> outputs, size_t which);

// Why a score that is not finite is none: kCertain or kNoNumber.
std::string_view why_undefined(double score);

// The model whose outputs are scored: that of margins where the task has one.
inline const Model& scored_model(const EvaluateTask& task) {
  return task.subject.margins != nullptr ? *task.subject.margins : *task.subject.model;
}

// Which class of a row is scored. The order of players by value means something only for the class that was explained.
enum class ScoredClass {
  predicted,  // at the row itself
  explained,  // the target; the predicted one for explanations of the information form, which have none
};

// The class, or the explained output of a regression, given the outputs of scored_model at the row.
size_t scored_class(const EvaluateTask& task, ScoredClass which, size_t row, std::span<const float> outputs);

// Whether players are equally strong in explanations of any class: of two classes whose values add up to a constant.
// Two margins are explained on their own and can differ in everything.
bool strength_is_of_all_classes(const ModelInfo& explained);

}  // namespace assay
