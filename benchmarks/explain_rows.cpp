// explain_rows MODEL.onnx ROWS.npy BASELINE.npy: how long explanations take from C++, one call at a time.
//
// benchmarks/python_overhead.py runs it beside the Python package, call by call in turn. Each line of standard input is
// `THREADS METHOD`; the answer is a line of four numbers: seconds from a table in memory to the explanations of all its
// rows (features, targets and explain()), the same in CPU seconds of all threads, the seconds in explain() alone, and
// the sum of the attributions' bits as whole numbers, which shows that both sides did the same. Files are read before
// the first line.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>

#include "assay/data/table_io.h"
#include "assay/explain/explainer.h"
#include "assay/explain/players.h"
#include "assay/model/engine_model.h"

namespace assay {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of all threads of this process; what else the machine does is not in it.
double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

uint64_t sum_of_bits(const Matrix& values) {
  uint64_t sum = 0;
  for (const float value : values.values()) sum += std::bit_cast<uint32_t>(value);
  return sum;
}

void answer_calls(const std::string& model_path, const std::string& rows_path, const std::string& baseline_path) {
  const auto model = EngineModel::load(model_path);
  const Table table = read_table(rows_path);
  const Reference reference{model->features_of(read_table(baseline_path)).x, "given"};
  unsigned threads = 0;
  for (std::string method; std::cin >> threads >> method;) {
    Context context;
    context.threads = threads;
    const double cpu = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    const Dataset data = model->features_of(table);
    const Players players = column_players(model->info().feature_names);
    const TargetChoice choice = parse_target(model->info(), "auto").front();
    const Targets targets = freeze_targets(*model, data.x.view(), choice, context);
    const auto middle = std::chrono::steady_clock::now();
    const Explanations found =
        explain(parse_spec("method", method), {*model, data.x.view(), targets, reference, players}, context);
    const double in_explain = seconds_since(middle);
    const double in_all = seconds_since(begin);
    const double cpu_in_all = cpu_seconds() - cpu;
    fmt::print("{:.9f} {:.9f} {:.9f} {}\n", in_all, cpu_in_all, in_explain, sum_of_bits(found.values));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace assay

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: explain_rows MODEL.onnx ROWS.npy BASELINE.npy\n");
    return 2;
  }
  try {
    assay::answer_calls(arguments[1], arguments[2], arguments[3]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "explain_rows: {}\n", error.what());
    return 1;
  }
  return 0;
}
