// How fast tables are read: bytes of text per second, one core.
#include <benchmark/benchmark.h>

#include <string>

#include "assay/core/random.h"
#include "assay/data/io/csv.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

// A numeric table as pandas writes one: 20 columns of full float32 precision.
std::string numeric_text(size_t rows) {
  RandomStream random(1, "csv_bench");
  std::string text;
  for (int j = 0; j < 20; ++j) text += (j > 0 ? ",c" : "c") + std::to_string(j);
  text += '\n';
  for (size_t i = 0; i < rows; ++i) {
    for (int j = 0; j < 20; ++j) {
      if (j > 0) text += ',';
      append_number(text, static_cast<float>(random.normal()));
    }
    text += '\n';
  }
  return text;
}

void csv_numeric(benchmark::State& state) {
  const std::string text = numeric_text(100000);
  for (auto _ : state) benchmark::DoNotOptimize(read_csv([&] { return memory_bytes("t", text); }));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(csv_numeric)->Unit(benchmark::kMillisecond);

void csv_write(benchmark::State& state) {
  const std::string text = numeric_text(100000);
  const Table table = read_csv([&] { return memory_bytes("t", text); });
  for (auto _ : state) write_csv(table, "/dev/null");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(csv_write)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay
