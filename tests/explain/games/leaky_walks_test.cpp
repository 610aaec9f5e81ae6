#include "assay/explain/games/leaky_walks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/core/vector_target.h"
#include "assay/explain/games/game.h"
#include "assay/explain/games/makers.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/side_by_side.h"
#include "assay/explain/shapley_sampling.h"
#include "tests/explain/games/game_tasks.h"

namespace assay {
namespace {

using testing::node;
using testing::games::dense_network;
using testing::games::outputs_by_hand;
using testing::games::OwnTask;
using testing::games::random_task;
using testing::games::real;
using testing::games::values_of;

std::shared_ptr<const Model> leaky_model(const std::vector<size_t>& widths, uint64_t seed, float slope = 0.1F) {
  return EngineModel::from_onnx("m.onnx",
                                dense_network(widths, node("LeakyRelu", {}, {}, {real("alpha", slope)}), seed));
}

// Rows take them in turn.
const std::vector<OutputTerm> kTerms = {{0, 1, 0}, {1, -1, 0.5F}};

std::vector<uint32_t> random_orders(size_t players, size_t count, uint64_t seed) {
  std::vector<uint32_t> orders(players * count);
  for (size_t k = 0; k < count; k++) {
    RandomStream(seed, "random_orders", 0, static_cast<uint32_t>(k))
        .permutation(std::span(orders).subspan(k * players, players));
  }
  return orders;
}

// Largest difference from the model's own predictions, relative to the largest of those.
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

TEST(LeakyWalks, CoalitionsAreThoseOfTheOrders) {
  const Coalitions made = Coalitions::along(3, {2, 0, 1, 1, 2, 0});
  ASSERT_EQ(made.size(), 6U);
  const std::vector<uint64_t> expected = {0b000, 0b111, 0b100, 0b101, 0b010, 0b110};
  for (size_t c = 0; c < 6; c++) EXPECT_EQ(made.word(c, 0), expected[c]) << c;
}

TEST(LeakyWalks, AgreeWithRowsMadeByHand) {
  for (const size_t players : {1, 2, 3, 8, 14, 65}) {
    // Groups of two columns for every other size.
    const size_t features = players % 2 == 0 ? 2 * players : players;
    for (const size_t units : {1, 8, 21}) {
      for (const float slope : {0.0F, 0.1F, 1.5F}) {
        const uint64_t seed = players + units;
        const OwnTask task = random_task(leaky_model({features, units, 2}, seed, slope), 3, 2, players, kTerms, seed);
        const Coalitions design = Coalitions::along(players, random_orders(players, 2, seed));
        EXPECT_LT(error_by_hand(*make_leaky_game(task.view()), task, design), 2e-6)
            << players << " players, " << units << " units, slope " << slope;
      }
    }
  }
}

// More players than tables have places for, and more coalitions than are walked otherwise.
TEST(LeakyWalks, LongOrdersOfManyPlayersAgreeWithRowsMadeByHand) {
  const size_t players = 140;
  const OwnTask task = random_task(leaky_model({players, 9, 2}, 6, 0.1F), 2, 1, players, kTerms, 6);
  const Coalitions design = Coalitions::along(players, random_orders(players, 480, 6));
  ASSERT_GT(design.size(), 65536U);
  EXPECT_LT(error_by_hand(*make_leaky_game(task.view()), task, design), 2e-6);
}

TEST(LeakyWalks, AgreeWithTablesForRowsOfSeveralVectors) {
  // Enough orders for the list to be longer than what is walked, too.
  for (const size_t count : {5, 500, 5100}) {
    const OwnTask task = random_task(leaky_model({14, 40, 2}, 4), 35, 1, 14, kTerms, 4);
    const auto game = make_leaky_game(task.view());
    const Coalitions walked = Coalitions::along(14, random_orders(14, count, 4));
    Coalitions list(14);
    for (size_t c = 0; c < walked.size(); c++) {
      const uint64_t bits = walked.word(c, 0);
      list.add({&bits, 1});
    }
    const Matrix found = values_of(*game, 0, walked);
    const Matrix expected = values_of(*game, 0, list);
    float largest = 0;
    for (const float value : expected.values()) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < found.values().size(); i++) {
      ASSERT_NEAR(found.values()[i], expected.values()[i], 2e-6F * largest) << i;
    }
  }
}

// The game as nothing but a Game.
class Hidden final : public Game {
 public:
  explicit Hidden(const Game& game) : game_(game) {}
  size_t players() const override { return game_.players(); }
  size_t rows() const override { return game_.rows(); }
  size_t references() const override { return game_.references(); }
  bool concurrent() const override { return game_.concurrent(); }
  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context& context) const override {
    game_.values(rows, reference, coalitions, values, context);
  }

 private:
  const Game& game_;
};

// One block of rows and a part of one, one reference row and several.
TEST(LeakyWalks, SamplingHasTheSameBitsFromValuesSideBySide) {
  for (const auto& [references, permutations] : std::vector<std::pair<size_t, int64_t>>{{1, 8}, {3, 8}}) {
    const OwnTask task = random_task(leaky_model({5, 9, 2}, 7, 0.1F), 21, references, 5, kTerms, 7);
    const auto game = make_leaky_game(task.view());
    const auto* side_by_side = dynamic_cast<const SideBySide*>(game.get());
    ASSERT_NE(side_by_side, nullptr);
    EXPECT_EQ(
        side_by_side->gives_side_by_side(Coalitions::along(5, random_orders(5, static_cast<size_t>(permutations), 1))),
        permutations == 8);
    EXPECT_FALSE(side_by_side->gives_side_by_side(Coalitions::range(5, 0, 32)));
    std::vector<Matrix> values;
    std::vector<Attributions> found;
    for (const bool hidden : {false, true}) {
      const Hidden plain(*game);
      values.emplace_back(21, 5);
      Attributions& out = found.emplace_back();
      out.values = values.back().view();
      Context context;
      context.threads = hidden ? 1 : 3;
      const Game& asked = hidden ? static_cast<const Game&>(plain) : *game;
      shapley_sampling(asked, {.permutations = permutations}, out, context);
    }
    EXPECT_TRUE(std::ranges::equal(values[0].values(), values[1].values()));
    EXPECT_TRUE(std::ranges::equal(found[0].standard_error.values(), found[1].standard_error.values()));
    EXPECT_TRUE(std::ranges::equal(found[0].background_error.values(), found[1].background_error.values()));
    EXPECT_EQ(found[0].evaluations, found[1].evaluations);
  }
}

TEST(LeakyWalks, UnitsThatNeverBendAreExact) {
  // As for ranges and lists: max(t, 0) of t = x + 1000 is t, of t = x - 1000 is 0, and 1000 is taken off again. In the
  // second row the first unit does bend.
  const auto made = testing::model(
      {node("Gemm", {"x", "w", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
      {testing::value("x", {-1, 3})}, {testing::value("y", {-1, 1})},
      {testing::floats("w", {3, 2}, {1, 1, 1, 1, 1, 1}), testing::floats("b", {2}, {1000, -1000}),
       testing::floats("v", {2, 1}, {1, 1})});
  OwnTask task = random_task(EngineModel::from_onnx("m", made), 2, 1, 3, {{0, 1, -1000}}, 1);
  std::fill(task.reference.rows.values().begin(), task.reference.rows.values().end(), 0.0F);
  task.rows(1, 0) = -1001;
  const Coalitions design = Coalitions::along(3, {0, 1, 2, 2, 1, 0});
  const Matrix found = values_of(*make_leaky_game(task.view()), 0, design);
  for (size_t c = 0; c < design.size(); c++) {
    double sum = 0;
    for (size_t p = 0; p < 3; p++) sum += design.contains(c, p) ? task.rows(0, p) : 0;
    EXPECT_NEAR(found(0, c), sum, 1e-6) << c;
  }
  EXPECT_NEAR(found(1, 2), -1000, 1e-3);  // the coalition of player 0 alone
}

TEST(LeakyWalks, ARowDoesNotDependOnItsCompany) {
  const OwnTask task = random_task(leaky_model({9, 13, 2}, 3), 37, 2, 9, kTerms, 3);
  const auto game = make_game(task.view(), {});
  const std::vector<uint32_t> orders = random_orders(9, 6, 4);
  const Coalitions design = Coalitions::along(9, orders);
  const Matrix whole = values_of(*game, 1, design);
  // Alone, and its last order without the others.
  const Coalitions last = Coalitions::along(9, {orders.end() - 9, orders.end()});
  for (size_t r = 0; r < 37; r++) {
    Matrix alone(1, design.size());
    game->values({&r, 1}, 1, design, alone.view(), {});
    EXPECT_TRUE(std::equal(alone.values().begin(), alone.values().end(), whole.row(r).begin())) << r;
    Matrix of_last(1, last.size());
    game->values({&r, 1}, 1, last, of_last.view(), {});
    for (size_t j = 0; j < 8; j++) EXPECT_EQ(of_last(0, 2 + j), whole(r, design.size() - 8 + j));
  }
  using Rows = std::span<const size_t>;
  for (const size_t together : {1, 5, 16}) {
    for (const unsigned threads : {1U, 3U}) {
      Context context;
      context.threads = threads;
      Matrix found(37, design.size());
      size_t most = 0;
      play_together(
          *game, all_rows(37), together, std::span(&design, 1), context, "", [](Rows) { return 0; },
          [&](int& state, Rows rows, size_t reference, size_t, MatrixView<const float> values) {
            state += static_cast<int>(rows.size());
            for (size_t r = 0; reference == 1 && r < rows.size(); r++) {
              std::copy_n(values.row(r).begin(), values.cols(), found.row(rows[r]).begin());
            }
          },
          [&](const int& state, Rows rows) {
            EXPECT_EQ(static_cast<size_t>(state), 2 * rows.size());
            if (threads == 1) most = std::max(most, rows.size());
          });
      EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), whole.values().begin())) << together;
      if (threads == 1) {
        EXPECT_EQ(most, together);
      }
    }
  }
}

TEST(LeakyWalks, EveryVectorTargetAgrees) {
  const OwnTask task = random_task(leaky_model({11, 27, 2}, 8), 5, 1, 11, kTerms, 8);
  const std::vector<std::string> targets = vector_targets();
  const std::string& best = targets.front();
  const Coalitions design = Coalitions::along(11, random_orders(11, 20, 8));
  for (const std::string& target : targets) {
    pin_vector_target(target);
    EXPECT_LT(error_by_hand(*make_leaky_game(task.view()), task, design), 2e-6) << target;
  }
  pin_vector_target(best);
}

}  // namespace
}  // namespace assay
