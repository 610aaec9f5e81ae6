#include "assay/study/reproduce/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/core/random.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/data/split.h"
#include "assay/evaluate/complexity.h"
#include "assay/explain/explainer.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"

namespace assay {
namespace {

// One run: a network, and the images it explains.
struct MnistRun {
  std::unique_ptr<EngineModel> model;
  Dataset images;
  double accuracy = NAN;
};

struct MnistData {
  Dataset training;
  Dataset test;
  Encoder encoder;
};

MnistData load_mnist(const ReproduceOptions& options, const Context& context) {
  DatasetRequest request;
  request.data_dirs = options.data_dirs;
  request.split = Split::test;
  const Table test = load_dataset("mnist", request, context);
  request.split = Split::train;
  const Table training = load_dataset("mnist", request, context);
  Encoder encoder = Encoder::fit(training, {});
  return {encoder.apply(training), encoder.apply(test), std::move(encoder)};
}

// For each run the rows of its images. No image is in two runs.
std::vector<std::vector<size_t>> images_of_runs(const Dataset& test, const RunPlan& plan, uint64_t seed) {
  std::vector<size_t> chosen = stratified_sample(test.labels, plan.runs * plan.images, seed);
  std::vector<uint32_t> order(chosen.size());
  RandomStream(seed, "reproduce mnist images").permutation(order);
  std::vector<std::vector<size_t>> out(plan.runs);
  for (size_t i = 0; i < order.size(); ++i) out[i % plan.runs].push_back(chosen[order[i]]);
  for (auto& rows : out) std::ranges::sort(rows);
  return out;
}

MnistRun make_mnist_run(const MnistData& data, const RunPlan& plan, const std::vector<size_t>& images,
                        const Context& context) {
  Recipe recipe = image_recipe();
  recipe.training.epochs = 1;
  const auto rows = stratified_sample(data.training.labels, plan.image_training, context.seed);
  TrainResult trained = train_recipe(recipe, select_rows(data.training, rows), &data.encoder, context);
  MnistRun run;
  run.accuracy = evaluate(trained.model, data.test, context).accuracy;
  run.model = EngineModel::from_onnx("the paper's network", std::move(trained.model), {}, context);
  run.images = select_rows(data.test, images);
  return run;
}

std::vector<double> complexities(const Matrix& values) {
  std::vector<double> out;
  for (size_t i = 0; i < values.rows(); ++i) out.push_back(complexity(values.row(i)));
  return out;
}

double mean_defined_of(const std::vector<double>& values) {
  RunningMoments moments;
  for (const double value : values) {
    if (!std::isnan(value)) moments.add(value);
  }
  return moments.mean();
}

double defined_share(const std::vector<double>& values) {
  const auto missing = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
  return 1 - static_cast<double>(missing) / static_cast<double>(values.size());
}

std::vector<double> row_measure(const Explanations& made, std::string_view name) {
  const auto& measures = made.combination.measures;
  const auto found = std::ranges::find(measures, name, &RowMeasure::name);
  return found == measures.end() ? std::vector<double>(made.rows(), NAN) : found->values;
}

std::vector<Explanations> explain_images(const MnistRun& run, const std::vector<PaperMethod>& methods,
                                         const Context& context) {
  const Dataset& images = run.images;
  const EngineModel& model = *run.model;
  const Targets targets =
      freeze_targets(model, images.x.view(), parse_target(model.info(), "predicted").at(0), context);
  const Reference black = named_baseline("zero", nullptr, model, model.encoder(), context);
  const Players players = column_players(images.feature_names);
  const ExplainTask task{model, images.x.view(), targets, black, players};
  std::vector<Explanations> out;
  for (const PaperMethod& method : methods) {
    context.check_cancelled();
    out.push_back(explain(method.spec, task, context));
  }
  return out;
}

void keep_positive(std::vector<Explanations>& members) {
  for (Explanations& member : members) {
    for (float& value : member.values.values()) value = std::max(value, 0.0F);
  }
}

Picture picture_of(std::string name, std::string title, std::span<const float> values, bool attribution) {
  Picture out{.name = std::move(name), .title = std::move(title), .attribution = attribution};
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  for (const float value : values) out.values.push_back(most > 0 ? value / most : 0);
  if (attribution) out.complexity = complexity(values);
  return out;
}

// Lower case letters and digits, for the name of a file.
std::string file_word(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (c == '*') out += 'x';
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') out += c;
    if (c == ' ') out += '-';
  }
  return out;
}

// The numbers of one run under one variant. pictures: null, or where those of the run's first image go.
class RunMeasure {
 public:
  RunMeasure(const Variant& variant, std::vector<Explanations> members, const std::vector<PaperMethod>& methods,
             Results& results, std::vector<Picture>* pictures)
      : variant_(variant), members_(std::move(members)), methods_(methods), results_(results), pictures_(pictures) {}

  void measure(const Context& context) {
    if (variant_.setup.complexity == "positive") keep_positive(members_);
    std::vector<const Explanations*> pointers;
    std::vector<std::string> names;
    for (size_t j = 0; j < members_.size(); ++j) {
      pointers.push_back(&members_[j]);
      names.push_back(methods_[j].name);
    }
    AggregateTask task;
    task.members = pointers;
    task.names = names;
    measure_members(task);
    for (const PaperMethod& aggregator : image_aggregates(variant_.setup)) {
      context.check_cancelled();
      const Aggregate made = aggregate(aggregator.spec, task, context);
      const std::vector<double> found = complexities(made.explanations.values);
      add(aggregator.name, "complexity", mean_defined_of(found), defined_share(found));
      add(aggregator.name, "above its members", above_members(aggregator.name, found));
      add(aggregator.name, "cosine to the mean", mean_defined_of(row_measure(made.explanations, "cosine")));
      if (aggregator.spec.name == "minimum_complexity") {
        add("bound of mixtures", "complexity", mean_defined_of(row_measure(made.explanations, "bound")));
      }
      show(aggregator.name, made.explanations.values.row(0));
    }
  }

 private:
  void measure_members(const AggregateTask& task) {
    // Scaled exactly as aggregators scale them: their guarantees hold for these values, bit for bit.
    const Members scaled(task, true);
    for (size_t j = 0; j < members_.size(); ++j) {
      const std::vector<double> found = complexities(scaled.values(j));
      add(methods_[j].name, "complexity", mean_defined_of(found), defined_share(found));
      if (simplest_.empty()) simplest_.assign(found.size(), NAN);
      for (size_t i = 0; i < found.size(); ++i) simplest_[i] = std::fmin(simplest_[i], found[i]);
      if (mean_defined_of(found) < best_) best_ = mean_defined_of(found);
      show(methods_[j].name, scaled.values(j).row(0));
    }
    add("Best", "complexity", best_);
    add("simplest member of each image", "complexity", mean_defined_of(simplest_));
  }

  // Images on which an aggregate is more complex than its simplest member. Convex has one list of weights for all
  // images, so for it: whether its mean is above that of the best member.
  double above_members(const std::string& name, const std::vector<double>& found) const {
    if (name == "Convex") return mean_defined_of(found) > best_ ? 1 : 0;
    double count = 0;
    for (size_t i = 0; i < found.size(); ++i) count += found[i] > simplest_[i] ? 1 : 0;
    return count;
  }

  void add(const std::string& row, const std::string& column, double value, double coverage = 1) {
    results_.add({variant_.name, "mnist", "mnist", row, column}, value, coverage);
  }

  void show(const std::string& title, std::span<const float> values) {
    if (pictures_ != nullptr) pictures_->push_back(picture_of(file_word(title), title, values, true));
  }

  const Variant& variant_;
  std::vector<Explanations> members_;
  const std::vector<PaperMethod>& methods_;
  Results& results_;
  std::vector<Picture>* pictures_;
  std::vector<double> simplest_ = {};
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void reproduce_mnist(const ReproduceOptions& options, const std::vector<Variant>& variants, Reproduction& out,
                     const Context& context) {
  DatasetRequest request;
  request.data_dirs = options.data_dirs;
  if (!dataset_available("mnist", request)) {
    out.notes.emplace_back("mnist is left out: its files are not found");
    return;
  }
  const std::vector<PaperMethod> methods = image_methods(options.quick);
  const MnistData data = load_mnist(options, context);
  const auto images = images_of_runs(data.test, out.plan, context.seed);
  out.networks.push_back({.data = "mnist"});
  ProgressScope progress(context, "Table 1: runs", out.plan.runs);
  for (size_t run = 0; run < out.plan.runs; ++run) {
    Context own = context.quiet();  // progress counts runs
    own.seed = RandomStream(context.seed, "reproduce mnist", run).bits64();
    const MnistRun made = make_mnist_run(data, out.plan, images[run], own);
    out.results.add({"", "networks", "mnist", "network", "accuracy"}, made.accuracy);
    const std::vector<Explanations> members = explain_images(made, methods, own);
    for (const Variant& variant : variants) {
      if (!variant.name.empty() && run >= out.plan.variant_runs) continue;
      const bool shown = variant.name.empty() && run == 0;
      if (shown) out.pictures.push_back(picture_of("input", "Input", made.images.x.row(0), false));
      RunMeasure(variant, members, methods, out.results, shown ? &out.pictures : nullptr).measure(own);
    }
    progress.advance(1);
  }
}

}  // namespace assay
