// How fast tables are read: bytes of text per second, one core.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "assay/core/random.h"
#include "assay/data/io/csv.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

// A numeric table as pandas writes one: 100,000 rows, 20 columns of full float32 precision.
std::string make_text() {
  constexpr size_t kRows = 100000;
  RandomStream random(1, "csv_bench");
  std::string text;
  for (int j = 0; j < 20; ++j) text += (j > 0 ? ",c" : "c") + std::to_string(j);
  text += '\n';
  for (size_t i = 0; i < kRows; ++i) {
    for (int j = 0; j < 20; ++j) {
      if (j > 0) text += ',';
      append_number(text, static_cast<float>(random.normal()));
    }
    text += '\n';
  }
  return text;
}

const std::string& numeric_text() {
  static const std::string text = make_text();
  return text;
}

void csv_numeric(benchmark::State& state) {
  const std::string& text = numeric_text();
  Context context;
  context.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(read_csv([&] { return memory_bytes("t", text); }, {}, context));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(csv_numeric)->Unit(benchmark::kMillisecond);

void csv_write(benchmark::State& state) {
  const std::string& text = numeric_text();
  const Table table = read_csv([&] { return memory_bytes("t", text); });
  for (auto _ : state) write_csv(table, "/dev/null");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(csv_write)->Unit(benchmark::kMillisecond);

// The same bytes copied: what memory allows.
void csv_memory_copy(benchmark::State& state) {
  const std::string& text = numeric_text();
  std::string copy(text.size(), ' ');
  for (auto _ : state) {
    std::memcpy(copy.data(), text.data(), text.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(csv_memory_copy)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay
