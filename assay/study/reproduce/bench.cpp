#include "assay/study/reproduce/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "assay/core/random.h"
#include "assay/core/roc_area.h"
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

TrainOptions trained_for(int64_t epochs, int64_t batch) {
  TrainOptions options;
  options.epochs = epochs;
  options.batch = batch;
  return options;
}

// Rare classes: all weigh the same, and the epoch is kept that orders validation rows best.
TrainOptions clinical_training(int64_t batch) {
  TrainOptions options = trained_for(60, batch);
  options.class_weights = "balanced";
  options.stop = "auc";
  options.patience = 15;
  options.validation = 0.2;
  options.weight_decay = 0.01;
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

// Of the margins on the test part; of several classes the mean, each against the rest.
double area_of_test(const EngineModel& model, const Dataset& test, const Context& context) {
  const size_t outputs = model.info().output_names.size();
  Matrix out(test.rows(), outputs);
  model.predict(test.x.view(), out.view(), context);
  std::vector<size_t> classes;
  for (const float label : test.labels) classes.push_back(static_cast<size_t>(label));
  const bool two = test.class_names.size() == 2;
  std::vector<std::vector<double>> scores(two ? 1 : outputs, std::vector<double>(test.rows()));
  for (size_t i = 0; i < test.rows(); i++) {
    for (size_t c = 0; c < scores.size(); c++) {
      scores[c][i] = two && outputs == 2 ? static_cast<double>(out(i, 1)) - out(i, 0) : out(i, c);
    }
  }
  return area_under_curve(scores, classes, two ? 1 : 0).auc;
}

std::vector<BenchPlan> all_plans(const ReproduceOptions& options) {
  std::vector<BenchPlan> plans = {
      {.dataset = "iris", .data = "iris", .hidden = {16}, .training = trained_for(200, 16), .test_share = 0.4},
      {.dataset = "adult",
       .data = "adult",
       .split = BenchSplit::own,
       .hidden = {40},
       .training = trained_for(10, 128)}};
  if (options.quick) {
    plans[1].data = "adult (a sample)";
    plans[1].training_rows = 2000;
    plans[1].most_pool = 300;
    return plans;
  }
  const auto add = [&](std::string dataset, std::string data, BenchSplit split, int64_t batch) {
    plans.push_back({.dataset = std::move(dataset),
                     .data = std::move(data),
                     .clinical = true,
                     .split = split,
                     .hidden = {16, 16},
                     .training = clinical_training(batch)});
  };
  add("cinc2012", "cinc2012", BenchSplit::stratified, 64);
  add("cinc2019", "cinc2019", BenchSplit::stratified, 128);
  add(fmt::format("mimic3:sepsis={}", options.sepsis), "mimic3", BenchSplit::patients, 16);
  add("eicu", "eicu", BenchSplit::patients, 32);
  return plans;
}

}  // namespace

std::vector<BenchPlan> bench_plans(const ReproduceOptions& options, std::vector<std::string>& notes) {
  std::vector<BenchPlan> here;
  for (BenchPlan& plan : all_plans(options)) {
    if (dataset_available(parse_spec("reproduce", plan.dataset).name, {.data_dirs = options.data_dirs})) {
      here.push_back(std::move(plan));
    } else {
      notes.push_back(fmt::format("{} is left out: its files are not found", plan.data));
    }
  }
  return here;
}

Context TrainedBench::context(const Context& outer) const {
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

std::unique_ptr<TrainedBench> BenchSource::train(size_t run, const std::string& scale, const Context& context) const {
  auto made = std::make_unique<TrainedBench>();
  made->plan = plan_;
  made->seed = RandomStream(context.seed, "reproduce", run).bits64();
  const Context inner = made->context(context);
  const std::vector<bool> out = split_once_.empty() ? held_out(made->seed, inner) : split_once_;
  std::vector<size_t> training_part;
  std::vector<size_t> test_part;
  for (size_t i = 0; i < out.size(); i++) (out[i] ? test_part : training_part).push_back(i);
  Table training_table = select_rows(table_, training_part);
  if (plan_.training_rows > 0) {
    const auto rows = stratified_sample(labels_of(training_table), plan_.training_rows, made->seed);
    training_table = select_rows(training_table, rows);
  }
  made->encoder = Encoder::fit(training_table, {.scale = scale, .impute = "mean"});
  made->training = made->encoder.apply(training_table);
  made->test = made->encoder.apply(select_rows(table_, test_part));

  Recipe recipe = table_recipe();
  recipe.mlp.hidden = plan_.hidden;
  recipe.training = plan_.training;
  made->model = train_recipe(recipe, made->training, &made->encoder, inner).model;
  made->accuracy = evaluate(made->model, made->test, inner).accuracy;
  made->largest_class = largest_share(made->test);
  made->auc = area_of_test(*EngineModel::from_onnx(plan_.dataset, made->model, {}, inner), made->test, inner);
  return made;
}

const Reference& Bench::explained_against(const Setup& setup, const Reference* replaced) const {
  if (setup.explain_baseline == "zero") return zero;
  return setup.explain_baseline == "average" || replaced == nullptr ? mean : *replaced;
}

std::unique_ptr<Bench> make_bench(const TrainedBench& trained, const Setup& setup, PaperTable table, size_t test_rows,
                                  const Context& context) {
  auto bench = std::make_unique<Bench>();
  bench->trained = &trained;
  EngineModelOptions unit;
  if (setup.value == "probability") unit.unit = OutputUnit::probability;
  const std::shared_ptr<EngineModel> model = EngineModel::from_onnx(trained.plan.dataset, trained.model, unit, context);
  bench->zero = named_baseline("zero", &trained.training, *model, &trained.encoder, context);
  bench->mean = named_baseline("mean", &trained.training, *model, &trained.encoder, context);
  size_t pool = setup.rows_in_pool(table);
  if (trained.plan.most_pool > 0) pool = std::min(pool, trained.plan.most_pool);
  OwnedSubject& subject = bench->subject;
  subject.rows = std::make_shared<Dataset>(sampled(trained.test, test_rows, trained.seed));
  subject.pool = std::make_shared<Dataset>(sampled(trained.training, pool, trained.seed));
  subject.players = group_players(trained.training);
  if (setup.game == "information" && table == PaperTable::ava) {
    subject.targets = information_targets(*model, subject.rows->rows());
    subject.pool_targets = information_targets(*model, subject.pool->rows());
  } else {
    const TargetChoice choice = parse_target(model->info(), setup.target)[0];
    subject.targets = freeze_targets(*model, subject.rows->x.view(), choice, context);
    subject.pool_targets = freeze_targets(*model, subject.pool->x.view(), choice, context);
  }
  subject.model = model;
  return bench;
}

}  // namespace assay
