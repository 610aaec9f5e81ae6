// Models and plain loops that tests of removal criteria compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {

// z_c = bias_c + sum over i of weights[c][i] x_i, in float64.
struct Linear {
  std::vector<std::vector<double>> weights;  // one row for each output
  std::vector<double> bias;

  std::vector<double> margins(const std::vector<double>& x) const {
    std::vector<double> z = bias;
    for (size_t c = 0; c < z.size(); c++) {
      z[c] = std::inner_product(x.begin(), x.end(), weights[c].begin(), z[c]);
    }
    return z;
  }
};

// p of all classes by softmax; one margin is that of the second of two classes.
inline std::vector<double> plain_softmax(const std::vector<double>& z) {
  if (z.size() == 1) return {1 / (1 + std::exp(z[0])), 1 / (1 + std::exp(-z[0]))};
  std::vector<double> p;
  double sum = 0;
  for (const double v : z) sum += std::exp(v);
  p.reserve(z.size());
  for (const double v : z) p.push_back(std::exp(v) / sum);
  return p;
}

// A black box. Units: margins, probabilities (softmax, or the sigmoid of one output), or values of a regression.
inline std::shared_ptr<const Model> linear_model(const Linear& linear, OutputUnit unit) {
  ModelInfo info;
  info.name = "linear";
  for (size_t i = 0; i < linear.weights.at(0).size(); i++) info.feature_names.push_back(fmt::format("x{}", i));
  for (size_t c = 0; c < linear.bias.size(); c++) info.output_names.push_back(fmt::format("y{}", c));
  if (unit != OutputUnit::value) {
    info.class_names = linear.bias.size() == 1 ? std::vector<std::string>{"no", "yes"} : info.output_names;
  }
  info.unit = unit;
  info.no_gradient = "it is a function";
  return model_from_function(info, [linear, unit](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) {
      std::vector<double> out = linear.margins({rows.row(r).begin(), rows.row(r).end()});
      if (unit == OutputUnit::probability) {
        const bool one = out.size() == 1;
        out = plain_softmax(out);
        if (one) out = {out[1]};
      }
      std::transform(out.begin(), out.end(), outputs.row(r).begin(), [](double v) { return static_cast<float>(v); });
    }
  });
}

// One output of these weights and no bias.
inline std::shared_ptr<const Model> one_output(std::vector<double> weights, OutputUnit unit = OutputUnit::margin,
                                               double bias = 0) {
  return linear_model({{std::move(weights)}, {bias}}, unit);
}

inline Trial removal_trial(std::shared_ptr<const Model> model, const std::vector<std::vector<float>>& rows,
                           const std::vector<std::vector<float>>& reference, const std::vector<std::vector<float>>& phi,
                           std::string_view target = "auto") {
  return trial_of(setting_of(std::move(model), matrix_of(rows), matrix_of(reference), target), matrix_of(phi));
}

inline float small_number(RandomStream& random) { return static_cast<float>(random.normal()); }

inline std::vector<std::vector<float>> random_rows(RandomStream& random, size_t rows, size_t cols) {
  std::vector<std::vector<float>> made(rows, std::vector<float>(cols));
  for (auto& row : made) std::generate(row.begin(), row.end(), [&] { return small_number(random); });
  return made;
}

inline Linear random_linear(RandomStream& random, size_t features, size_t outputs) {
  Linear made;
  for (size_t c = 0; c < outputs; c++) {
    made.weights.emplace_back();
    for (size_t i = 0; i < features; i++) made.weights.back().push_back(small_number(random));
    made.bias.push_back(small_number(random));
  }
  return made;
}

// x with the columns of these players (columns where of_column is empty) from the reference.
inline std::vector<double> with_at_reference(const std::vector<float>& x, const std::vector<float>& reference,
                                             const std::vector<size_t>& players,
                                             const std::vector<uint32_t>& of_column = {}) {
  std::vector<double> made(x.begin(), x.end());
  for (size_t c = 0; c < x.size(); c++) {
    const size_t player = of_column.empty() ? c : of_column[c];
    if (std::find(players.begin(), players.end(), player) != players.end()) made[c] = reference[c];
  }
  return made;
}

// All players, the largest key first, ties by index: a selection sort, to have nothing in common with the library.
template <class Key>
std::vector<size_t> plain_order(const std::vector<float>& phi, const Key& key) {
  std::vector<size_t> order;
  while (order.size() < phi.size()) {
    std::optional<size_t> best;
    for (size_t i = 0; i < phi.size(); i++) {
      if (std::find(order.begin(), order.end(), i) != order.end()) continue;
      if (!best || key(phi[i]) > key(phi[*best])) best = i;
    }
    order.push_back(*best);
  }
  return order;
}
inline std::vector<size_t> by_strength(const std::vector<float>& phi) {
  return plain_order(phi, [](float v) { return std::abs(v); });
}
inline std::vector<size_t> by_value(const std::vector<float>& phi) {
  return plain_order(phi, [](float v) { return v; });
}

inline std::vector<size_t> first_of(const std::vector<size_t>& order, size_t count) {
  return {order.begin(), order.begin() + static_cast<ptrdiff_t>(count)};
}
inline std::vector<size_t> rest_of(const std::vector<size_t>& order, size_t count) {
  return {order.begin() + static_cast<ptrdiff_t>(count), order.end()};
}

inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The scores where the same model in margins is known too.
inline Scores scored_with_margins(const std::string& name, const std::string& options, Trial& trial,
                                  const Model& margins) {
  EvaluateTask task = trial.task();
  task.subject.margins = &margins;
  Scores scores;
  scores.values.assign(task.rows(), NAN);
  find_criterion(name).make(parse_spec("criterion", name + options))->score(task, scores, {});
  summarise(scores, {.draws = 100}, {});
  return scores;
}

inline bool has_note(const Scores& scores, const std::string& note) {
  return std::find(scores.notes.begin(), scores.notes.end(), note) != scores.notes.end();
}
inline const std::string kUnpredictedNote =
    "1 of 2 rows are explained for a class that is not the predicted one, and scored for it";
// z = x0 against 0: row 0 is predicted to be of class 1, row 1 of class 0; class 1 is explained of both.
inline Trial one_unpredicted(std::string_view target = "1") {
  Trial made = removal_trial(one_output({1, 0}), {{1, 1}, {-1, 1}}, {{0, 0}}, {{2, 1}, {2, 1}}, target);
  made.setting->reference.scales = {1, 1};
  return made;
}

// A graph model, which runs on threads, with attributions that have nothing to do with it.
inline Trial threaded_trial() {
  Setting setting = fixture_setting("torch_mlp_script", "predicted");
  const size_t rows = setting.rows.rows();
  const size_t players = setting.players.size();
  RandomStream random(3, "threads");
  Matrix phi(rows, players);
  for (float& v : phi.values()) v = small_number(random);
  setting.reference.scales.assign(setting.rows.cols(), 0.5F);
  return trial_of(std::move(setting), std::move(phi));
}

}  // namespace assay::testing
