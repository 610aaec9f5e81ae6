// The rows of a data set that retraining can use: those with a label, and with attributions that are numbers. Labels
// are numbers of the model's classes, in whatever order the data has its classes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/refusal.h"
#include "assay/data/dataset.h"
#include "assay/model/model.h"

namespace assay {

struct KnownRows {
  std::vector<size_t> rows;   // of the data set, ascending
  std::vector<float> labels;  // of those rows: index of the model's class, or the value of a regression
  size_t unlabelled = 0;      // left out: no label, or an infinite one
  size_t unranked = 0;        // left out: attributions that are not all numbers

  size_t size() const { return rows.size(); }
};

// Why labels of this data cannot be compared with the model's predictions, as the end of a sentence; nothing when they
// can. `which` names the rows ("the rows", "the pool's rows").
std::optional<Refusal> label_refusal(const ModelInfo& model, const Dataset& data, std::string_view which, Need need);

// Classes are matched by name; an input error names the first row whose class the model does not have.
KnownRows labelled_rows(const ModelInfo& model, const Dataset& data);

// attributions: a row for each row of the data set.
void leave_out_unranked(KnownRows& known, MatrixView<const float> attributions);

// How well a model predicts labels: the accuracy of a classifier, or R^2 of a regression (1 - sum of squared errors /
// sum of squared deviations of the labels from their mean). NaN if a prediction is no number, or if the labels of a
// regression are all equal. `fill` writes row i of the known rows; it is called from several threads at once.
double prediction_quality(const Model& model, const std::vector<float>& labels,
                          const std::function<void(size_t i, std::span<float> row)>& fill, const Context& context);

}  // namespace assay
