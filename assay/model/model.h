// What can be explained: a function from rows of features to outputs, and what else it can do.
//
// Capabilities are separate small interfaces that are asked for before work starts; null means that the model does not
// have it. All of them work on whole batches, give the same bits for a row whatever batch it is in and however many
// threads run, and are safe to call from one thread at a time per model unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"

namespace assay {

// What the numbers of an output are.
enum class OutputUnit {
  margin,       // the score before softmax or sigmoid
  probability,  // of a class
  log_odds,     // ln p / (1 - p), computed from margins
  value,        // of a regression
};
std::string_view output_unit_name(OutputUnit unit);

// How the margins of classes become their probabilities.
enum class MarginLink {
  softmax,  // over all outputs; a single one is the logit of the second class
  sigmoid,  // of each output by itself
  unknown,  // they do not, as the scores of a support vector machine, or in a way that nothing here looks into
};

struct ModelInfo {
  std::string name;                        // of the file, for messages
  std::vector<std::string> feature_names;  // one for each column of the rows
  std::vector<std::string> output_names;   // one for each column of the outputs: classes, or names of values
  // The classes; empty for a regression. A binary model with one output (the positive class) has two of them.
  std::vector<std::string> class_names;
  OutputUnit unit = OutputUnit::value;
  std::string note;          // what users should know about the choice of output; may be empty
  std::string caution = {};  // where the model's own library may predict otherwise; may be empty
  std::string no_gradient;   // why there are no derivatives, as in "its TreeEnsemble has none"; empty when there are
  std::vector<size_t> item_shape = {};  // of a row, where the model takes rows of several dimensions, as images have
  MarginLink margin_link = MarginLink::softmax;  // says something only where the unit is margin
  // Of a regression: whether its value is what it predicts. Not so if a function such as exp makes the prediction of
  // it.
  bool value_is_prediction = true;

  size_t features() const { return feature_names.size(); }
  size_t outputs() const { return output_names.size(); }
};

// Derivatives of the outputs by the features.
class Differentiable {
 public:
  virtual ~Differentiable() = default;
  // gradients[i][j] = sum over outputs c of weights[i][c] * d output[i][c] / d rows[i][j], for every row i.
  // outputs, when not empty, receives the outputs as well.
  virtual void gradient(MatrixView<const float> rows, MatrixView<const float> weights, MatrixView<float> gradients,
                        MatrixView<float> outputs, const Context& context) const = 0;
};

// How DeepLift passes a difference through an element-wise function.
enum class DeepLiftRule {
  rescale,        // one multiplier: difference out over difference in
  reveal_cancel,  // positive and negative parts of the difference apart, so that they do not cancel unseen
};

// DeepLift's multipliers (Shrikumar, Greenside, Kundaje 2017).
class Rescalable {
 public:
  virtual ~Rescalable() = default;
  // Why there are no multipliers by this rule, as in "it would take too much memory"; nothing when there are.
  virtual std::optional<std::string> refuses(DeepLiftRule /*rule*/) const { return {}; }
  // For every row i: sum over j of multipliers[i][j] * (rows[i][j] - reference[i][j]) =
  // sum over c of weights[i][c] * (output(rows[i])[c] - output(reference[i])[c]).
  // reference has as many rows as rows, or one for all.
  virtual void multipliers(MatrixView<const float> rows, MatrixView<const float> reference,
                           MatrixView<const float> weights, DeepLiftRule rule, MatrixView<float> multipliers,
                           const Context& context) const = 0;
};

// What follows the first layer of a network with one hidden layer: output = bias + sum over entries j of
// weights[j] * leaky(entry[j]), where leaky(z) = z for z > 0 and slope * z elsewhere (slope 0: ReLU).
struct LeakyTail {
  float slope = 0;
  MatrixView<const float> weights;  // entries x outputs
  std::span<const float> bias;      // one for each output
};

// The model is a function of entry = row * weights + bias: coalition games then update entries instead of rows. May be
// called from several threads at once.
class AffineEntry {
 public:
  virtual ~AffineEntry() = default;
  virtual MatrixView<const float> weights() const = 0;  // features x entries
  virtual std::span<const float> bias() const = 0;      // one for each entry
  virtual void predict_from(MatrixView<const float> entries, MatrixView<float> outputs,
                            const Context& context) const = 0;
  // Nothing if the rest of the model has another form.
  virtual std::optional<LeakyTail> leaky_tail() const { return {}; }
};

class TreeEnsemble;

// The model is a function of the raw scores of trees on its features: explanations and coalition games then look at
// the trees instead of running rows. May be called from several threads at once.
class TreeScores {
 public:
  virtual ~TreeScores() = default;
  virtual const TreeEnsemble& trees() const = 0;
  // Whether output t is the raw score of target t itself, rounded to float32.
  virtual bool are_outputs() const = 0;
  // Computes the outputs from raw scores, which are rows x targets.
  virtual void outputs_of(MatrixView<const float> scores, MatrixView<float> outputs, const Context& context) const = 0;
};

class Model;

// Can be fitted afresh: ROAR and KAR retrain on modified rows.
class Trainable {
 public:
  virtual ~Trainable() = default;
  // A model of the same architecture, trained by the same recipe on other rows from weights of this seed. May be called
  // from several threads at once: it only reads this model, and what it returns shares nothing with it.
  virtual std::unique_ptr<Model> retrain(const Dataset& training, uint64_t seed, const Context& context) const = 0;
};

// Mean and standard deviation of each feature over training rows; both empty where they are not known. A deviation of 0
// marks a feature that must not be scaled.
struct FeatureScale {
  std::vector<float> mean = {};
  std::vector<float> deviation = {};
};

// Its parameters can be replaced by random ones, a layer at a time: the sanity check of Adebayo et al. (2018).
class Randomisable {
 public:
  virtual ~Randomisable() = default;
  // Names of what has parameters, from the outputs down to the features; at least one.
  virtual std::vector<std::string> layers() const = 0;
  // This model with the parameters of layers 0 .. count - 1 (or of layer count - 1 alone) drawn afresh, as they would
  // be before training. A layer that reads the features themselves starts as if they were standardised by `scale`, as
  // they are in training. Same features, outputs and unit.
  virtual std::unique_ptr<Model> randomised(size_t count, bool alone, uint64_t seed,
                                            const FeatureScale& scale) const = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  // outputs: one row for each of rows, one column for each output.
  virtual void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const = 0;

  virtual const Differentiable* differentiable() const { return nullptr; }
  virtual const Rescalable* rescalable() const { return nullptr; }
  virtual const AffineEntry* affine_entry() const { return nullptr; }
  virtual const TreeScores* tree_scores() const { return nullptr; }
  virtual const Trainable* trainable() const { return nullptr; }
  virtual const Randomisable* randomisable() const { return nullptr; }
};

// A black box. The function is called on the calling thread only, with at most `most_rows` rows at a time, and fills
// all outputs; what it throws reaches the caller.
using BlackBox = std::function<void(MatrixView<const float> rows, MatrixView<float> outputs)>;
std::unique_ptr<Model> model_from_function(ModelInfo info, BlackBox function, size_t most_rows = 65536);

}  // namespace assay
