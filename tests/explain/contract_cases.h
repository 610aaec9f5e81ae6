// What contract tests share: every toy and fixture model as a case, and comparisons of bits.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/data/table_io.h"
#include "assay/explain/methods.h"
#include "assay/model/engine_model.h"
#include "tests/explain/toys.h"
#include "tests/explain/tree_toys.h"
#include "tests/on_targets.h"

namespace assay::testing {

// Budgets fit for a test; a method that is not listed runs with its defaults.
inline Spec quick(const MethodInfo& method) {
  static const std::map<std::string, std::string> budgets = {{"shapley_sampling", ":permutations=6"},
                                                             {"smooth_grad", ":samples=5"},
                                                             {"kernel_shap", ":samples=400"},
                                                             {"integrated_gradients", ":most_steps=256"},
                                                             {"lime", ":samples=300"},
                                                             {"tree_shap", ":background_error=true"}};
  const auto found = budgets.find(method.name);
  return parse_spec("method", method.name + (found == budgets.end() ? "" : found->second));
}

struct Case {
  std::string name;
  Setting setting;
  bool differentiable = true;
};

// name: of a folder of models, or "trees/NAME/FILE".
inline Case fixture(const std::string& name, bool differentiable = true) {
  const std::string all = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/";
  const bool booster = name.starts_with("trees/");
  const std::string folder = booster ? all + name.substr(0, name.rfind('/')) : all + "models/" + name;
  std::shared_ptr<EngineModel> model = EngineModel::load(booster ? all + name : folder + "/model.onnx");
  const Dataset data = model->features_of(read_table(folder + "/rows.csv"));
  Matrix rows(5, data.x.cols());
  Matrix reference(1, data.x.cols());
  for (size_t r = 0; r < rows.rows(); r++) std::copy_n(data.x.row(r).data(), rows.cols(), rows.row(r).data());
  std::copy_n(data.x.row(9).data(), rows.cols(), reference.row(0).data());
  Case made{name, setting_of(model, std::move(rows), std::move(reference)), differentiable};
  made.setting.players = group_players(data);
  return made;
}

inline Case black_box() {
  ModelInfo info;
  info.name = "a function";
  info.feature_names = {"a", "b", "c", "d"};
  info.output_names = {"y"};
  std::shared_ptr<const Model> model =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = std::sin(rows(r, 0)) * rows(r, 1) + rows(r, 3);
      });
  return {"black box", setting_of(model, matrix_of({{1, 2, 3, 4}, {0, -1, 2, 0.5F}}), matrix_of({{0, 1, 1, 0}})),
          false};
}

inline std::vector<Case> made_cases() {
  std::vector<Case> all;
  for (const Toy& toy : all_toys()) all.push_back({toy.name, setting_of(toy)});
  for (const char* name : {"torch_mlp_script", "torch_cnn_script", "torch_attention_script", "torch_cnn1d_script",
                           "sklearn_mlp", "sklearn_mlp_binary", "sklearn_logistic_binary"}) {
    all.push_back(fixture(name));
  }
  for (const Toy& toy : tree_toys()) all.push_back({toy.name, setting_of(toy), false});
  for (const char* name :
       {"sklearn_forest", "lightgbm_three", "xgboost_binary", "sklearn_columns", "trees/xgboost_binary/model.json",
        "trees/lightgbm_categories/model.txt", "trees/xgboost_three/model.json", "trees/lightgbm_deep/model.txt"}) {
    all.push_back(fixture(name, false));
  }
  all.push_back(black_box());
  return all;
}

inline const std::vector<Case>& cases() {
  static const std::vector<Case> made = made_cases();
  return made;
}

// Of models that were read and made ready on this target, as another machine would.
inline const std::vector<Case>& cases_on(const std::string& target) {
  static std::map<std::string, std::vector<Case>> made;
  if (!made.contains(target)) {
    const OnTarget on(target);
    made[target] = made_cases();
  }
  return made[target];
}

// NaN is the same as NaN of the same bits.
template <class T>
inline bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && same_bits(std::span(a.values()), std::span(b.values()));
}

inline std::span<const float> some_rows(const Matrix& of, size_t begin, size_t end) {
  return of.empty() ? std::span<const float>()
                    : std::span(of.values()).subspan(begin * of.cols(), (end - begin) * of.cols());
}

// That `part` has the bits of rows begin .. end - 1 of `whole`.
inline void expect_same_rows(const Explanations& part, const Explanations& whole, size_t begin, size_t end) {
  const auto same_matrix = [&](const Matrix& a, const Matrix& b) {
    return same_bits(std::span<const float>(a.values()), some_rows(b, begin, end));
  };
  EXPECT_TRUE(same_matrix(part.values, whole.values));
  EXPECT_TRUE(same_matrix(part.standard_error, whole.standard_error));
  EXPECT_TRUE(same_matrix(part.background_error, whole.background_error));
  EXPECT_TRUE(same_bits<double>(part.gap, std::span(whole.gap).subspan(begin, end - begin)));
}

// The rows over and over, each time a little larger where they are numbers, against two reference rows.
inline Case with_more_rows(const Case& each, size_t count) {
  const Matrix& few = each.setting.rows;
  const Matrix& reference = each.setting.reference.rows;
  const bool numbers = each.name != "sklearn_columns";
  Matrix rows(count, few.cols());
  for (size_t r = 0; r < count; r++) {
    const float factor = numbers ? 1 + static_cast<float>(r / few.rows()) / 64 : 1;
    for (size_t c = 0; c < few.cols(); c++) rows(r, c) = factor * few(r % few.rows(), c);
  }
  Matrix background(2, few.cols());
  std::copy_n(reference.row(0).data(), few.cols(), background.row(0).data());
  std::copy_n(few.row(0).data(), few.cols(), background.row(1).data());
  Case made{each.name, setting_of(each.setting.model, std::move(rows), std::move(background)), each.differentiable};
  made.setting.players = each.setting.players;
  return made;
}

}  // namespace assay::testing
