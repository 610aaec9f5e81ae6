// The complexity aggregators of the paper on rows as large as MNIST's: 784 players, 6 members.
//
// Members are made up. "pixels": what methods that multiply by the input say of a digit, a common signal and noise of
// their own on some 150 to 250 players, and 0 elsewhere; two of the six, like plain gradients, on all players.
// "alike": the same with little noise of their own. "dense": independent normal numbers everywhere, which no method
// gives. Times are of one row; "complexity" is that of the results, "least" that of the simplest members.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/aggregators.h"
#include "assay/core/random.h"
#include "assay/evaluate/complexity.h"

namespace assay {
namespace {

constexpr size_t kRows = 20;
constexpr size_t kMembers = 6;
constexpr size_t kPlayers = 784;

std::vector<Explanations> made_up(const std::string& kind) {
  std::vector<Explanations> made(kMembers);
  for (Explanations& each : made) {
    each.values = Matrix(kRows, kPlayers);
    each.features.resize(kPlayers);
  }
  for (size_t r = 0; r < kRows; r++) {
    RandomStream draw(1, "made up members", r);
    std::vector<double> signal(kPlayers);
    std::vector<bool> lit(kPlayers);
    for (size_t p = 0; p < kPlayers; p++) {
      signal[p] = draw.normal() * std::exp(draw.normal());
      lit[p] = p % 28 > 6 && p % 28 < 20 && draw.uniform() < 0.4 + 0.02 * static_cast<double>(r % 10);
    }
    for (size_t j = 0; j < kMembers; j++) {
      const double noise = kind == "alike" ? 0.1 : 0.5 + 0.2 * static_cast<double>(j);
      for (size_t p = 0; p < kPlayers; p++) {
        const double own = draw.normal() * std::exp(draw.normal());
        const bool there = lit[p] || j >= 4;
        const double value = kind == "dense" ? draw.normal() : there ? signal[p] + noise * own : 0;
        made[j].values(r, p) = static_cast<float>(value);
      }
    }
  }
  return made;
}

void combine_rows(benchmark::State& state, const AggregatorInfo& info, const std::string& options,
                  const std::string& kind) {
  const std::vector<Explanations> made = made_up(kind);
  std::vector<const Explanations*> views;
  for (const Explanations& each : made) views.push_back(&each);
  const AggregateTask task{views};
  const Members members(task, true);
  const std::unique_ptr<Aggregator> aggregator = info.make(parse_spec("aggregator", info.name + options));
  Context context;
  context.threads = 1;
  Matrix values(kRows, kPlayers);
  for (auto _ : state) {
    Combined out{values.view()};
    aggregator->combine(task, members, out, context);
  }
  double found = 0;
  double least = 0;
  for (size_t r = 0; r < kRows; r++) {
    found += complexity(values.row(r)) / kRows;
    double simplest = complexity(members.of(0, r));
    for (size_t j = 1; j < kMembers; j++) simplest = std::min(simplest, complexity(members.of(j, r)));
    least += simplest / kRows;
  }
  state.counters["row_seconds"] = benchmark::Counter(
      static_cast<double>(kRows), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["complexity"] = found;
  state.counters["least"] = least;
}

// NOLINTNEXTLINE(cert-err58-cpp): a failure here ends the benchmark, as it should
const bool kRegistered = [] {
  const auto add = [](const AggregatorInfo& info, const std::string& options) {
    for (const std::string kind : {"pixels", "alike", "dense"}) {
      benchmark::RegisterBenchmark(
          ("aggregate_" + info.name + options + "_" + kind).c_str(),
          [info, options, kind](benchmark::State& state) { combine_rows(state, info, options, kind); })
          ->Unit(benchmark::kMillisecond);
    }
  };
  add(find_aggregator("gradient_descent_style"), "");
  add(find_aggregator("gradient_descent_style"), ":step=fixed");
  add(find_aggregator("region_shrinking"), "");
  add(find_aggregator("shrink_then_descend"), "");
  return true;
}();

}  // namespace
}  // namespace assay
