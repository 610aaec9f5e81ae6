// Criteria on the paper's network for Adult.
//
// benchmarks/peers/subjects.py makes the folder that ASSAY_BENCH_EXPLAIN names, with adult.onnx, adult.npy (rows) and
// adult_baseline.npy, and measures Quantus on the same rows and explanations in the same run. Without the folder these
// are skipped. Times are those of evaluate(): loading, reading and the explanations themselves do not count, nor does
// the bootstrap interval of the mean, which Quantus does not have, except where the name says so. "mean" and "coverage"
// are those of the scores.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/table_io.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/kernels/entropy.h"
#include "assay/explain/explainer.h"
#include "assay/explain/players.h"
#include "assay/model/engine_model.h"

namespace assay {
namespace {

struct Work {
  std::string criterion;
  std::string method = "gradient_x_input";
  bool pool = false;    // the rows are their own pool, with their explanations
  size_t draws = 0;     // of the bootstrap
  int64_t rows = 1000;  // all of them are used
};

void evaluate_rows(benchmark::State& state, const Work& work) {
  const char* folder = std::getenv("ASSAY_BENCH_EXPLAIN");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (folder == nullptr) return state.SkipWithError("no folder of models and rows");
  const std::string file = std::string(folder) + "/adult";
  const auto model = EngineModel::load(file + ".onnx");
  const Dataset all = model->features_of(read_table(file + ".npy"));
  const auto count = static_cast<size_t>(state.range(1));
  if (all.rows() < count) return state.SkipWithError("fewer rows in the file");
  std::vector<size_t> first(count);
  std::iota(first.begin(), first.end(), size_t{0});
  const Dataset data = select_rows(all, first);
  const Reference reference{model->features_of(read_table(file + "_baseline.npy")).x, "given"};
  const Players players = column_players(model->info().feature_names);
  const TargetChoice choice = parse_target(model->info(), "auto").front();
  const Targets targets = freeze_targets(*model, data.x.view(), choice, {});
  Context context;
  context.threads = static_cast<unsigned>(state.range(0));
  const Spec method = parse_spec("method", work.method);
  const Explanations phi = explain(method, {*model, data.x.view(), targets, reference, players}, context);

  EvaluateTask task{phi};
  task.subject.rows = &data;
  task.subject.model = model.get();
  task.subject.players = &players;
  task.subject.targets = &targets;
  task.subject.reference = &reference;
  task.method = &method;
  PoolExplanations given(phi.values);
  if (work.pool) {
    task.subject.pool = &data;
    task.pool_explanations = &given;
  }
  const Spec criterion = parse_spec("criterion", work.criterion);
  const SummaryOptions summary{.draws = work.draws};
  for (auto _ : state) {
    const Scores scores = evaluate(criterion, task, summary, context);
    state.counters["mean"] = scores.mean;
    state.counters["coverage"] = scores.coverage;
  }
}

// Complexity's own loop over made-up explanations of as many rows and players as Adult has: "logs" are its logarithms.
void evaluate_entropies(benchmark::State& state) {
  Matrix values(48842, 14);
  RandomStream random(1, "evaluate_bench");
  for (float& value : values.values()) value = static_cast<float>(random.normal());
  std::vector<double> entropies(values.rows());
  for (auto _ : state) {
    row_entropies(values.values().data(), values.rows(), values.cols(), entropies.data());
    benchmark::ClobberMemory();
  }
  state.counters["logs"] =
      benchmark::Counter(static_cast<double>(values.values().size()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(evaluate_entropies)->Unit(benchmark::kMillisecond);

void register_benchmark(const std::string& name, Work work) {
  const int64_t rows = work.rows;
  auto* made =
      benchmark::RegisterBenchmark(("evaluate_adult_" + name).c_str(),
                                   [work = std::move(work)](benchmark::State& state) { evaluate_rows(state, work); });
  made->ArgNames({"threads", "rows"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int64_t threads : {1, 2}) made->Args({threads, rows});
}

// NOLINTNEXTLINE(cert-err58-cpp): a failure here ends the benchmark, as it should
const bool kRegistered = [] {
  constexpr int64_t kAdult = 48842;
  register_benchmark("faithfulness_2", {.criterion = "faithfulness:subset=2:budget=100:samples=100"});
  register_benchmark("faithfulness_7", {.criterion = "faithfulness:subset=7:budget=100:samples=100"});
  register_benchmark("faithfulness_7_all", {.criterion = "faithfulness:subset=7"});
  register_benchmark("complexity", {.criterion = "complexity"});
  register_benchmark("complexity_interval", {.criterion = "complexity", .draws = 1000});
  const std::string yeh = "max_sensitivity_yeh:radius=0.2:space=raw:samples=10";
  register_benchmark("yeh_gradient_x_input", {.criterion = yeh});
  register_benchmark("yeh_integrated_gradients",
                     {.criterion = yeh, .method = "integrated_gradients:rule=middle:steps=10:tolerance=0"});
  for (const std::string name : {"max_sensitivity", "avg_sensitivity"}) {
    register_benchmark(name, {.criterion = name + ":radius=2", .pool = true, .rows = kAdult});
  }
  return true;
}();

}  // namespace
}  // namespace assay
