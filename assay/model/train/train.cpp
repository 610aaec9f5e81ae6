#include "assay/model/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/core/roc_area.h"
#include "assay/model/train/scaling.h"
#include "assay/model/train/step.h"

namespace assay {
namespace {

// Everything that would make a loss undefined is refused before work, with its row.
void check_data(const Dataset& data, bool classification) {
  require_complete(data);
  const auto row_name = [&](size_t i) { return fmt::format("{}, row {}", data.source, i + 1); };
  for (size_t i = 0; i < data.rows(); ++i) {
    const auto row = data.x.row(i);
    const auto infinite = std::ranges::find_if(row, [](float v) { return std::isinf(v); });
    if (infinite == row.end()) continue;
    const auto column = static_cast<size_t>(infinite - row.begin());
    fail_input(fmt::format("{}, column {}", row_name(i), in_quotes(data.feature_names[column])), "a finite number",
               fmt::format("{}", *infinite));
  }
  if (data.labels.size() != data.rows()) fail_input(data.source, "a label for every row", "none (name its column)");
  for (size_t i = 0; i < data.rows(); ++i) {
    const float label = data.labels[i];
    const std::string where = fmt::format("{}, label {}", row_name(i), in_quotes(data.label_name));
    if (std::isnan(label)) fail_input(where, "a value", "a missing one");
    if (std::isinf(label)) fail_input(where, "a finite number", fmt::format("{}", label));
    const bool known = label >= 0 && label < static_cast<float>(data.class_names.size()) && label == std::trunc(label);
    if (classification && !known) {
      fail_input(where, fmt::format("the index of one of {} classes", data.class_names.size()),
                 fmt::format("{}", label));
    }
  }
}

std::vector<double> class_weights(const TrainOptions& options, const Dataset& training) {
  if (options.class_weights == "none") return {};
  if (training.class_names.empty()) fail_input("class_weights", "classes to weigh", "a regression");
  std::vector<double> counts(training.class_names.size());
  for (const float label : training.labels) ++counts[static_cast<size_t>(label)];
  const auto present = static_cast<double>(std::ranges::count_if(counts, [](double n) { return n > 0; }));
  std::vector<double> weights;
  for (const double count : counts) {
    weights.push_back(count > 0 ? static_cast<double>(training.rows()) / (present * count) : 1);
  }
  return weights;
}

void check_fit(const OnnxModel& network, const Dataset& data) {
  const size_t features = input_features(network);
  if (features != data.x.cols()) {
    fail_input(data.source, fmt::format("{} features, as the network has", features), fmt::format("{}", data.x.cols()));
  }
}

void check_outputs(const OnnxModel& network, const Evaluator& evaluator, const Dataset& data) {
  const size_t outputs = data.class_names.empty() ? 1 : data.class_names.size();
  if (evaluator.outputs() == outputs) return;
  fail_input(fmt::format("network, output {}", in_quotes(network.graph.outputs[0].name)),
             fmt::format("{} of them, for the labels of {}", outputs, data.source),
             fmt::format("{}", evaluator.outputs()));
}

Loss chosen_loss(const TrainOptions& options, const Dataset& training) {
  const bool classes = !training.class_names.empty();
  if (options.loss == "squared_error" || (options.loss == "auto" && !classes)) {
    if (classes) fail_input("train, option loss", "cross_entropy for labels that are classes", "squared_error");
    return Loss::squared_error;
  }
  if (!classes) fail_input("train, option loss", "squared_error for labels that are values", "cross_entropy");
  return Loss::cross_entropy;
}

InputScaling scaling_of(const TrainOptions& options, const OnnxModel& network, const Dataset& training) {
  if (options.scale == "none") return {};
  const bool convolution = network.graph.nodes.at(0).op_type == "Conv";
  const bool image = convolution || !training.item_shape.empty();
  return options.scale == "pixels" || (options.scale == "auto" && image) ? pixel_scaling(training)
                                                                         : standardising(training);
}

// The network that takes rows and gives values as they are.
OnnxModel folded(OnnxModel network, const InputScaling& scaling, const LabelScaling* labels) {
  fold_inputs(network, scaling);
  if (labels != nullptr) fold_labels(network, *labels);
  return network;
}

double rate_at(const TrainOptions& options, size_t step, size_t steps) {
  if (options.schedule == "constant") return options.rate;
  const double share = static_cast<double>(step) / static_cast<double>(steps);
  return options.rate * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

[[noreturn]] void fail_diverged(const TrainOptions& options, size_t epoch, double loss) {
  fail_input(fmt::format("train: the loss is {} in epoch {}; try a smaller rate than {}",
                         std::isnan(loss) ? "not a number" : "infinite", epoch, options.rate));
}

// The area under the ROC curve of two classes can choose the epoch; NaN if the rows are of one class.
double area_of(std::span<const float> labels, const std::vector<double>& scores) {
  std::vector<size_t> classes;
  for (const float label : labels) classes.push_back(static_cast<size_t>(label));
  return area_under_curve({scores}, classes, 1).auc;
}

void check_stop(const TrainOptions& options, const Dataset& training, const Dataset& validation) {
  if (options.stop != "auc") return;
  if (training.class_names.size() != 2) {
    fail_input("train, option stop", "loss, unless there are two classes", "auc");
  }
  if (validation.rows() == 0) fail_input("train, option stop", "rows for validation, where it is auc", "none");
  const auto positive = std::ranges::count(validation.labels, 1.0F);
  if (positive == 0 || positive == std::ssize(validation.labels)) {
    fail_input(validation.source, "validation rows of both classes, for stop=auc", "rows of one");
  }
}

// The batches of one epoch; the mean loss over them.
double run_epoch(TrainingStep& step, const LabelledRows& rows, std::vector<uint32_t>& order, size_t epoch,
                 const TrainOptions& options, const Context& context, ProgressScope& progress) {
  RandomStream(context.seed, "train shuffle", epoch).permutation(order);
  const auto batch = static_cast<size_t>(options.batch);
  const size_t batches = (order.size() + batch - 1) / batch;
  LossSum sum;
  for (size_t b = 0; b < batches; ++b) {
    context.check_cancelled();
    const size_t first = b * batch;
    const size_t count = std::min(batch, order.size() - first);
    const double rate = rate_at(options, (epoch - 1) * batches + b, static_cast<size_t>(options.epochs) * batches);
    const LossSum loss = step.run(rows, {order.data() + first, count}, rate);
    if (!std::isfinite(loss.total)) fail_diverged(options, epoch, loss.total);
    sum.add(loss);
    progress.advance(count);
  }
  return sum.mean();
}

}  // namespace

TrainResult train(OnnxModel network, const Dataset& training, const Dataset& validation, const TrainOptions& options,
                  const Context& context, const EpochCallback& report) {
  const Loss loss = chosen_loss(options, training);
  const bool classification = loss == Loss::cross_entropy;
  if (training.rows() == 0) fail_input(training.source, "rows to train on", "none");
  if (training.rows() > UINT32_MAX) fail_input(training.source, "fewer than 2^32 rows to train on", "more");
  check_fit(network, training);
  check_data(training, classification);
  const bool validated = validation.rows() > 0;
  if (validated) {
    check_fit(network, validation);
    check_data(validation, classification);
  }
  check_stop(options, training, validation);
  const bool by_area = options.stop == "auc";

  const InputScaling scaling = scaling_of(options, network, training);
  const LabelScaling labels =
      classification || options.scale == "none" ? LabelScaling() : label_scaling(training.labels);
  const std::vector<float> training_labels = classification ? training.labels : labels.scaled(training.labels);
  const std::vector<float> validation_labels = classification ? validation.labels : labels.scaled(validation.labels);
  const LabelledRows training_rows{training.x.view(), training_labels};
  const LabelledRows validation_rows{validation.x.view(), validation_labels};
  // Whether the network can take the scaling over must be known before work, not after.
  const LabelScaling* to_fold = classification ? nullptr : &labels;
  folded(network, scaling, to_fold);
  const double unit = labels.deviation * labels.deviation;  // of a loss; 1 for classes

  const LossOptions loss_options{loss, class_weights(options, training)};
  Parameters parameters(network);
  Evaluator evaluator(network, parameters, loss_options, scaling, context);
  check_outputs(network, evaluator, training);
  const size_t batch = std::min(static_cast<size_t>(options.batch), training.rows());
  TrainingStep step(network, parameters, batch, loss_options, {.weight_decay = options.weight_decay}, scaling, context);

  TrainResult result;
  std::vector<float> best(parameters.size());
  double best_loss = std::numeric_limits<double>::infinity();  // minus the area, where that decides
  std::vector<double> scores(by_area ? validation.rows() : 0);
  std::vector<uint32_t> order(training.rows());
  const auto epochs = static_cast<size_t>(options.epochs);
  {
    ProgressScope progress(context, "train", epochs * training.rows());
    for (size_t epoch = 1; epoch <= epochs; ++epoch) {
      EpochReport now{.epoch = epoch};
      now.training_loss = unit * run_epoch(step, training_rows, order, epoch, options, context, progress);
      if (validated) {
        const LossSum sum = evaluator.run(validation_rows, scores);
        if (!std::isfinite(sum.total)) fail_diverged(options, epoch, sum.total);
        now.validation_loss = unit * sum.mean();
        if (classification) {
          now.validation_accuracy = static_cast<double>(sum.correct) / static_cast<double>(sum.rows);
        }
      }
      if (by_area) now.validation_auc = area_of(validation.labels, scores);
      result.history.push_back(now);
      if (report) report(now);
      const double cost = by_area ? -now.validation_auc : now.validation_loss;
      if (!validated || cost < best_loss) {
        best_loss = cost;
        result.best_epoch = epoch;
        std::ranges::copy(parameters.values(), best.begin());
      }
      if (options.patience > 0 && epoch - result.best_epoch >= static_cast<size_t>(options.patience)) break;
    }
  }
  std::ranges::copy(best, parameters.values().begin());
  // The last step of all is followed by no other loss that could tell.
  if (!std::ranges::all_of(best, [](float v) { return std::isfinite(v); })) {
    fail_diverged(options, result.best_epoch, std::numeric_limits<double>::quiet_NaN());
  }
  parameters.store(network);
  result.model = folded(std::move(network), scaling, to_fold);
  if (validated) {
    const Parameters saved(result.model);
    const LossSum sum =
        Evaluator(result.model, saved, loss_options, {}, context).run({validation.x.view(), validation.labels});
    result.validation_loss = sum.mean();
    if (classification) {
      result.validation_accuracy = static_cast<double>(sum.correct) / static_cast<double>(sum.rows);
    }
  }
  return result;
}

Evaluation evaluate(const OnnxModel& network, const Dataset& data, const Context& context) {
  const bool classification = !data.class_names.empty();
  if (data.rows() == 0) fail_input(data.source, "rows to evaluate on", "none");
  check_fit(network, data);
  check_data(data, classification);
  const Loss loss = classification ? Loss::cross_entropy : Loss::squared_error;
  const Parameters parameters(network);
  Evaluator evaluator(network, parameters, {loss, {}}, {}, context);
  check_outputs(network, evaluator, data);
  const LossSum sum = evaluator.run({data.x.view(), data.labels});
  Evaluation out{.loss = sum.mean()};
  if (classification) out.accuracy = static_cast<double>(sum.correct) / static_cast<double>(sum.rows);
  return out;
}

}  // namespace assay
