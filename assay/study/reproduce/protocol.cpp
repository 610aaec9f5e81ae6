#include "assay/study/reproduce/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "assay/core/random.h"
#include "assay/core/table_text.h"
#include "assay/data/datasets.h"
#include "assay/data/split.h"
#include "assay/explain/reference.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"

namespace assay {
namespace {

// The paper: "in each run, we see at least 50 datapoints".
constexpr size_t kLeastTestRows = 50;
// The open demo of MIMIC-III has 136 stays, the whole some 60,000.
constexpr size_t kMostDemoRows = 1000;
// Larger sets are split once for all runs: each split of MIMIC-III means reading it again.
constexpr size_t kMostResplitRows = 25'000;
// The most test parts of a split by patients that are joined into one.
constexpr uint64_t kMostParts = 16;
// From the paper, by PaperSet.
constexpr std::array<double, 3> kAccuracy = {0.82, 0.96, 0.91};
constexpr std::string_view kAccuracyColumn = "test accuracy";
constexpr std::string_view kLargestColumn = "share of the largest class";

TrainOptions trained(int64_t epochs, int64_t batch) {
  TrainOptions options;
  options.epochs = epochs;
  options.batch = batch;
  return options;
}

std::vector<float> labels_of(const Table& table) {
  std::vector<float> labels(table.rows());
  for (size_t i = 0; i < table.rows(); i++) labels[i] = table.values(i, *table.label);
  return labels;
}

// Turns categories into numeric columns of their codes. If some cells are missing, missing is 0 and codes begin at 1.
void make_codes_numbers(Table& table) {
  for (size_t j = 0; j < table.columns.size(); j++) {
    if (j == table.label || table.columns[j].kind != ColumnKind::categorical) continue;
    bool missing = false;
    for (size_t i = 0; i < table.rows(); i++) missing = missing || std::isnan(table.values(i, j));
    for (size_t i = 0; missing && i < table.rows(); i++) {
      float& code = table.values(i, j);
      code = std::isnan(code) ? 0 : code + 1;
    }
    table.columns[j].kind = ColumnKind::numeric;
    table.columns[j].levels.clear();
  }
}

Dataset sampled(const Dataset& data, size_t most, uint64_t seed) {
  return select_rows(data, stratified_sample(data.labels, most, seed));
}

double largest_share(const Dataset& data) {
  std::map<float, size_t> counts;
  size_t most = 0;
  for (const float label : data.labels) most = std::max(most, ++counts[label]);
  return static_cast<double>(most) / static_cast<double>(data.rows());
}

// Notes a network that is no better than a constant answer: its explanations are hardly more than noise.
void note_idle_network(const SetResults& set, Reproduction& out) {
  const std::span<const double> accuracy = set.table.values("network", kAccuracyColumn);
  const std::span<const double> largest = set.table.values("network", kLargestColumn);
  if (compare_runs(accuracy, largest).above == Support::supported) return;
  out.notes.push_back(fmt::format("{}: the networks' accuracy, {}, is not above the share of the largest class, {}",
                                  set.plan.data, summary_text(summarise_runs(accuracy)),
                                  short_number(summarise_runs(largest).mean)));
}

std::vector<BenchPlan> all_plans(const ReproduceOptions& options) {
  std::vector<BenchPlan> plans = {
      {.dataset = "iris", .data = "iris", .paper = PaperSet::iris, .hidden = {16}, .training = trained(200, 16)},
      {.dataset = "adult",
       .data = "adult",
       .paper = PaperSet::adult,
       .split = BenchSplit::own,
       .hidden = {40},
       .training = trained(10, 128)}};
  plans[0].test_share = 0.4;
  if (options.quick) {
    plans[1].data = "adult (a sample)";
    plans[1].training_rows = 2000;
    plans[1].test_rows = 60;
    plans[1].pool_rows = 500;
    return plans;
  }
  plans.push_back({.dataset = fmt::format("mimic3:sepsis={}", options.sepsis),
                   .data = "mimic3",
                   .paper = PaperSet::mimic,
                   .split = BenchSplit::patients,
                   .hidden = {16, 16},
                   .training = trained(100, 16)});
  plans.push_back({.dataset = "cinc2019",
                   .data = "cinc2019 (stand-in for MIMIC-III)",
                   .paper = PaperSet::mimic,
                   .hidden = {16, 16},
                   .training = trained(10, 128)});
  plans.push_back({.dataset = "eicu",
                   .data = "eicu (stand-in for MIMIC-III)",
                   .paper = PaperSet::mimic,
                   .split = BenchSplit::patients,
                   .hidden = {16, 16},
                   .training = trained(100, 32)});
  return plans;
}

}  // namespace

const std::vector<PaperMethod>& paper_methods() {
  static const std::vector<PaperMethod> methods = {{"SHAP", {"kernel_shap"}},        {"SS", {"shapley_sampling"}},
                                                   {"Grad", {"gradient"}},           {"G*I", {"gradient_x_input"}},
                                                   {"IG", {"integrated_gradients"}}, {"DL", {"deeplift"}}};
  return methods;
}

size_t bench_runs(const ReproduceOptions& options) { return options.quick ? 2 : 10; }

std::vector<BenchPlan> bench_plans(const ReproduceOptions& options, Reproduction& out) {
  std::vector<BenchPlan> here;
  for (BenchPlan& plan : all_plans(options)) {
    if (dataset_available(parse_spec("reproduce", plan.dataset).name, {.data_dirs = options.data_dirs})) {
      here.push_back(std::move(plan));
    } else {
      out.notes.push_back(fmt::format("{} is left out: its files are not found", plan.data));
    }
  }
  return here;
}

std::vector<std::string> shared_protocol(const ReproduceOptions& options) {
  std::vector<std::string> said;
  said.push_back(
      fmt::format("{} runs, each with a network of its own (trained by Adam from the run's seed), its own rows to "
                  "explain and its own pool of training rows. The paper averages over ten runs and trains one network "
                  "for each data set.",
                  bench_runs(options)));
  said.emplace_back(
      "Networks as in the paper, with leaky ReLUs: iris one hidden layer (of 16 units: the paper does not say), adult "
      "40 hidden units, clinical data 16 and 16. Explained is the margin of the predicted class, of the positive class "
      "where there are two.");
  said.emplace_back(
      "Columns are standardised on the training rows; missing numbers take their mean. Categories are label-encoded, "
      "as in the paper, and their codes standardised, averaged and compared like numbers. The paper does not state its "
      "scaling, split, seeds or sample sizes; it gives adult 38 features, and label-encoded it has 14.");
  said.emplace_back(
      "Test rows: iris 60 of 150 (stratified), adult 200 of its own test part, clinical data at most 200 of a split "
      "that keeps the stays of a patient together, and at least 50. Pool: all training rows, at most 5,000 of them, "
      "drawn afresh in each run.");
  said.emplace_back(
      "SHAP is kernel_shap (2,048 coalitions: exact up to 11 features), SS shapley_sampling (32 orders), IG "
      "integrated_gradients, DL deeplift (rescale rule); all with their defaults. IG and DL are one and the same for a "
      "network with one hidden layer.");
  said.emplace_back(
      "Intervals are Student's over runs, 95 % of the mean, and findings are judged by intervals of differences within "
      "runs. All runs share the data set: nothing is said of other data.");
  if (options.quick) said.emplace_back("Quick form: two runs, iris and a sample of adult; no result to quote.");
  return said;
}

Context Bench::context(const Context& outer) const {
  Context inner = outer.quiet();
  inner.seed = seed;
  return inner;
}

BenchSource::BenchSource(BenchPlan plan, const ReproduceOptions& options, const Context& context)
    : plan_(std::move(plan)), data_dirs_(options.data_dirs) {
  if (plan_.split == BenchSplit::own) {
    table_ = load_dataset(plan_.dataset, {.data_dirs = data_dirs_, .split = Split::train}, context);
    training_rows_ = table_.rows();
    table_ = stacked(table_, load_dataset(plan_.dataset, {.data_dirs = data_dirs_, .split = Split::test}, context));
  } else {
    table_ = load_dataset(plan_.dataset, {.data_dirs = data_dirs_}, context);
  }
  make_codes_numbers(table_);
  if (plan_.data == "mimic3" && table_.rows() <= kMostDemoRows) plan_.data = "mimic3 (demo)";
  if (table_.rows() > kMostResplitRows) split_once_ = held_out(context.seed, context);
}

// Which rows are for testing. A test part by patients holds all rows of its patients, and so does a union of such
// parts. Small sets join several until there are enough rows.
std::vector<bool> BenchSource::held_out(uint64_t seed, const Context& context) const {
  std::vector<bool> out(table_.rows(), false);
  if (plan_.split == BenchSplit::own) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(training_rows_), out.end(), true);
    return out;
  }
  if (plan_.split == BenchSplit::stratified) {
    for (const size_t row : stratified_split(labels_of(table_), plan_.test_share, seed).test) out[row] = true;
    return out;
  }
  std::map<std::string, size_t> row_of;
  for (size_t i = 0; i < table_.ids.size(); i++) row_of.emplace(table_.ids[i], i);
  const auto enough = [&] { return std::ranges::count(out, true) >= std::ptrdiff_t{kLeastTestRows}; };
  for (uint64_t part = 0; part < kMostParts && !enough(); part++) {
    const DatasetRequest request{.data_dirs = data_dirs_, .split = Split::test, .seed = seed + part};
    for (const std::string& id : load_dataset(plan_.dataset, request, context).ids) out[row_of.at(id)] = true;
  }
  return out;
}

std::unique_ptr<Bench> BenchSource::make(size_t run, const Context& context) const {
  auto bench = std::make_unique<Bench>();
  bench->seed = RandomStream(context.seed, "reproduce", run).bits64();
  const Context inner = bench->context(context);
  const std::vector<bool> out = split_once_.empty() ? held_out(bench->seed, inner) : split_once_;
  std::vector<size_t> training_part;
  std::vector<size_t> test_part;
  for (size_t i = 0; i < out.size(); i++) (out[i] ? test_part : training_part).push_back(i);
  Table training_table = select_rows(table_, training_part);
  if (plan_.training_rows > 0) {
    const auto rows = stratified_sample(labels_of(training_table), plan_.training_rows, bench->seed);
    training_table = select_rows(training_table, rows);
  }
  const Encoder encoder = Encoder::fit(training_table, {.scale = "standardise", .impute = "mean"});
  const Dataset training = encoder.apply(training_table);
  const Dataset test = encoder.apply(select_rows(table_, test_part));

  Recipe recipe = table_recipe();
  recipe.mlp.hidden = plan_.hidden;
  recipe.training = plan_.training;
  TrainResult trained = train_recipe(recipe, training, &encoder, inner);
  bench->accuracy = evaluate(trained.model, test, inner).accuracy;
  bench->largest_class = largest_share(test);
  const std::shared_ptr<EngineModel> model = EngineModel::from_onnx(plan_.dataset, std::move(trained.model), {}, inner);
  bench->zero = named_baseline("zero", &training, *model, &encoder, inner);
  bench->mean = named_baseline("mean", &training, *model, &encoder, inner);
  const TargetChoice choice = parse_target(model->info(), "auto")[0];
  OwnedSubject& subject = bench->subject;
  subject.rows = std::make_shared<Dataset>(sampled(test, plan_.test_rows, bench->seed));
  subject.pool = std::make_shared<Dataset>(sampled(training, plan_.pool_rows, bench->seed));
  subject.players = group_players(training);
  subject.targets = freeze_targets(*model, subject.rows->x.view(), choice, inner);
  subject.pool_targets = freeze_targets(*model, subject.pool->x.view(), choice, inner);
  subject.model = model;
  return bench;
}

Scores bench_scores(std::string_view spec, const EvaluateTask& task, const Context& context) {
  return evaluate(parse_spec("reproduce", spec), task, {.draws = 0}, context);
}

std::vector<SetResults> run_benches(const ReproduceOptions& options, const Context& context, std::string_view task,
                                    Reproduction& out,
                                    const std::function<void(const Bench&, SetResults&, const Context&)>& measure) {
  const std::vector<BenchPlan> plans = bench_plans(options, out);
  const size_t runs = bench_runs(options);
  std::vector<SetResults> results;
  ProgressScope progress(context, task, plans.size() * runs);
  for (const BenchPlan& plan : plans) {
    const BenchSource source(plan, options, context);
    results.push_back({source.plan()});
    SetResults& set = results.back();
    for (size_t run = 0; run < runs; run++) {
      context.check_cancelled();
      const std::unique_ptr<Bench> bench = source.make(run, context);
      set.features = bench->features();
      set.table.add({"network", std::string(kAccuracyColumn), kAccuracy[static_cast<size_t>(plan.paper)]},
                    bench->accuracy);
      set.table.add({"network", std::string(kLargestColumn)}, bench->largest_class);
      measure(*bench, set, bench->context(context));
      progress.advance(1);
    }
    note_idle_network(set, out);
    set.table.append_to(set.plan.data, out.replications);
  }
  return results;
}

}  // namespace assay
