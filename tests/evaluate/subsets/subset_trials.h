// Trials of random networks for the criteria of removal, and their values by brute force.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tests/evaluate/trial.h"
#include "tests/explain/games/game_tasks.h"

namespace assay::testing {

struct NetworkShape {
  size_t players = 6;
  size_t columns = 6;
  size_t rows = 5;
  size_t references = 1;
  size_t hidden = 12;
};

inline Trial network_trial(const NetworkShape& shape, uint64_t seed) {
  const OnnxNode leaky = node("LeakyRelu", {}, {}, {games::real("alpha", 0.1F)});
  std::shared_ptr<const Model> network =
      EngineModel::from_onnx("network", games::dense_network({shape.columns, shape.hidden, 2}, leaky, seed));
  games::OwnTask made = games::random_task(std::move(network), shape.rows, shape.references, shape.players,
                                           {{0, 1, 0}, {1, -1, 0.5F}}, seed);
  Matrix values(shape.rows, shape.players);
  RandomStream random(seed, "attributions");
  for (float& each : values.values()) each = static_cast<float>(random.normal());
  made.reference.scales.assign(shape.columns, 1);
  return trial_of(
      {made.model, std::move(made.rows), std::move(made.targets), std::move(made.reference), std::move(made.players)},
      std::move(values));
}

// The explained value of a row without these players (bits), the mean over the reference rows: a prediction at a time.
inline double value_without(const Setting& setting, size_t row, uint64_t removed) {
  double total = 0;
  for (size_t r = 0; r < setting.reference.rows.rows(); r++) {
    Matrix x(1, setting.rows.cols());
    for (size_t c = 0; c < x.cols(); c++) {
      const bool absent = (removed >> setting.players.of_column[c] & 1) != 0;
      x(0, c) = absent ? setting.reference.rows(r, c) : setting.rows(row, c);
    }
    Matrix outputs(1, setting.model->info().outputs());
    setting.model->predict(x.view(), outputs.view(), {});
    const OutputTerm& term = setting.targets.term(row);
    total += term.offset + static_cast<double>(term.scale) * outputs(0, term.output);
  }
  return total / static_cast<double>(setting.reference.rows.rows());
}

// y = w . x + 0.5 for these weights, as a graph.
inline std::shared_ptr<const Model> linear_model(const std::vector<float>& weights) {
  const auto d = static_cast<int64_t>(weights.size());
  return EngineModel::from_onnx(
      "linear", model({node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, d})}, {value("y", {-1, 1})},
                      {floats("w", {d, 1}, weights), floats("b", {1}, {0.5F})}));
}

// Rows and weights random, the reference 0 or `references` random rows; attributions w_i (x_i - mean reference_i),
// which are all that there is to say of a linear model.
inline Trial linear_trial(size_t players, size_t rows, uint64_t seed, size_t references = 1) {
  RandomStream random(seed, "linear trial");
  const std::vector<float> weights = games::normals(players, random);
  Matrix x(rows, players);
  for (float& each : x.values()) each = static_cast<float>(random.normal());
  Matrix absent(references, players);
  if (references > 1) {
    for (float& each : absent.values()) each = static_cast<float>(random.normal());
  }
  Matrix values(rows, players);
  for (size_t c = 0; c < players; c++) {
    double mean = 0;
    for (size_t r = 0; r < references; r++) mean += absent(r, c) / static_cast<double>(references);
    for (size_t r = 0; r < rows; r++) values(r, c) = static_cast<float>(weights[c] * (x(r, c) - mean));
  }
  Trial made = trial_of(setting_of(linear_model(weights), std::move(x), std::move(absent)), std::move(values));
  made.setting->reference.scales.assign(players, 1);
  return made;
}

// Rows and attributions near those of the first row, so that draws which are wrong for one are wrong for all.
inline Trial alike_trial(size_t players, size_t rows, uint64_t seed) {
  Trial made = network_trial({.players = players, .columns = players, .rows = rows}, seed);
  for (size_t r = 1; r < rows; r++) {
    for (size_t p = 0; p < players; p++) {
      made.data->x(r, p) = made.data->x(0, p) + 0.15F * made.data->x(r, p);
      made.explanations.values(r, p) = made.explanations.values(0, p) + 0.15F * made.explanations.values(r, p);
    }
  }
  for (size_t r = 0; r < rows; r++) made.setting->targets.of_row[r] = made.setting->targets.of_row[0];
  return made;
}

// Over many seeds the mean over the same rows must spread by the reported error of the draws; the spread over rows,
// which says nothing of it, must be smaller, or the test would be of no use.
inline void expect_mean_spreads_by_shared_error(const std::string& name, const std::string& options, Trial& trial) {
  RunningMoments means;
  RunningMoments squares;
  RunningMoments over_rows;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const Scores scores = scored(name, options, trial, on_threads(1, seed));
    means.add(scores.mean);
    squares.add(scores.shared_error * scores.shared_error);
    RunningMoments values;
    for (const double value : scores.values) values.add(value);
    over_rows.add(values.standard_error());
    EXPECT_NEAR(scores.mean_error, std::hypot(values.standard_error(), scores.shared_error), 1e-12);
  }
  const double spread = means.standard_deviation();
  EXPECT_GT(spread, 1.5 * over_rows.mean()) << name << options;
  EXPECT_NEAR(std::sqrt(squares.mean()) / spread, 1, 0.2) << name << options;
}

// A black box of these outputs.
inline std::shared_ptr<const Model> black_box_model(size_t features, BlackBox function) {
  ModelInfo info;
  info.name = "a function";
  for (size_t c = 0; c < features; c++) info.feature_names.push_back(fmt::format("x{}", c));
  info.output_names = {"y"};
  return model_from_function(info, std::move(function));
}

inline std::shared_ptr<const Model> constant_model(size_t features, float value) {
  return black_box_model(features, [value](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = value;
  });
}

}  // namespace assay::testing
