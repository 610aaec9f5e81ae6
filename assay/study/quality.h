// How good the model itself is on the studied rows: explanations of a bad model say little about the world.
//
// For classes
//   accuracy           share of rows whose predicted class is their label; 95 % interval by Wilson (1927)
//   auc                area under the ROC curve: the chance that a row of the class scores higher than another row,
//                      ties one half. Two classes: of the second, the positive one. More: the mean over the classes
//                      that the rows have, each against the rest. Rows are ranked by margins or log-odds where the
//                      model has them, because probabilities near 0 and 1 are rounded to ties. roc_area.h has the
//                      interval
//   log_loss           mean of -ln P(label), from margins in float64 where softmax or sigmoid makes probabilities of
//                      them. Else from the model's own probabilities, where it gives some; those below 2^-23 count as
//                      that: they were rounded.
//   calibration_error  mean over bins of equal size of |mean probability - share that is true|, weighted by their rows.
//                      Two classes: of the second class. More: of the predicted class, which is true if it is the
//                      label. 10 bins, fewer if a bin had fewer than 10 rows.
//   calibration_chance what a perfectly calibrated model's error would be on average, for few rows in a bin have their
//                      own: mean of sqrt(2 / pi * sum p (1 - p)) / rows, the mean size of a normal deviation
// For numbers
//   rmse, r2           root of the mean squared error; 1 - squared errors / squared deviations from the rows' mean.
//                      95 % intervals: percentiles of 2,000 bootstrap draws of rows, by counter-based randomness
//
// Cost: one prediction of each row, and rows x 2,000 for numbers. NaN where something is not defined.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/statistics.h"
#include "assay/explain/subject.h"

namespace assay {

struct ModelQuality {
  size_t labelled = 0;  // studied rows with a label, which all numbers are over
  size_t in_pool = 0;   // studied rows that are also in the pool, which the model may have been trained on
  size_t classes = 0;   // of the model; 0: it predicts a number
  double accuracy = NAN;
  Interval accuracy_interval = {NAN, NAN};
  double majority = NAN;  // share of the largest class: the accuracy of always saying it
  double auc = NAN;
  Interval auc_interval = {NAN, NAN};
  size_t auc_classes = 0;  // that the mean is over; 1 for two classes
  double log_loss = NAN;
  double calibration_error = NAN;
  double calibration_chance = NAN;
  size_t calibration_bins = 0;
  double rmse = NAN;
  Interval rmse_interval = {NAN, NAN};
  double mean_rmse = NAN;  // of always saying the rows' own mean
  double r2 = NAN;
  Interval r2_interval = {NAN, NAN};
};

// Of the subject's rows; their labels are classes of the model, or values of its one output. Runs the model, and
// subject.margins and subject.probabilities where it has them.
ModelQuality model_quality(const Subject& subject, const Context& context);

// What one row's outputs say about the classes.
struct ClassRow {
  size_t predicted = 0;
  std::vector<double> scores = {};             // rank the rows by class
  std::vector<double> log_probabilities = {};  // empty if they are not known
};

// What the model says about each of the subject's rows. The model runs once, for the quality of any part of the rows.
class PredictedRows {
 public:
  // Runs the models of model_quality, whether there are labels or not.
  PredictedRows(const Subject& subject, const Context& context);

  // model_quality of a subject of these rows alone. The seed is that of the constructor's context.
  ModelQuality quality(std::span<const size_t> rows) const;
  // Whether the predicted class is the label. Nothing for a row without a label, and if no classes are predicted.
  std::optional<bool> right(size_t row) const;
  // Of the predicted number. NaN for a row without a label, and if no number is predicted.
  double squared_error(size_t row) const;
  // The probability of a class; NaN if it is not known.
  double probability(size_t row, size_t of_class) const;

 private:
  void judge_classes(std::span<const size_t> rows, ModelQuality& quality) const;
  void judge_values(std::span<const size_t> rows, ModelQuality& quality) const;

  size_t classes_ = 0;
  uint64_t seed_ = 0;
  std::vector<size_t> in_pool_;
  std::vector<float> labels_;       // empty if there are none
  std::vector<ClassRow> of_class_;  // one for each row, if classes are predicted
  std::vector<double> values_;      // one for each row, if a number is predicted
};

// The parts, for tests and others that need them.

// Wilson's score interval of a share, 95 %. NaN for a count of 0.
Interval wilson_interval(size_t successes, size_t count);

struct Calibration {
  double error = NAN;
  double chance = NAN;
  size_t bins = 0;
};
// probabilities[i] of an event, and whether it came true.
Calibration calibration_of(std::span<const double> probabilities, const std::vector<bool>& true_of);

}  // namespace assay
