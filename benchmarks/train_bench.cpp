// Training: one step of Adam (gather, forward, loss, backward, update) of the paper's networks.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "assay/core/random.h"
#include "assay/model/train/networks.h"
#include "assay/model/train/step.h"

namespace assay {
namespace {

void run_steps(benchmark::State& state, const OnnxModel& network, size_t features, uint32_t classes, size_t batch) {
  constexpr size_t kRows = 4096;
  Matrix rows(kRows, features);
  std::vector<float> labels(kRows);
  RandomStream random(1, "train_bench");
  for (float& value : rows.values()) value = static_cast<float>(random.uniform());
  for (float& label : labels) label = static_cast<float>(random.below(classes));
  InputScaling scaling;
  scaling.shift.assign(features, 0.5f);
  scaling.factor.assign(features, 3.0f);
  std::vector<uint32_t> order(kRows);
  random.permutation(order);
  Context context;
  context.threads = static_cast<unsigned>(state.range(0));
  Parameters parameters(network);
  TrainingStep step(network, parameters, batch, {}, {}, scaling, context);
  size_t first = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step.run({rows.view(), labels}, {order.data() + first, batch}, 1e-4));
    first = (first + batch) % kRows;
  }
  state.counters["rows"] =
      benchmark::Counter(static_cast<double>(batch), benchmark::Counter::kIsIterationInvariantRate);
}

// 14-40-2, as for Adult.
void train_mlp_step(benchmark::State& state) { run_steps(state, mlp_network({}, 14, 2, true, 0), 14, 2, 32); }
BENCHMARK(train_mlp_step)->ArgName("threads")->Arg(1)->Unit(benchmark::kMicrosecond);

// 32 and 64 convolutions of 5 x 5, as for MNIST.
void train_cnn_step(benchmark::State& state) { run_steps(state, cnn_network({}, {28, 28}, 10, true, 0), 784, 10, 64); }
BENCHMARK(train_cnn_step)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace assay
