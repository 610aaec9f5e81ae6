// Coalition games of one row on one thread, set-up of the row included: the fastest of short batches. "adult" is the
// paper's network for Adult (14-40-2, leaky ReLU). ASSAY_BENCH_TARGET=AVX2 measures another vector target.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/explain/games/game.h"
#include "assay/model/engine_model.h"

namespace assay {
namespace {

OnnxValue matrix_value(const std::string& name, size_t width) {
  OnnxValue made;
  made.name = name;
  made.type.kind = OnnxValueKind::tensor;
  made.type.element = OnnxElement::float32;
  made.type.dims.emplace();
  made.type.dims->resize(2);
  made.type.dims->at(0).symbol = "N";
  made.type.dims->at(1).size = static_cast<int64_t>(width);
  return made;
}

OnnxNode operation(const std::string& name, std::vector<std::string> inputs, const std::string& output) {
  OnnxNode made;
  made.op_type = name;
  made.inputs = std::move(inputs);
  made.outputs = {output};
  return made;
}

std::unique_ptr<EngineModel> network(const std::vector<size_t>& widths, const std::string& activation) {
  RandomStream random(1, "explain_games_bench");
  OnnxModel made;
  made.ir_version = 8;
  made.opsets = {{"", 17}};
  std::string last = "x";
  for (size_t l = 0; l + 1 < widths.size(); l++) {
    const std::string id = std::to_string(l);
    std::vector<float> weights(widths[l] * widths[l + 1]);
    std::vector<float> bias(widths[l + 1]);
    for (float& each : weights) each = static_cast<float>(0.3 * random.normal());
    for (float& each : bias) each = static_cast<float>(0.1 * random.normal());
    const auto in = static_cast<int64_t>(widths[l]);
    const auto out = static_cast<int64_t>(widths[l + 1]);
    made.graph.initializers.push_back(onnx_tensor("w" + id, {in, out}, std::span<const float>(weights)));
    made.graph.initializers.push_back(onnx_tensor("b" + id, {out}, std::span<const float>(bias)));
    made.graph.nodes.push_back(operation("Gemm", {last, "w" + id, "b" + id}, "z" + id));
    last = "z" + id;
    if (l + 2 == widths.size()) break;
    made.graph.nodes.push_back(operation(activation, {last}, "h" + id));
    last = "h" + id;
  }
  made.graph.inputs = {matrix_value("x", widths.front())};
  made.graph.outputs = {matrix_value(last, widths.back())};
  return EngineModel::from_onnx("bench", std::move(made));
}

// Of this thread's own time, for other processes share the machine.
double seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class Form { range, list };

void play_row(benchmark::State& state, const std::vector<size_t>& widths, const std::string& activation, Form form,
              size_t count, bool masked = false) {
  const auto model = network(widths, activation);
  const size_t players = widths.front();
  RandomStream random(2, "explain_games_bench");
  Matrix rows(64, players);
  for (float& each : rows.values()) each = static_cast<float>(random.normal());
  Targets targets;
  targets.names = {"t"};
  targets.terms = {OutputTerm{widths.back() - 1, 1, 0}};
  targets.of_row.assign(rows.rows(), 0);
  Reference reference;
  reference.rows = Matrix(1, players);
  Players each_column;
  for (size_t c = 0; c < players; c++) {
    each_column.names.push_back(std::to_string(c));
    each_column.of_column.push_back(static_cast<uint32_t>(c));
  }
  Coalitions coalitions(players);
  if (form == Form::range) {
    coalitions = Coalitions::range(players, 0, count);
  } else {
    for (size_t i = 0; i < count; i++) {
      std::vector<uint64_t> bits(coalitions.words(), 0);
      for (size_t p = 0; p < players; p++) bits[p / 64] |= uint64_t{random.below(2)} << p % 64;
      coalitions.add(bits);
    }
  }
  const ExplainTask task{*model, rows.view(), targets, reference, each_column};
  Context alone;
  alone.threads = 1;
  const auto game = masked ? make_masked_game(task, alone) : make_game(task, alone);
  Matrix values(1, count);
  // Long enough for the clock.
  const auto repeats = std::max<size_t>(1, 50000 / count);
  size_t row = 0;
  double best = 1;
  for (auto _ : state) {
    const double start = seconds();
    for (size_t repeat = 0; repeat < repeats; repeat++) {
      row = (row + 1) % rows.rows();
      game->values({&row, 1}, 0, coalitions, values.view(), alone);
      benchmark::ClobberMemory();
    }
    best = std::min(best, (seconds() - start) / static_cast<double>(repeats));
  }
  state.counters["us_per_row"] = best * 1e6;
  state.counters["ns_per_coalition"] = best * 1e9 / static_cast<double>(count);
  state.SetLabel(vector_target());
}
const std::vector<size_t> kAdult = {14, 40, 2};
const std::vector<size_t> kDeep = {14, 64, 32, 2};
const std::vector<size_t> kDigits = {784, 128, 10};
BENCHMARK_CAPTURE(play_row, adult_all_16384, kAdult, "LeakyRelu", Form::range, 16384);
BENCHMARK_CAPTURE(play_row, adult_list_2076, kAdult, "LeakyRelu", Form::list, 2076);
BENCHMARK_CAPTURE(play_row, adult_list_350, kAdult, "LeakyRelu", Form::list, 350);
BENCHMARK_CAPTURE(play_row, adult_list_15, kAdult, "LeakyRelu", Form::list, 15);
BENCHMARK_CAPTURE(play_row, adult_masked_2076, kAdult, "LeakyRelu", Form::list, 2076, true);
BENCHMARK_CAPTURE(play_row, deep_all_16384, kDeep, "LeakyRelu", Form::range, 16384);
BENCHMARK_CAPTURE(play_row, deep_list_2076, kDeep, "LeakyRelu", Form::list, 2076);
BENCHMARK_CAPTURE(play_row, digits_list_2000, kDigits, "Relu", Form::list, 2000);
BENCHMARK_CAPTURE(play_row, digits_masked_2000, kDigits, "Relu", Form::list, 2000, true);

}  // namespace
}  // namespace assay
