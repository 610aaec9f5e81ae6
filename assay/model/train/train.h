// Trains a network: mini-batches in a new random order each epoch, Adam, and early stopping on validation rows.
//
// The same network, rows, options and seed give the same weights bit for bit on any number of threads. Features are
// scaled for training, and the scaling is folded into the first layer afterwards (scaling.h): the result takes the rows
// as they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/model/graph/onnx.h"

namespace assay {

struct TrainOptions {
  int64_t epochs = 100;
  int64_t batch = 32;
  double rate = 0.003;
  double weight_decay = 0;
  std::string schedule = "cosine";
  int64_t patience = 20;
  std::string stop = "loss";
  double validation = 0.1;
  std::string class_weights = "none";
  std::string loss = "auto";
  std::string scale = "auto";

  void describe(OptionVisitor& visit) {
    visit.integer("epochs", epochs, "the most passes over the training rows", "", 1, 1000000);
    visit.integer("batch", batch, "rows of one step", "rows", 1, 1000000);
    visit.real("rate", rate, "Adam's step size, at the start", "", 0, 100);
    visit.real("weight_decay", weight_decay, "share of each weight, times the rate, taken off at each step", "", 0,
               1000);
    visit.choice("schedule", schedule, "how the rate goes on: stays, or falls to 0 as half a cosine",
                 {"constant", "cosine"});
    visit.integer("patience", patience, "epochs without a better validation before it stops; 0 goes on to the end",
                  "epochs", 0, 1000000);
    visit.choice("stop", stop, "what makes a validation better: a lower loss, or a larger area under the ROC curve",
                 {"loss", "auc"});
    visit.real("validation", validation, "share of the training rows that only decide when to stop", "", 0, 0.9);
    visit.choice("class_weights", class_weights, "none, or so that all classes weigh the same", {"none", "balanced"});
    visit.choice("loss", loss, "auto: cross_entropy for classes, squared_error for values",
                 {"auto", "cross_entropy", "squared_error"});
    visit.choice(
        "scale", scale,
        "inside the network: columns to mean 0 and deviation 1, pixels by their largest value; auto: by the data",
        {"auto", "standardise", "pixels", "none"});
  }
};

struct EpochReport {
  size_t epoch = 0;  // counted from 1
  double training_loss = 0;
  // With the weights after this epoch. NaN without validation rows; the accuracy of a regression is NaN too. The loss
  // of a regression is the mean squared error in the labels' own unit.
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();
  double validation_auc = std::numeric_limits<double>::quiet_NaN();  // with stop=auc alone
};
using EpochCallback = std::function<void(const EpochReport&)>;

struct TrainResult {
  OnnxModel model;  // with the weights of the best epoch (of the validation; the last one without validation rows)
  std::vector<EpochReport> history;
  size_t best_epoch = 0;
  // With the model as it is saved.
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();
};

// network: one input, whose rows have as many elements as the data has features, and a softmax over the classes or one
// value. validation may have no rows. The seed of the order of rows is the context's. An input error when a feature or
// label is missing or infinite (it names the row), network and data do not fit, or the loss is no number any more.
TrainResult train(OnnxModel network, const Dataset& training, const Dataset& validation, const TrainOptions& options,
                  const Context& context, const EpochCallback& report = {});

// Loss and accuracy of a model on labelled rows.
struct Evaluation {
  double loss = 0;
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // of a classification
};
Evaluation evaluate(const OnnxModel& network, const Dataset& data, const Context& context);

}  // namespace assay
