// AVA on Adult: 1,000 test rows among all training rows, k = 10, exact Shapley values of the paper's network (14
// features, 40 leaky ReLUs). Times are those of aggregate(): the search, and 2^14 coalitions for each antecedent. The
// last number of a name is that of threads.
#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"

namespace assay {
namespace {

constexpr size_t kRows = 1000;

struct Adult {
  Dataset pool;
  Dataset data;
  std::shared_ptr<const Model> model;
  Targets targets;
  Reference reference;
  Players players;
};

const Adult* find_adult() {
  static const std::optional<Adult> found = []() -> std::optional<Adult> {
    if (!dataset_available("adult")) return std::nullopt;
    Adult made;
    const Table training = load_dataset("adult", {.split = Split::train});
    const Encoder encoder = Encoder::fit(training, {});
    made.pool = encoder.apply(training);
    std::vector<size_t> first(kRows);
    std::iota(first.begin(), first.end(), size_t{0});
    made.data = select_rows(encoder.apply(load_dataset("adult", {.split = Split::test})), first);
    Recipe recipe = table_recipe();
    recipe.training.epochs = 3;  // what it costs to explain does not depend on how good the network is
    made.model = EngineModel::from_onnx("adult", train_recipe(recipe, made.pool, &encoder, {}).model);
    const TargetChoice target = parse_target(made.model->info(), "auto").at(0);
    made.targets = freeze_targets(*made.model, made.data.x.view(), target, {});
    made.reference = named_baseline("mean", &made.pool, *made.model, &encoder, {});
    made.players = group_players(made.data);
    return made;
  }();
  return found ? &*found : nullptr;
}

void ava(benchmark::State& state, const std::string& of_class, unsigned threads) {
  const Adult* adult = find_adult();
  if (adult == nullptr) return state.SkipWithError("the data is not here: set ASSAY_DATA");
  AggregateTask task;
  task.subject.rows = &adult->data;
  task.subject.model = adult->model.get();
  task.subject.players = &adult->players;
  task.subject.targets = &adult->targets;
  task.subject.reference = &adult->reference;
  task.subject.pool = &adult->pool;
  const Spec spec{"ava", {{"class", of_class}, {"method", "exact_shapley"}}};
  Context context;
  context.threads = threads;
  uint64_t evaluations = 0;
  for (auto _ : state) {
    const Aggregate made = aggregate(spec, task, context);
    benchmark::DoNotOptimize(made.explanations.values.data());
    evaluations = made.explanations.evaluations;
  }
  state.counters["evaluations"] = static_cast<double>(evaluations);
}

#define ASSAY_AVA_BENCHMARK(of_class, threads) \
  BENCHMARK_CAPTURE(ava, adult_##of_class##_##threads, #of_class, threads)->Unit(benchmark::kMillisecond)->UseRealTime()

ASSAY_AVA_BENCHMARK(query, 1);
ASSAY_AVA_BENCHMARK(query, 2);
ASSAY_AVA_BENCHMARK(own, 2);
ASSAY_AVA_BENCHMARK(same, 2);

}  // namespace
}  // namespace assay
