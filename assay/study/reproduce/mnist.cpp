// Table 1 of the paper (Bhatt, Weller, Moura 2020): complexity of explanations of MNIST images, and of aggregates meant
// to lower it.
//
// Each run has its own seed. It samples training images, trains the paper's network on them, and explains test images
// that no other run has, by the paper's six methods against a black image. Each pixel is a feature. Members are scaled
// to unit norm. The complexity of each member and aggregate is averaged over the images of a run, and these means are
// summarised over runs. Aggregates are compared image by image over all runs.
//
// Cost: nearly all is Kernel SHAP, which needs thousands of predictions for each image; training comes next.
// Deviation from the paper: it shows one image of one network; these are means over many images and networks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/core/random.h"
#include "assay/core/table_text.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/data/split.h"
#include "assay/evaluate/complexity.h"
#include "assay/explain/explainer.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"
#include "assay/study/reproduce/mnist_results.h"
#include "assay/study/reproduce/reproduction.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

MnistPlan mnist_plan(bool quick) { return quick ? MnistPlan{2, 5, 400, "1600"} : MnistPlan{10, 50, 12000, "4096"}; }

std::vector<MnistSeries> mnist_members(const MnistPlan& plan) {
  std::vector<MnistSeries> out;
  out.push_back({"SHAP", {"kernel_shap", {{"samples", plan.shap_samples}}}});
  out.push_back({"SS", {"shapley_sampling", {{"permutations", "2"}}}});
  out.push_back({"Grad", {"gradient"}});
  out.push_back({"G*I", {"gradient_x_input"}});
  out.push_back({"IG", {"integrated_gradients"}});
  out.push_back({"DL", {"deeplift"}});
  return out;
}

std::vector<MnistSeries> mnist_aggregates() {
  std::vector<MnistSeries> out;
  out.push_back({"Convex", {"convex_min", {{"criterion", "complexity"}}}, 3.685});
  out.push_back({"Gradient-Descent", {"gradient_descent_style"}, 3.575});
  out.push_back({"Gradient-Descent, fixed steps", {"gradient_descent_style", {{"step", "fixed"}}}, 3.575});
  out.push_back({"Region-Shrinking", {"region_shrinking"}, 3.208});
  out.push_back({"Region-Shrinking, then Gradient-Descent", {"shrink_then_descend"}});
  out.push_back({"simplest mixture", {"minimum_complexity", {{"vertices", "10000"}}}});
  return out;
}

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
std::vector<std::vector<size_t>> images_of_runs(const Dataset& test, const MnistPlan& plan, uint64_t seed) {
  std::vector<size_t> chosen = stratified_sample(test.labels, plan.runs * plan.images, seed);
  std::vector<uint32_t> order(chosen.size());
  RandomStream(seed, "reproduce mnist images").permutation(order);
  std::vector<std::vector<size_t>> out(plan.runs);
  for (size_t i = 0; i < order.size(); ++i) out[i % plan.runs].push_back(chosen[order[i]]);
  for (auto& rows : out) std::ranges::sort(rows);
  return out;
}

MnistRun make_mnist_run(const MnistData& data, const MnistPlan& plan, const std::vector<size_t>& images,
                        const Context& context) {
  Recipe recipe = image_recipe();
  recipe.training.epochs = 1;
  const auto rows = stratified_sample(data.training.labels, plan.training, context.seed);
  TrainResult trained = train_recipe(recipe, select_rows(data.training, rows), &data.encoder, context);
  MnistRun run;
  run.accuracy = 100 * evaluate(trained.model, data.test, context).accuracy;
  run.model = EngineModel::from_onnx("the paper's network", std::move(trained.model), {}, context);
  run.images = select_rows(data.test, images);
  return run;
}

void append_complexities(const Matrix& values, std::vector<double>& out) {
  for (size_t i = 0; i < values.rows(); ++i) out.push_back(complexity(values.row(i)));
}

void append_measure(const Explanations& made, std::string_view name, std::vector<double>& out) {
  const auto& measures = made.combination.measures;
  const auto found = std::ranges::find(measures, name, &RowMeasure::name);
  if (found == measures.end()) {
    out.insert(out.end(), made.rows(), NAN);
  } else {
    out.insert(out.end(), found->values.begin(), found->values.end());
  }
}

std::vector<Explanations> explain_images(const MnistRun& run, const std::vector<MnistSeries>& members,
                                         const Context& context) {
  const Dataset& images = run.images;
  const EngineModel& model = *run.model;
  const Targets targets =
      freeze_targets(model, images.x.view(), parse_target(model.info(), "predicted").at(0), context);
  const Reference black = named_baseline("zero", nullptr, model, model.encoder(), context);
  const Players players = column_players(images.feature_names);
  const ExplainTask task{model, images.x.view(), targets, black, players};
  std::vector<Explanations> out;
  for (const MnistSeries& member : members) {
    context.check_cancelled();
    out.push_back(explain(member.spec, task, context));
  }
  return out;
}

// Fills simplest, best and best_names for the last run: it has the last plan.images values of each member.
void add_best(MnistResults& results) {
  const size_t images = results.plan.images;
  const MnistSeries* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const MnistSeries& member : results.members) {
    RunningMoments moments;
    for (const double value : std::span(member.complexity).last(images)) {
      if (!std::isnan(value)) moments.add(value);
    }
    if (!(moments.mean() < least)) continue;
    best = &member;
    least = moments.mean();
  }
  for (size_t i = 0; i < images; ++i) {
    double simplest = NAN;
    for (const MnistSeries& member : results.members) {
      simplest = std::fmin(simplest, std::span(member.complexity).last(images)[i]);
    }
    results.simplest.push_back(simplest);
    results.best.push_back(best == nullptr ? NAN : std::span(best->complexity).last(images)[i]);
  }
  results.best_names.push_back(best == nullptr ? "none" : best->name);
}

void add_run(const MnistRun& run, MnistResults& results, const Context& context) {
  const std::vector<Explanations> explained = explain_images(run, results.members, context);
  std::vector<const Explanations*> pointers;
  std::vector<std::string> names;
  for (size_t j = 0; j < explained.size(); ++j) {
    pointers.push_back(&explained[j]);
    names.push_back(results.members[j].name);
  }
  AggregateTask task;
  task.members = pointers;
  task.names = names;
  // Scaled exactly as aggregators scale them: their guarantees hold for these values, bit for bit.
  const Members scaled(task, true);
  for (size_t j = 0; j < explained.size(); ++j) append_complexities(scaled.values(j), results.members[j].complexity);
  for (MnistSeries& series : results.aggregates) {
    context.check_cancelled();
    const Aggregate made = aggregate(series.spec, task, context);
    append_complexities(made.explanations.values, series.complexity);
    append_measure(made.explanations, "cosine", series.cosine);
    if (series.spec.name == "minimum_complexity") append_measure(made.explanations, "bound", results.bound);
  }
  results.accuracy.push_back(run.accuracy);
  add_best(results);
}

double defined_share(const std::vector<double>& values) {
  const auto missing = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
  return 1 - static_cast<double>(missing) / static_cast<double>(values.size());
}

void add_replications(const MnistResults& results, Reproduction& out) {
  const auto add = [&](const std::string& row, const char* column, double paper, const std::vector<double>& of_runs) {
    const RunSummary summary = summarise_runs(of_runs);
    Replication made;
    made.data = "mnist";
    made.row = row;
    made.column = column;
    made.paper = paper;
    made.ours = summary.mean;
    made.deviation = summary.deviation;
    made.interval = summary.interval;
    made.runs = summary.runs;
    out.replications.push_back(std::move(made));
  };
  const auto add_images = [&](const std::string& row, const char* column, double paper,
                              const std::vector<double>& values) {
    add(row, column, paper, mnist_run_means(values, results.plan.images));
    out.replications.back().coverage = defined_share(values);
  };
  add("network", "accuracy, %", 90, results.accuracy);
  for (const MnistSeries& member : results.members) add_images(member.name, "complexity", NAN, member.complexity);
  add_images("Best", "complexity", 3.688, results.best);
  add_images("simplest member of each image", "complexity", NAN, results.simplest);
  for (const MnistSeries& made : results.aggregates) add_images(made.name, "complexity", made.paper, made.complexity);
  add_images("bound of all mixtures", "complexity", NAN, results.bound);
  for (const MnistSeries& made : results.aggregates) add_images(made.name, "cosine to the mean", NAN, made.cosine);
}

std::vector<std::string> mnist_protocol(const MnistPlan& plan) {
  std::vector<std::string> out;
  out.push_back(
      fmt::format("{} of {}, all different, drawn from the test images with the classes' shares; the paper shows one "
                  "image, so its numbers are no means.",
                  plural(plan.runs, "run"), plural(plan.images, "image")));
  out.push_back(fmt::format(
      "Each run trains the paper's network (32 convolutions of 5 x 5, pooling, 64 of 5 x 5, pooling, a dense "
      "layer of 10) anew, for one epoch on {} of the 60,000 training images; the paper has one network of "
      "90 % accuracy.",
      with_commas(plan.training)));
  out.push_back(
      fmt::format("Explained is the margin of the predicted class, each pixel a feature, a black image the baseline; "
                  "SHAP is Kernel SHAP with {} samples, SS has 2 permutations.",
                  plan.shap_samples));
  out.emplace_back(
      "Explanations have unit norm before they are aggregated, as in the paper; the most that complexity can be is "
      "ln 784 = 6.66.");
  out.emplace_back(
      "Best is the explanation function of lowest mean complexity in a run (DeepLift in the paper); Convex has the "
      "weights that make the mean complexity of a run's images least.");
  out.emplace_back(
      "Gradient-Descent moves a pixel as far as that lowers complexity; fixed steps are the paper's own form.");
  out.emplace_back(
      "Intervals in the table are of means over runs; findings compare the same images, by a paired t-test at 0.05 "
      "with "
      "Holm's correction for five comparisons.");
  return out;
}

}  // namespace

Reproduction reproduce_mnist(const ReproduceOptions& options, const Context& context) {
  Reproduction out;
  out.name = "mnist";
  out.title = "Table 1: complexity on MNIST";
  const MnistPlan plan = mnist_plan(options.quick);
  out.protocol = mnist_protocol(plan);
  DatasetRequest request;
  request.data_dirs = options.data_dirs;
  if (!dataset_available("mnist", request)) {
    out.notes.emplace_back("mnist was not found and is left out: ASSAY_DATA names the folder that holds it");
    out.findings.push_back(
        {"Region shrinking is simpler than gradient-descent style, that than convex weights, and "
         "these are no more complex than the best single explanation.",
         FindingStatus::cannot_be_tested, "The images are not here."});
    return out;
  }
  MnistResults results{plan, mnist_members(plan), mnist_aggregates()};
  const MnistData data = load_mnist(options, context);
  const auto images = images_of_runs(data.test, plan, context.seed);
  ProgressScope progress(context, "mnist", plan.runs);
  for (size_t run = 0; run < plan.runs; ++run) {
    Context own = context;
    own.progress = nullptr;  // progress counts runs
    own.seed = RandomStream(context.seed, "reproduce mnist", run).bits64();
    add_run(make_mnist_run(data, plan, images[run], own), results, own);
    progress.advance(1);
  }
  add_replications(results, out);
  out.findings = mnist_findings(results);
  return out;
}

}  // namespace assay
