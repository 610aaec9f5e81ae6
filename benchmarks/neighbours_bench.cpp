// Neighbour search, one thread: time per query ("per_query") for tables and images, made up and real.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/data/neighbours.h"

namespace assay {
namespace {

struct Search {
  Dataset pool;
  Matrix queries;
};

std::optional<Dataset> real_data(const char* name) {
  if (!dataset_available(name)) return std::nullopt;
  DatasetRequest request;
  if (std::string_view(name) == "mnist") request.split = Split::train;
  const Table table = load_dataset(name, request);
  return Encoder::fit(table, {}).apply(table);
}

Dataset with_single_groups(Matrix x, size_t categories) {
  Dataset data;
  data.x = std::move(x);
  for (size_t j = 0; j < data.x.cols(); ++j) {
    const auto kind = j < categories ? ColumnKind::categorical : ColumnKind::numeric;
    data.feature_names.push_back(std::to_string(j));
    data.groups.push_back({data.feature_names.back(), j, 1, kind});
  }
  return data;
}

// As many rows, numbers and categories as Adult.
Dataset table() {
  constexpr size_t kCategories = 8;
  Matrix x(48842, 14);
  RandomStream random(1, "neighbours_bench");
  for (size_t i = 0; i < x.rows(); ++i) {
    for (size_t j = 0; j < x.cols(); ++j) {
      // The lower of several draws: some levels are common, most are rare.
      const auto level = std::min({random.below(12), random.below(12), random.below(12)});
      x(i, j) = j < kCategories ? static_cast<float>(level) : static_cast<float>(random.normal());
    }
  }
  return with_single_groups(std::move(x), kCategories);
}

// Smooth bright spots on a dark ground, 28 x 28.
Dataset images() {
  constexpr size_t kSide = 28;
  constexpr int kSpots = 4;
  Matrix x(20000, kSide * kSide);
  RandomStream random(2, "neighbours_bench");
  for (size_t i = 0; i < x.rows(); ++i) {
    for (int spot = 0; spot < kSpots; ++spot) {
      const double row = 4 + 20 * random.uniform();
      const double column = 4 + 20 * random.uniform();
      for (size_t j = 0; j < x.cols(); ++j) {
        const double up = static_cast<double>(j / kSide) - row;
        const double right = static_cast<double>(j % kSide) - column;
        const auto brightness = static_cast<float>(255 - 20 * (up * up + right * right));
        x(i, j) = std::max(x(i, j), brightness);
      }
    }
  }
  return with_single_groups(std::move(x), 0);
}

// Every 50th row, at most 1,000, asks for its neighbours among all.
Search search_in(Dataset pool) {
  const size_t count = std::min<size_t>(1000, pool.rows() / 50);
  Matrix queries(count, pool.x.cols());
  for (size_t i = 0; i < count; ++i) std::ranges::copy(pool.x.row(50 * i), queries.row(i).begin());
  return {std::move(pool), std::move(queries)};
}

const Search* find_search(const std::string& name) {
  if (name == "table") {
    static const Search made = search_in(table());
    return &made;
  }
  if (name == "images") {
    static const Search made = search_in(images());
    return &made;
  }
  if (name == "adult") {
    static const auto read = real_data("adult");
    static const Search made = read ? search_in(*read) : Search{};
    return read ? &made : nullptr;
  }
  static const auto read = real_data("mnist");
  static const Search made = read ? search_in(*read) : Search{};
  return read ? &made : nullptr;
}

template <class Find>
void run(benchmark::State& state, const std::string& name, Norm norm, Space space, const Find& find) {
  const Search* search = find_search(name);
  if (search == nullptr) return state.SkipWithError("the data is not here: set ASSAY_DATA");
  const NeighbourIndex index(search->pool, norm, space);
  Context context;
  context.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(find(index, search->queries.view(), context));
  state.counters["per_query"] =
      benchmark::Counter(static_cast<double>(search->queries.rows()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void nearest(benchmark::State& state, const std::string& name, Norm norm, Space space) {
  run(state, name, norm, space,
      [](const NeighbourIndex& index, MatrixView<const float> queries, const Context& context) {
        return index.nearest(queries, 10, context);
      });
}

void within(benchmark::State& state, const std::string& name, double radius, Space space) {
  run(state, name, Norm::linf, space,
      [&](const NeighbourIndex& index, MatrixView<const float> queries, const Context& context) {
        return index.within(queries, radius, context);
      });
}

// Counts and keeps nothing, as the sensitivities do: "pairs" are those of queries and rows, found or not.
void stream(benchmark::State& state, const std::string& name, double radius) {
  struct Counter final : NeighbourVisitor {
    explicit Counter(std::atomic<size_t>& total) : total_(total) {}
    void see(size_t /*block*/, std::span<const BlockHit> hits) override {
      for (const BlockHit& hit : hits) found_ += static_cast<size_t>(std::popcount(hit.within));
    }
    void finish() override { total_ += found_; }
    std::atomic<size_t>& total_;
    size_t found_ = 0;
  };
  const Search* search = find_search(name);
  if (search == nullptr) return state.SkipWithError("the data is not here: set ASSAY_DATA");
  const NeighbourIndex index(search->pool, Norm::linf, Space::scaled);
  std::vector<size_t> numbers(search->queries.rows());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  Context context;
  context.threads = 1;
  std::atomic<size_t> found = 0;
  for (auto _ : state) {
    index.stream(
        search->queries.view(), numbers, radius, false,
        [&](std::span<const size_t>) { return std::make_unique<Counter>(found); }, context);
  }
  const auto pairs = static_cast<double>(search->queries.rows() * search->pool.rows());
  state.counters["pairs"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(state.iterations()) / pairs;
}

void build(benchmark::State& state, const std::string& name) {
  const Search* search = find_search(name);
  if (search == nullptr) return state.SkipWithError("the data is not here: set ASSAY_DATA");
  for (auto _ : state) benchmark::DoNotOptimize(NeighbourIndex(search->pool, Norm::linf));
}

#define ASSAY_NEIGHBOUR_BENCHMARKS(data)                                                                           \
  BENCHMARK_CAPTURE(build, data, #data)->Unit(benchmark::kMillisecond);                                            \
  BENCHMARK_CAPTURE(nearest, data##_linf_scaled, #data, Norm::linf, Space::scaled)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(nearest, data##_linf_raw, #data, Norm::linf, Space::raw)->Unit(benchmark::kMillisecond);       \
  BENCHMARK_CAPTURE(nearest, data##_l1_scaled, #data, Norm::l1, Space::scaled)->Unit(benchmark::kMillisecond);     \
  BENCHMARK_CAPTURE(nearest, data##_l2_scaled, #data, Norm::l2, Space::scaled)->Unit(benchmark::kMillisecond);     \
  BENCHMARK_CAPTURE(within, data##_half_scaled, #data, 0.5, Space::scaled)->Unit(benchmark::kMillisecond);         \
  BENCHMARK_CAPTURE(within, data##_two_scaled, #data, 2.0, Space::scaled)->Unit(benchmark::kMillisecond)

BENCHMARK_CAPTURE(stream, table_two_scaled, "table", 2.0)->Unit(benchmark::kMillisecond);
ASSAY_NEIGHBOUR_BENCHMARKS(table);
ASSAY_NEIGHBOUR_BENCHMARKS(images);
ASSAY_NEIGHBOUR_BENCHMARKS(adult);
ASSAY_NEIGHBOUR_BENCHMARKS(mnist);

}  // namespace
}  // namespace assay
