// Which output is explained. Each row's target is chosen once and then kept, even if the row is changed.
//
// The user's words: "auto" (the positive class of a binary model, the predicted class of a multi-class one, the value
// of a regression), "predicted", a class or output by name or index, or "all" (one result for each).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/model/model.h"

namespace assay {

// An explained value that is linear in the model's outputs: offset + scale * outputs[output]. Class 0 of a binary model
// with one output is -1 times the margin or log-odds, 1 - p for probabilities.
struct OutputTerm {
  size_t output = 0;
  float scale = 1;
  float offset = 0;
};

// One choice a user can make, before any row is seen.
struct TargetChoice {
  bool predicted = false;  // the class each row is predicted to be
  size_t which = 0;        // else this class, or output of a regression
};

// Names of what can be chosen: the classes, or the outputs of a regression.
const std::vector<std::string>& target_names(const ModelInfo& info);

// One choice; with "all" one for each class or output. An unknown word is an input error that lists the choices. A word
// that is both a name and an index means the class of that name.
std::vector<TargetChoice> parse_target(const ModelInfo& info, std::string_view text);

// Which target each row has, and its value in terms of the outputs.
struct Targets {
  // The paper's information form v_x(S) = sum over classes y of P(y | x) ln P(y | x_S), which has no target class. Then
  // names has one entry, and terms is empty.
  bool information = false;
  std::vector<std::string> names;  // of all targets
  std::vector<OutputTerm> terms;   // of all targets
  std::vector<uint32_t> of_row;    // index into names
  bool predicted = false;          // whether the target of each row is its predicted class

  const OutputTerm& term(size_t row) const { return terms[of_row[row]]; }
};

// Chooses the target of each row. Runs the model if the choice is the predicted class.
Targets freeze_targets(const Model& model, MatrixView<const float> rows, const TargetChoice& choice,
                       const Context& context);
// The information form; an input error when the model is no classifier, or gives log-odds.
Targets information_targets(const Model& model, size_t rows);

// The class of largest output, the first of equal ones; for one output, class 1 where it is above the threshold of its
// unit (0, or 0.5 for probabilities).
size_t predicted_class(const ModelInfo& info, std::span<const float> outputs);

// The targets of rows begin .. end - 1.
Targets slice_targets(const Targets& targets, size_t begin, size_t end);
// The targets of these rows, in their order.
Targets select_targets(const Targets& targets, std::span<const size_t> rows);

// What is explained, for provenance: the target that all rows have, or kPredictedTarget.
std::string target_in_words(const Targets& targets);

// The unit of what is explained: that of the model's outputs, or "information".
std::string explained_unit(const ModelInfo& info, const Targets& targets);

}  // namespace assay
