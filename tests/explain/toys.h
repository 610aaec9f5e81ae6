// Toy models that carry their known answer, as graphs, so that every capability is the real one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/explain/explainer.h"
#include "assay/model/engine_model.h"
#include "tests/model/small_graph.h"

namespace assay::testing {

inline Matrix matrix_of(const std::vector<std::vector<float>>& rows) {
  Matrix made(rows.size(), rows.at(0).size());
  for (size_t r = 0; r < rows.size(); r++) std::copy(rows[r].begin(), rows[r].end(), made.row(r).begin());
  return made;
}

struct Toy {
  std::string name;
  std::shared_ptr<const Model> model;
  std::vector<std::vector<float>> rows;
  std::vector<float> reference;
  std::vector<std::vector<double>> shapley;   // of each row
  std::vector<std::vector<double>> gradient;  // of each row
};

// y = w . x + 0.5 with w = (2, -3, 0)
inline Toy linear_toy() {
  auto graph = model({node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, 3})}, {value("y", {-1, 1})},
                     {floats("w", {3, 1}, {2, -3, 0}), floats("b", {1}, {0.5F})});
  return {"linear",
          EngineModel::from_onnx("linear", std::move(graph)),
          {{1, 2, 3}, {-1, 0.5F, 4}},
          {0, 1, -1},
          {{2, -3, 0}, {-2, 1.5, 0}},
          {{2, -3, 0}, {2, -3, 0}}};
}

// y = x1^2 + exp(x2) + |x3|: each feature's value is the difference of its own term.
inline Toy additive_toy() {
  auto graph = model({node("Mul", {"a", "a"}, {"aa"}), node("Exp", {"b"}, {"eb"}), node("Abs", {"c"}, {"ac"}),
                      node("Add", {"aa", "eb"}, {"s"}), node("Add", {"s", "ac"}, {"y"})},
                     {value("a", {-1, 1}), value("b", {-1, 1}), value("c", {-1, 1})}, {value("y", {-1, 1})});
  return {"additive",
          EngineModel::from_onnx("additive", std::move(graph)),
          {{3, 1, -2}},
          {1, 0, 1},
          {{8, 1.718281828459045, 1}},
          {{6, 2.718281828459045, -1}}};
}

// y = x1 x2: phi_1 = (x1 - r1)(x2 + r2) / 2, and the other way round.
inline Toy product_toy() {
  auto graph =
      model({node("Mul", {"a", "b"}, {"y"})}, {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})});
  return {"product",
          EngineModel::from_onnx("product", std::move(graph)),
          {{3, 5}, {2, -4}},
          {1, 2},
          // (3-1)(5+2)/2, (5-2)(3+1)/2; (2-1)(-4+2)/2, (-4-2)(2+1)/2
          {{7, 6}, {-1, -9}},
          {{5, 3}, {-4, 2}}};
}

// One hidden layer of two ReLUs: y = sum over j of tail[j] max(0, w_1j x1 + w_2j x2 + bias_j)
inline std::shared_ptr<const Model> two_relus(const std::string& name, const std::vector<float>& weights,
                                              const std::vector<float>& bias, const std::vector<float>& tail) {
  auto graph =
      model({node("Gemm", {"x", "w", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
            {value("x", {-1, 2})}, {value("y", {-1, 1})},
            {floats("w", {2, 2}, weights), floats("b", {2}, bias), floats("v", {2, 1}, tail)});
  return EngineModel::from_onnx(name, std::move(graph));
}

// XOR on corners: relu(x1 + x2) - 2 relu(x1 + x2 - 1). At (1, 1) v is 0, 1, 1, 0: nobody gets anything.
inline Toy xor_toy() {
  return {"xor",
          two_relus("xor", {1, 1, 1, 1}, {0, -1}, {1, -2}),
          {{1, 1}, {1, 0}, {0, 1}},
          {0, 0},
          {{0, 0}, {1, 0}, {0, 1}},
          {}};
}

// AND on corners: relu(x1 + x2 - 1). Only both together make 1.
inline Toy and_toy() {
  return {"and", two_relus("and", {1, 0, 1, 0}, {-1, 0}, {1, 0}), {{1, 1}, {1, 0}}, {0, 0}, {{0.5, 0.5}, {0, 0}}, {}};
}

// min(x1, x2) for positive numbers, as x1 - relu(x1 - x2) (Shrikumar et al. 2017): v({1}) = v({2}) = 0.
inline Toy min_toy() {
  return {"min",
          two_relus("min", {1, 1, 0, -1}, {0, 0}, {1, -1}),
          {{10, 6}, {3, 8}},
          {0, 0},
          {{3, 3}, {1.5, 1.5}},
          {{0, 1}, {1, 0}}};
}

// 1 - relu(1 - x): flat beyond 1, so that the gradient at 2 is 0 while the whole rise is due to x (Sundararajan et al.
// 2017). The second feature takes no part.
inline Toy saturated_toy() {
  auto graph =
      model({node("Gemm", {"x", "w", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("Gemm", {"h", "v", "c"}, {"y"})},
            {value("x", {-1, 2})}, {value("y", {-1, 1})},
            {floats("w", {2, 1}, {-1, 0}), floats("b", {1}, {1}), floats("v", {1, 1}, {-1}), floats("c", {1}, {1})});
  return {"saturated", EngineModel::from_onnx("saturated", std::move(graph)), {{2, 7}}, {0, 0}, {{1, 0}}, {{0, 0}}};
}

inline std::vector<Toy> all_toys() {
  std::vector<Toy> toys;
  toys.push_back(linear_toy());
  toys.push_back(additive_toy());
  toys.push_back(product_toy());
  toys.push_back(xor_toy());
  toys.push_back(and_toy());
  toys.push_back(min_toy());
  toys.push_back(saturated_toy());
  return toys;
}

// What a task refers to, kept together.
struct Setting {
  std::shared_ptr<const Model> model;
  Matrix rows;
  Targets targets;
  Reference reference;
  Players players;

  ExplainTask task() const { return {*model, rows.view(), targets, reference, players}; }
};

inline Setting setting_of(std::shared_ptr<const Model> model, Matrix rows, Matrix reference,
                          std::string_view target = "auto") {
  Setting made;
  made.rows = std::move(rows);
  made.reference.rows = std::move(reference);
  made.reference.description = "test";
  made.targets = freeze_targets(*model, made.rows.view(), parse_target(model->info(), target).at(0), {});
  made.players = column_players(model->info().feature_names);
  made.model = std::move(model);
  return made;
}

inline Setting setting_of(const Toy& toy) {
  return setting_of(toy.model, matrix_of(toy.rows), matrix_of({toy.reference}));
}

}  // namespace assay::testing
