#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "assay/core/vector_target.h"
#include "assay/explain/games/game.h"
#include "assay/explain/games/makers.h"
#include "assay/explain/games/play.h"
#include "tests/explain/games/game_tasks.h"

namespace assay {
namespace {

using testing::node;
using testing::games::dense_network;
using testing::games::outputs_by_hand;
using testing::games::OwnTask;
using testing::games::random_coalitions;
using testing::games::random_task;
using testing::games::real;
using testing::games::values_of;

// Largest difference from the values by hand, relative to the largest of those.
double error_by_hand(const Game& game, const OwnTask& task, const Coalitions& coalitions) {
  double error = 0;
  double largest = 0;
  for (size_t reference = 0; reference < game.references(); reference++) {
    const Matrix values = values_of(game, reference, coalitions);
    for (size_t r = 0; r < game.rows(); r++) {
      const OutputTerm& term = task.targets.term(r);
      for (size_t c = 0; c < coalitions.size(); c++) {
        const double output = outputs_by_hand(task, r, reference, coalitions, c)[term.output];
        const double expected = term.offset + static_cast<double>(term.scale) * output;
        error = std::max(error, std::abs(expected - static_cast<double>(values(r, c))));
        largest = std::max(largest, std::abs(expected));
      }
    }
  }
  return error / largest;
}

std::shared_ptr<const Model> leaky_model(const std::vector<size_t>& widths, uint64_t seed, float slope = 0.1F) {
  return EngineModel::from_onnx("m.onnx",
                                dense_network(widths, node("LeakyRelu", {}, {}, {real("alpha", slope)}), seed));
}

// Both outputs, one of them mirrored as class 0 of a binary model is.
const std::vector<OutputTerm> kTerms = {{0, 1, 0}, {1, -1, 0.5F}};

TEST(Games, AllAgreeWithRowsMadeByHand) {
  const OnnxNode leaky = node("LeakyRelu", {}, {}, {real("alpha", 0.1F)});
  for (const size_t players : {1, 2, 3, 5, 9, 14, 17, 30, 63, 64, 65, 70}) {
    // Groups of two columns for every other size.
    const size_t features = players % 2 == 0 ? 2 * players : players;
    const uint64_t seed = players;
    const OwnTask shallow = random_task(EngineModel::from_onnx("m", dense_network({features, 21, 2}, leaky, seed)), 3,
                                        2, players, kTerms, seed);
    const OwnTask deep =
        random_task(EngineModel::from_onnx("m", dense_network({features, 9, 7, 2}, node("Tanh", {}, {}), seed)), 3, 2,
                    players, kTerms, seed);
    for (const size_t count : {3, 60}) {
      const Coalitions list = random_coalitions(players, count, seed);
      EXPECT_LT(error_by_hand(*make_masked_game(shallow.view(), {}), shallow, list), 1e-6) << players;
      EXPECT_LT(error_by_hand(*make_affine_game(shallow.view(), {}), shallow, list), 2e-6) << players;
      EXPECT_LT(error_by_hand(*make_leaky_game(shallow.view()), shallow, list), 2e-6) << players;
      EXPECT_LT(error_by_hand(*make_affine_game(deep.view(), {}), deep, list), 2e-6) << players;
    }
    if (players > 60) continue;
    // The last subsets of few players, joined to some of the others.
    const size_t most = size_t{1} << std::min<size_t>(players, 7);
    const uint64_t first = ((uint64_t{1} << players) - 1) / most * most;
    const Coalitions range = Coalitions::range(players, first, most);
    EXPECT_LT(error_by_hand(*make_masked_game(shallow.view(), {}), shallow, range), 1e-6) << players;
    EXPECT_LT(error_by_hand(*make_affine_game(shallow.view(), {}), shallow, range), 2e-6) << players;
    EXPECT_LT(error_by_hand(*make_leaky_game(shallow.view()), shallow, range), 2e-6) << players;
    EXPECT_LT(error_by_hand(*make_affine_game(deep.view(), {}), deep, range), 2e-6) << players;
  }
}

TEST(Games, TheLeakyGameOfManyCoalitionsAgreesWithMaskedRows) {
  // Enough coalitions for tables of every number of chunks; units from none to many vectors; slopes of every kind.
  for (const size_t units : {1, 4, 8, 31, 40, 100}) {
    for (const float slope : {0.0F, 0.01F, 1.0F, 1.5F, -0.5F}) {
      for (const size_t players : {4, 10, 14, 20, 40}) {
        const uint64_t seed = units + players;
        const OwnTask task = random_task(leaky_model({players, units, 2}, seed, slope), 2, 1, players, kTerms, seed);
        const auto fast = make_leaky_game(task.view());
        const auto plain = make_masked_game(task.view(), {});
        std::vector<Coalitions> designs = {random_coalitions(players, 1003, seed)};
        if (players <= 14) designs.push_back(Coalitions::range(players, 0, size_t{1} << players));
        for (const Coalitions& design : designs) {
          const Matrix found = values_of(*fast, 0, design);
          const Matrix expected = values_of(*plain, 0, design);
          float largest = 0;
          for (const float value : expected.values()) largest = std::max(largest, std::abs(value));
          for (size_t i = 0; i < found.values().size(); i++) {
            ASSERT_NEAR(found.values()[i], expected.values()[i], 5e-6F * largest)
                << units << " units, slope " << slope << ", " << players << " players";
          }
        }
      }
    }
  }
}

TEST(Games, LargeRawFeaturesKeepTheirAccuracy) {
  // As raw capital gains: columns of 1e5 with weights of 1e-5, beside ordinary ones.
  OnnxModel graph = dense_network({12, 24, 1}, node("Relu", {}, {}), 5);
  RandomStream random(5, "large");
  std::vector<float> weights = testing::games::normals(size_t{12} * 24, random, 0.4);
  for (size_t c = 0; c < 12; c += 3) {
    for (size_t j = 0; j < 24; j++) weights[c * 24 + j] *= 1e-5F;
  }
  graph.graph.initializers[0] = testing::floats("w0", {12, 24}, weights);
  OwnTask task = random_task(EngineModel::from_onnx("m", std::move(graph)), 4, 2, 12, {{0, 1, 0}}, 5);
  for (size_t c = 0; c < 12; c += 3) {
    for (size_t r = 0; r < 4; r++) task.rows(r, c) = 1e5F * (1 + std::abs(task.rows(r, c)));
    for (size_t r = 0; r < 2; r++) task.reference.rows(r, c) = 1e5F;
  }
  const Coalitions range = Coalitions::range(12, 0, 4096);
  for (size_t reference = 0; reference < 2; reference++) {
    const Matrix expected = values_of(*make_masked_game(task.view(), {}), reference, range);
    float largest = 0;
    for (const float value : expected.values()) largest = std::max(largest, std::abs(value));
    for (const auto& game : {make_leaky_game(task.view()), make_affine_game(task.view(), {})}) {
      const Matrix found = values_of(*game, reference, range);
      for (size_t i = 0; i < found.values().size(); i++) {
        ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-5F * largest);
      }
    }
  }
}

TEST(Games, UnitsFarBelowZeroLeaveNoDust) {
  // One raw feature of 1e6 drives all units to about -5e4 wherever it is present, at any place among the players; what
  // is left is the output's bias. Errors are held against the outputs, not against the entries.
  for (const size_t large : {size_t{0}, size_t{4}, size_t{9}}) {
    OnnxModel graph = dense_network({10, 40, 1}, node("Relu", {}, {}), 7);
    RandomStream random(7, "below");
    std::vector<float> weights = testing::games::normals(size_t{10} * 40, random, 0.4);
    for (size_t j = 0; j < 40; j++) weights[large * 40 + j] = -0.05F - 0.01F * static_cast<float>(random.uniform());
    graph.graph.initializers[0] = testing::floats("w0", {10, 40}, weights);
    OwnTask task = random_task(EngineModel::from_onnx("m", std::move(graph)), 3, 1, 10, {{0, 1, 0}}, 7);
    for (size_t r = 0; r < 3; r++) task.rows(r, large) = 1e6F;
    task.reference.rows(0, large) = 0;
    const auto masked = make_masked_game(task.view(), {});
    const auto game = make_leaky_game(task.view());
    Coalitions list(10);
    for (uint64_t mask = 0; mask < 1024; mask += 3) list.add(std::vector<uint64_t>{mask});
    const std::vector<uint32_t> orders = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 4, 2, 0, 1, 3, 5, 8, 7, 6};
    for (const Coalitions& form : {Coalitions::range(10, 0, 1024), list, Coalitions::along(10, orders)}) {
      const Matrix expected = values_of(*masked, 0, form);
      const Matrix found = values_of(*game, 0, form);
      float largest = 0;
      for (const float value : expected.values()) largest = std::max(largest, std::abs(value));
      ASSERT_LT(largest, 100);
      for (size_t i = 0; i < found.values().size(); i++) {
        ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-5F * largest) << large;
      }
    }
  }
}

TEST(Games, UnitsThatNeverBendAreExact) {
  // max(t, 0) of t = x + 1000 is t, of t = x - 1000 is 0: v(S) = sum over S of x_p + 1000, with no error of rounding
  // 1000.
  const auto made = testing::model(
      {node("Gemm", {"x", "w", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
      {testing::value("x", {-1, 3})}, {testing::value("y", {-1, 1})},
      {testing::floats("w", {3, 2}, {1, 1, 1, 1, 1, 1}), testing::floats("b", {2}, {1000, -1000}),
       testing::floats("v", {2, 1}, {1, 1})});
  OwnTask task = random_task(EngineModel::from_onnx("m", made), 1, 1, 3, {{0, 1, -1000}}, 1);
  std::fill(task.reference.rows.values().begin(), task.reference.rows.values().end(), 0.0F);
  const Coalitions range = Coalitions::range(3, 0, 8);
  const Matrix found = values_of(*make_leaky_game(task.view()), 0, range);
  for (size_t c = 0; c < 8; c++) {
    double expected = 0;
    for (size_t p = 0; p < 3; p++) expected += range.contains(c, p) ? task.rows(0, p) : 0;
    EXPECT_NEAR(found(0, c), expected, 1e-6) << c;
  }
}

TEST(Games, AValueDoesNotDependOnItsCompany) {
  // Rows alone or together, ranges whole or in parts, other coalitions in the list of that length, calls from several
  // threads: the same bits.
  for (const std::vector<size_t>& widths : {std::vector<size_t>{9, 13, 2}, std::vector<size_t>{9, 13, 5, 2}}) {
    const OwnTask task = random_task(leaky_model(widths, 3), 7, 2, 9, kTerms, 3);
    const auto game = make_game(task.view(), {});
    ASSERT_TRUE(game->concurrent());
    const Matrix whole = values_of(*game, 1, Coalitions::range(9, 0, 512));
    const Coalitions list = random_coalitions(9, 77, 4);
    const Matrix listed = values_of(*game, 1, list);
    Coalitions turned(9);
    for (size_t c = 0; c < 77; c++) {
      const uint64_t bits = list.word(76 - c, 0);
      turned.add({&bits, 1});
    }
    for (size_t r = 0; r < 7; r++) {
      Matrix values(1, 77);
      game->values({&r, 1}, 1, turned, values.view(), {});
      for (size_t c = 0; c < 77; c++) EXPECT_EQ(values(0, c), listed(r, 76 - c));
      if (widths.size() == 4) continue;
      for (const size_t count : {1, 2, 8, 64, 256}) {
        Matrix part(1, count);
        for (size_t first = 0; first < 512; first += count) {
          game->values({&r, 1}, 1, Coalitions::range(9, first, count), part.view(), {});
          for (size_t c = 0; c < count; c++) ASSERT_EQ(part(0, c), whole(r, first + c)) << count << " from " << first;
        }
      }
    }
    for (const unsigned threads : {1U, 2U, 7U}) {
      Context context;
      context.threads = threads;
      Matrix found(7, 77);
      const std::vector<Coalitions> design = {list};
      play(
          *game, all_rows(7), design, context, "", [](size_t) { return 0; },
          [&](int&, size_t row, size_t reference, size_t, std::span<const float> values) {
            if (reference == 1) std::copy(values.begin(), values.end(), found.row(row).begin());
          },
          [](int&, size_t) {});
      EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), listed.values().begin())) << threads;
    }
  }
}

TEST(Games, EveryVectorTargetAgrees) {
  const OwnTask task = random_task(leaky_model({11, 27, 2}, 8), 2, 1, 11, kTerms, 8);
  const std::vector<std::string> targets = vector_targets();
  const std::string& best = targets.front();
  const Coalitions range = Coalitions::range(11, 0, 2048);
  const Coalitions list = random_coalitions(11, 500, 8);
  for (const std::string& target : targets) {
    pin_vector_target(target);
    EXPECT_LT(error_by_hand(*make_leaky_game(task.view()), task, range), 2e-6) << target;
    EXPECT_LT(error_by_hand(*make_leaky_game(task.view()), task, list), 2e-6) << target;
    EXPECT_LT(error_by_hand(*make_affine_game(task.view(), {}), task, list), 2e-6) << target;
  }
  pin_vector_target(best);
}

TEST(Games, NetworksFromFilesArePlayedFast) {
  for (const std::string name : {"sklearn_mlp", "sklearn_mlp_binary", "torch_mlp_script", "torch_mlp_dynamo"}) {
    const std::string path = std::string(ASSAY_SOURCE_DIR).append("/tests/fixtures/models/") + name + "/model.onnx";
    const std::shared_ptr<const Model> model = EngineModel::load(path);
    const size_t players = model->info().features();
    const OwnTask task = random_task(model, 3, 2, players, {{0, -1, 0}}, 1);
    const auto game = make_game(task.view(), {});
    EXPECT_TRUE(game->concurrent()) << name;
    EXPECT_LT(error_by_hand(*game, task, random_coalitions(players, 50, 1)), 2e-6) << name;
  }
}

TEST(Games, MissingValuesOfAbsentPlayersDoNotSpread) {
  // A model that takes NaN as it comes gives numbers as long as the player with NaN is absent.
  OwnTask task = random_task(leaky_model({4, 6, 2}, 1), 1, 1, 4, {{0, 1, 0}}, 1);
  task.rows(0, 2) = std::numeric_limits<float>::quiet_NaN();
  const auto game = make_game(task.view(), {});
  EXPECT_FALSE(game->concurrent());
  const Matrix values = values_of(*game, 0, Coalitions::range(4, 0, 16));
  for (size_t c = 0; c < 16; c++) EXPECT_EQ(std::isnan(values(0, c)), (c & 4) != 0) << c;
}

TEST(Games, ABlackBoxIsCalledOnTheCallingThreadInLargeBatches) {
  ModelInfo info;
  info.feature_names = {"a", "b", "c"};
  info.output_names = {"y"};
  const auto caller = std::this_thread::get_id();
  size_t calls = 0;
  const std::shared_ptr<const Model> model =
      model_from_function(info, [&](MatrixView<const float> rows, MatrixView<float> out) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        calls++;
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = rows(r, 0) * rows(r, 1) + rows(r, 2);
      });
  const OwnTask task = random_task(model, 50, 1, 3, {{0, 2, 1}}, 1);
  const auto game = make_game(task.view(), {});
  EXPECT_FALSE(game->concurrent());
  const Coalitions range = Coalitions::range(3, 0, 8);
  const Matrix values = values_of(*game, 0, range, 4);
  EXPECT_EQ(calls, 1U);
  for (size_t r = 0; r < 50; r++) {
    for (size_t c = 0; c < 8; c++) {
      const auto at = [&](size_t p) { return (c >> p & 1) != 0 ? task.rows(r, p) : task.reference.rows(0, p); };
      EXPECT_EQ(values(r, c), 1 + 2 * (at(0) * at(1) + at(2)));
    }
  }
}

}  // namespace
}  // namespace assay
