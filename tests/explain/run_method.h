// Runs one method on a setting, without what explain() checks beforehand and adds to its result.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "assay/data/table_io.h"
#include "assay/explain/explainer.h"
#include "assay/explain/methods.h"
#include "assay/model/engine_model.h"
#include "tests/explain/toys.h"

namespace assay::testing {

struct Result {
  Matrix values;
  Attributions out;
};

// As users write it: "smooth_grad:samples=20:level=0.3".
inline std::unique_ptr<Explainer> make_method(std::string_view text) {
  const Spec spec = parse_spec("method", text);
  return find_method(spec.name).make(spec);
}

inline std::optional<std::string> refusal_of(std::string_view method, const Setting& setting) {
  const std::optional<Refusal> found = make_method(method)->refuses(setting.task());
  return found ? std::optional(found->reason) : std::nullopt;
}

inline Result explained_task(std::string_view text, const ExplainTask& task, const Context& context = {}) {
  const std::unique_ptr<Explainer> method = make_method(text);
  EXPECT_EQ(method->refuses(task), std::nullopt);
  Result made;
  made.values = Matrix(task.rows.rows(), task.players.size());
  made.out.values = made.values.view();
  method->attribute(task, made.out, context);
  return made;
}

inline Result explained(std::string_view method, const Setting& setting, const Context& context = {}) {
  return explained_task(method, setting.task(), context);
}

inline Context on_threads(unsigned threads, uint64_t seed = 0) {
  Context made;
  made.threads = threads;
  made.seed = seed;
  return made;
}

inline bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.values().size() * sizeof(float)) == 0);
}

// A model of the fixtures with its own rows, the last one as reference.
inline Setting fixture_setting(const std::string& name, std::string_view target = "auto") {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/models/" + name;
  std::shared_ptr<EngineModel> model = EngineModel::load(folder + "/model.onnx");
  Dataset data = model->features_of(read_table(folder + "/rows.csv"));
  Matrix reference(1, data.x.cols());
  const auto last = data.x.row(data.x.rows() - 1);
  std::copy(last.begin(), last.end(), reference.row(0).begin());
  return setting_of(model, std::move(data.x), std::move(reference), target);
}

// Results must have the same bits on any number of threads, and when the rows come in parts.
inline void expect_same_bits_everywhere(std::string_view method, const Setting& setting) {
  const Result one = explained(method, setting, on_threads(1, 5));
  for (const unsigned threads : {2U, 7U}) {
    const Result other = explained(method, setting, on_threads(threads, 5));
    EXPECT_TRUE(same_bits(one.values, other.values)) << threads << " threads";
    EXPECT_TRUE(same_bits(one.out.standard_error, other.out.standard_error)) << threads << " threads";
    EXPECT_TRUE(same_bits(one.out.background_error, other.out.background_error)) << threads << " threads";
    EXPECT_EQ(one.out.evaluations, other.out.evaluations);
  }
  const ExplainTask whole = setting.task();
  const size_t rows = whole.rows.rows();
  for (const size_t begin : {size_t{0}, rows / 3, rows - 1}) {
    const size_t end = begin == rows / 3 ? rows : begin + 1;
    const Targets targets = slice_targets(whole.targets, begin, end);
    const ExplainTask task{whole.model, whole.rows.rows_between(begin, end), targets, whole.reference, whole.players};
    const Result part = explained_task(method, task, on_threads(2, 5));
    const size_t bytes = part.values.values().size() * sizeof(float);
    EXPECT_EQ(std::memcmp(part.values.data(), one.values.row(begin).data(), bytes), 0) << "rows from " << begin;
    if (part.out.standard_error.empty()) continue;
    EXPECT_EQ(std::memcmp(part.out.standard_error.data(), one.out.standard_error.row(begin).data(), bytes), 0);
  }
}

// Players of these columns each.
inline Players players_of(const std::vector<uint32_t>& of_column, size_t players) {
  Players made;
  made.of_column = of_column;
  for (size_t p = 0; p < players; p++) made.names.push_back(fmt::format("p{}", p));
  return made;
}

}  // namespace assay::testing
