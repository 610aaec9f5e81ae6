// Explanation functions on whole models: the paper's network for Adult, and its network for MNIST.
//
// benchmarks/peers/subjects.py makes the folder that ASSAY_BENCH_EXPLAIN names, with adult.onnx, adult.npy (rows),
// adult_baseline.npy and the same for mnist, and measures Captum and SHAP on the same files in the same run. Without
// the folder these are skipped. Times are those of explain(): loading and reading do not count. "beyond_result" is what
// one call takes of memory at its peak beyond the result; it needs a process that has done nothing else.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "assay/core/random.h"
#include "assay/data/table_io.h"
#include "assay/explain/explainer.h"
#include "assay/explain/players.h"
#include "assay/model/engine_model.h"

namespace assay {
namespace {

// A line of /proc/self/status in bytes; 0 where there is none.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == name && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

// From here on the peak is that of what follows. What was freed before goes back first, or it would be used again
// unseen.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double result_bytes(const Explanations& result) {
  const size_t floats = result.values.values().size() + result.standard_error.values().size() +
                        result.background_error.values().size() + result.target.size();
  return static_cast<double>(4 * floats + 8 * (result.base.size() + result.output.size() + result.gap.size()));
}

void measure(benchmark::State& state, const Spec& spec, const ExplainTask& task) {
  Context context;
  context.threads = static_cast<unsigned>(state.range(0));
  forget_peak();
  const double before = status_bytes("VmRSS:");
  double result = 0;
  {
    const Explanations first = explain(spec, task, context);
    result = result_bytes(first);
  }
  state.counters["beyond_result"] = status_bytes("VmHWM:") - before - result;
  for (auto _ : state) benchmark::DoNotOptimize(explain(spec, task, context));
}

void explain_rows(benchmark::State& state, const std::string& data, const std::string& method) {
  const char* folder = std::getenv("ASSAY_BENCH_EXPLAIN");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (folder == nullptr) return state.SkipWithError("no folder of models and rows");
  const std::string file = std::string(folder) + "/" + data;
  const auto model = EngineModel::load(file + ".onnx");
  const Matrix all = model->features_of(read_table(file + ".npy")).x;
  const auto count = static_cast<size_t>(state.range(1));
  if (all.rows() < count) return state.SkipWithError("fewer rows in the file");
  const MatrixView<const float> rows = all.view().rows_between(0, count);
  const Reference reference{model->features_of(read_table(file + "_baseline.npy")).x, "given"};
  const Players players = column_players(model->info().feature_names);
  const TargetChoice choice = parse_target(model->info(), "auto").front();
  const Targets targets = freeze_targets(*model, rows, choice, {});
  measure(state, parse_spec("method", method), {*model, rows, targets, reference, players});
}

// What Kernel SHAP costs beside the calls of a function that costs nothing.
void explain_callable(benchmark::State& state) {
  ModelInfo info;
  info.name = "callable";
  info.output_names = {"y"};
  for (size_t j = 0; j < 14; j++) info.feature_names.push_back("x" + std::to_string(j));
  const auto model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) outputs.row(r)[0] = rows.row(r)[0];
  });
  Matrix rows(static_cast<size_t>(state.range(1)), info.feature_names.size());
  RandomStream random(1, "explain_bench");
  for (float& value : rows.values()) value = static_cast<float>(random.uniform());
  const Reference reference{Matrix(1, rows.cols()), "zero"};
  const Players players = column_players(info.feature_names);
  const Targets targets = freeze_targets(*model, rows.view(), parse_target(info, "auto").front(), {});
  const Spec spec = parse_spec("method", "kernel_shap:samples=2076");
  measure(state, spec, {*model, rows.view(), targets, reference, players});
}

void arguments(benchmark::internal::Benchmark* made, int64_t rows) {
  made->ArgNames({"threads", "rows"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int64_t threads : {1, 2}) {
    for (const int64_t count : {rows / 4, rows}) made->Args({threads, count});
  }
}

void register_benchmark(const std::string& name, const std::string& data, const std::string& method, int64_t rows) {
  arguments(benchmark::RegisterBenchmark(
                name.c_str(), [data, method](benchmark::State& state) { explain_rows(state, data, method); }),
            rows);
}

// NOLINTNEXTLINE(cert-err58-cpp): a failure here ends the benchmark, as it should
const bool kRegistered = [] {
  constexpr int64_t kAdult = 48842;
  register_benchmark("explain_adult_exact_shapley", "adult", "exact_shapley", kAdult);
  register_benchmark("explain_adult_kernel_shap", "adult", "kernel_shap:samples=2076", kAdult);
  register_benchmark("explain_adult_shapley_sampling", "adult", "shapley_sampling:permutations=25:antithetic=false",
                     kAdult);
  const std::string fifty = "integrated_gradients:rule=gauss_legendre:steps=50:tolerance=0";
  register_benchmark("explain_adult_gradient", "adult", "gradient", kAdult);
  register_benchmark("explain_adult_gradient_x_input", "adult", "gradient_x_input", kAdult);
  register_benchmark("explain_adult_integrated_gradients_50", "adult", fifty, kAdult);
  register_benchmark("explain_adult_integrated_gradients", "adult", "integrated_gradients", kAdult);
  register_benchmark("explain_adult_deeplift", "adult", "deeplift", kAdult);
  register_benchmark("explain_mnist_gradient", "mnist", "gradient", 1000);
  register_benchmark("explain_mnist_gradient_x_input", "mnist", "gradient_x_input", 1000);
  register_benchmark("explain_mnist_integrated_gradients_50", "mnist", fifty, 200);
  register_benchmark("explain_mnist_deeplift", "mnist", "deeplift", 1000);
  arguments(benchmark::RegisterBenchmark("explain_callable", explain_callable), 2048);
  return true;
}();

}  // namespace
}  // namespace assay
