// Tasks for tests of games: random networks, rows and players, and the game by brute force.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/game.h"
#include "assay/model/engine_model.h"
#include "tests/model/small_graph.h"

// A namespace of its own: other tests of the stage have helpers of these names.
namespace assay::testing::games {

inline std::vector<float> normals(size_t count, RandomStream& random, double scale = 1) {
  std::vector<float> made(count);
  for (float& each : made) each = static_cast<float>(scale * random.normal());
  return made;
}

inline OnnxAttribute real(std::string name, float number) {
  OnnxAttribute made;
  made.name = std::move(name);
  made.kind = OnnxAttributeKind::one_float;
  made.floats = {number};
  return made;
}

// Dense layers of these widths (features first), with an activation behind all but the last; `ending`, an operator like
// Softmax, may follow.
inline OnnxModel dense_network(const std::vector<size_t>& widths, const OnnxNode& activation, uint64_t seed,
                               const std::string& ending = {}) {
  RandomStream random(seed, "dense_network");
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> weights;
  std::string last = "x";
  for (size_t l = 0; l + 1 < widths.size(); l++) {
    const auto in = static_cast<int64_t>(widths[l]);
    const auto out = static_cast<int64_t>(widths[l + 1]);
    const std::string id = std::to_string(l);
    const double scale = 1.5 / std::sqrt(static_cast<double>(in));
    weights.push_back(floats("w" + id, {in, out}, normals(widths[l] * widths[l + 1], random, scale)));
    weights.push_back(floats("b" + id, {out}, normals(widths[l + 1], random, 0.3)));
    nodes.push_back(node("Gemm", {last, "w" + id, "b" + id}, {"z" + id}));
    last = "z" + id;
    if (l + 2 == widths.size()) break;
    OnnxNode bend = activation;
    bend.inputs.insert(bend.inputs.begin(), last);
    bend.outputs = {"h" + id};
    nodes.push_back(bend);
    last = "h" + id;
  }
  if (!ending.empty()) {
    nodes.push_back(node(ending, {last}, {"y"}));
    last = "y";
  }
  return model(nodes, {value("x", {-1, static_cast<int64_t>(widths.front())})},
               {value(last, {-1, static_cast<int64_t>(widths.back())})}, weights);
}

// Rows, reference rows and players, kept together so that they outlive a game.
struct OwnTask {
  std::shared_ptr<const Model> model;
  Matrix rows;
  Targets targets;
  Reference reference;
  Players players;

  ExplainTask view() const { return {*model, rows.view(), targets, reference, players}; }
};

// Random rows; `groups` players, columns dealt to them in turn; the targets taken in turn as well.
inline OwnTask random_task(std::shared_ptr<const Model> model, size_t rows, size_t references, size_t groups,
                           std::vector<OutputTerm> terms, uint64_t seed) {
  RandomStream random(seed, "random_task");
  const size_t features = model->info().features();
  OwnTask made{std::move(model), Matrix(rows, features), {}, {}, {}};
  made.reference.rows = Matrix(references, features);
  for (float& each : made.rows.values()) each = static_cast<float>(random.normal());
  for (float& each : made.reference.rows.values()) each = static_cast<float>(0.5 * random.normal());
  for (size_t p = 0; p < groups; p++) made.players.names.push_back(fmt::format("p{}", p));
  for (size_t c = 0; c < features; c++) made.players.of_column.push_back(static_cast<uint32_t>(c % groups));
  made.targets.terms = std::move(terms);
  made.targets.names.assign(made.targets.terms.size(), "t");
  for (size_t r = 0; r < rows; r++) {
    made.targets.of_row.push_back(static_cast<uint32_t>(r % std::max<size_t>(1, made.targets.terms.size())));
  }
  return made;
}

// The empty coalition, the full one, and random ones of all sizes.
inline Coalitions random_coalitions(size_t players, size_t count, uint64_t seed) {
  RandomStream random(seed, "random_coalitions");
  Coalitions made(players);
  for (size_t i = 0; i < count; i++) {
    const double share = i == 0 ? 0 : i == 1 ? 1 : random.uniform();
    std::vector<uint64_t> bits(made.words(), 0);
    for (size_t p = 0; p < players; p++) {
      if (i == 1 || random.uniform() < share) bits[p / 64] |= uint64_t{1} << p % 64;
    }
    made.add(bits);
  }
  return made;
}

// The model's outputs for the row whose absent columns come from the reference row: one prediction at a time.
inline std::vector<float> outputs_by_hand(const OwnTask& task, size_t row, size_t reference,
                                          const Coalitions& coalitions, size_t coalition) {
  Matrix x(1, task.rows.cols());
  for (size_t c = 0; c < x.cols(); c++) {
    const bool present = coalitions.contains(coalition, task.players.of_column[c]);
    x(0, c) = present ? task.rows(row, c) : task.reference.rows(reference, c);
  }
  Matrix outputs(1, task.model->info().outputs());
  Context alone;
  alone.threads = 1;
  task.model->predict(x.view(), outputs.view(), alone);
  return {outputs.values().begin(), outputs.values().end()};
}

inline Matrix values_of(const Game& game, size_t reference, const Coalitions& coalitions, unsigned threads = 1) {
  std::vector<size_t> rows(game.rows());
  for (size_t r = 0; r < rows.size(); r++) rows[r] = r;
  Matrix values(rows.size(), coalitions.size());
  Context context;
  context.threads = threads;
  game.values(rows, reference, coalitions, values.view(), context);
  return values;
}

}  // namespace assay::testing::games
