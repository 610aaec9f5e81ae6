// Aggregators on real explanations of images.
//
// ASSAY_BENCH_MEMBERS names a folder of explanations of the same images by several methods, one .npz each, as
// `assay explain --method a,b,c --out folder/member.npz` writes them. Without it these are skipped. Times are those of
// aggregate(), for all rows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"

namespace assay {
namespace {

std::vector<Explanations> read_members(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".npz") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  std::vector<Explanations> members;
  for (const std::string& file : files) members.push_back(read_explanations(file, {}));
  return members;
}

void aggregate_images(benchmark::State& state, const std::string& aggregator) {
  const char* folder = std::getenv("ASSAY_BENCH_MEMBERS");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (folder == nullptr) return state.SkipWithError("no folder of explanations");
  const std::vector<Explanations> members = read_members(folder);
  std::vector<const Explanations*> views;
  for (const Explanations& member : members) views.push_back(&member);
  const AggregateTask task{views};
  Context context;
  context.threads = static_cast<unsigned>(state.range(0));
  const Spec spec = parse_spec("aggregator", aggregator);
  for (auto _ : state) {
    const Aggregate made = aggregate(spec, task, context);
    benchmark::DoNotOptimize(made.explanations.values.data());
  }
  state.counters["members"] = static_cast<double>(members.size());
  state.counters["players"] = static_cast<double>(members[0].players());
  state.counters["rows"] = static_cast<double>(task.rows());
}

// NOLINTNEXTLINE(cert-err58-cpp): a failure here ends the benchmark, as it should
const bool kRegistered = [] {
  for (const char* aggregator :
       {"mean", "median", "geometric_median", "borda", "copeland", "gradient_descent_style",
        "gradient_descent_style:step=fixed", "region_shrinking:rounds=10", "shrink_then_descend", "closest_simple"}) {
    const std::string name = std::string("aggregate_mnist_") + aggregator;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [aggregator](benchmark::State& state) { aggregate_images(state, aggregator); })
        ->ArgNames({"threads"})
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace assay
