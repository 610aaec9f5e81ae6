// Sensitivity over data neighbourhoods: every row of a table against all others, radius 2 under l-infinity in scaled
// space, as in the paper's Adult experiment. The last number of a name is that of threads.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/evaluate/criteria.h"

namespace assay {
namespace {

struct Comparable {
  Dataset data;
  std::unique_ptr<Model> model;
  Explanations explanations;
};

// As many rows, numbers and categories as Adult.
Dataset made_up() {
  constexpr size_t kCategories = 8;
  Dataset data;
  data.x = Matrix(48842, 14);
  RandomStream random(1, "sensitivity_bench");
  for (float& value : data.x.values()) value = static_cast<float>(random.normal());
  for (size_t j = 0; j < data.x.cols(); j++) {
    const auto kind = j < kCategories ? ColumnKind::categorical : ColumnKind::numeric;
    data.feature_names.push_back(std::to_string(j));
    data.groups.push_back({data.feature_names.back(), j, 1, kind});
    for (size_t i = 0; i < data.rows() && j < kCategories; i++) data.x(i, j) = std::round(2 * data.x(i, j));
  }
  return data;
}

// Two classes, one of them of about a quarter of the rows, and attributions that follow the row with some noise.
Comparable comparable(Dataset data) {
  Comparable made;
  std::vector<double> column_mean(data.x.cols(), 0);
  for (size_t i = 0; i < data.rows(); i++) {
    for (size_t j = 0; j < data.x.cols(); j++) {
      column_mean[j] += data.x(i, j) / static_cast<double>(data.rows());
    }
  }
  ModelInfo info;
  info.name = "made up";
  info.feature_names = data.feature_names;
  info.output_names = {"yes"};
  info.class_names = {"no", "yes"};
  info.unit = OutputUnit::margin;
  made.model = model_from_function(info, [column_mean](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t i = 0; i < rows.rows(); i++) {
      int above = 0;
      for (size_t j = 0; j < rows.cols(); j++) above += rows(i, j) > column_mean[j] ? 1 : 0;
      outputs(i, 0) = static_cast<float>(above) - 0.6F * static_cast<float>(rows.cols());
    }
  });
  Explanations& explanations = made.explanations;
  explanations.values = Matrix(data.rows(), data.x.cols());
  RandomStream random(2, "sensitivity_bench");
  for (size_t i = 0; i < data.rows(); i++) {
    for (size_t j = 0; j < data.x.cols(); j++) {
      const double away = data.x(i, j) - column_mean[j];
      explanations.values(i, j) = static_cast<float>(std::tanh(away) + 0.1 * random.normal());
    }
  }
  explanations.features = data.feature_names;
  made.data = std::move(data);
  return made;
}

const Comparable* find_comparable(const std::string& name) {
  if (name == "table") {
    static const Comparable made = comparable(made_up());
    return &made;
  }
  static const std::optional<Comparable> adult = []() -> std::optional<Comparable> {
    if (!dataset_available("adult")) return std::nullopt;
    const Table table = load_dataset("adult", {});
    return comparable(Encoder::fit(table, {}).apply(table));
  }();
  return adult ? &*adult : nullptr;
}

void sensitivity(benchmark::State& state, const std::string& name, const std::string& criterion_name,
                 const std::string& options, unsigned threads) {
  const Comparable* with = find_comparable(name);
  if (with == nullptr) return state.SkipWithError("the data is not here: set ASSAY_DATA");
  PoolExplanations pool_explanations(with->explanations.values);
  EvaluateTask task{with->explanations};
  task.subject.rows = &with->data;
  task.subject.model = with->model.get();
  task.subject.pool = &with->data;
  task.pool_explanations = &pool_explanations;
  const auto criterion =
      find_criterion(criterion_name).make(parse_spec("criterion", criterion_name + ":radius=2" + options));
  Context context;
  context.threads = threads;
  Scores scores;
  for (auto _ : state) {
    scores = {};
    scores.values.assign(task.rows(), NAN);
    criterion->score(task, scores, context);
    benchmark::DoNotOptimize(scores.values.data());
  }
  state.SetLabel(scores.notes.front());
}

#define ASSAY_SENSITIVITY_BENCHMARK(data, criterion, weighting, threads)                                         \
  BENCHMARK_CAPTURE(sensitivity, data##_##criterion##_##weighting##_##threads, #data, #criterion "_sensitivity", \
                    ":weighting=" #weighting, threads)                                                           \
      ->Unit(benchmark::kMillisecond)                                                                            \
      ->UseRealTime()
#define ASSAY_SENSITIVITY_BENCHMARKS(data, threads)                  \
  ASSAY_SENSITIVITY_BENCHMARK(data, max, uniform, threads);          \
  ASSAY_SENSITIVITY_BENCHMARK(data, max, inverse_distance, threads); \
  ASSAY_SENSITIVITY_BENCHMARK(data, avg, uniform, threads);          \
  ASSAY_SENSITIVITY_BENCHMARK(data, avg, inverse_distance, threads)

ASSAY_SENSITIVITY_BENCHMARKS(table, 2);
ASSAY_SENSITIVITY_BENCHMARKS(adult, 1);
ASSAY_SENSITIVITY_BENCHMARKS(adult, 2);

}  // namespace
}  // namespace assay
