// Whether the standard errors of the sampled Shapley values mean what they say: of 95 % intervals about 95 % hold the
// exact value, over random networks and seeds.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "assay/core/error.h"
#include "assay/explain/exact_shapley.h"
#include "assay/explain/kernel_shap.h"
#include "assay/explain/shapley_sampling.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

constexpr size_t kPlayers = 10;
constexpr size_t kNetworks = 40;
constexpr uint64_t kSeeds = 60;

// All networks as tables: each is asked for thousands of times.
const ToyGame& networks() {
  static const auto tables = [] {
    const ToyValue value = network_value(kPlayers, 12, 8);
    std::vector<std::vector<float>> made(kNetworks, std::vector<float>(size_t{1} << kPlayers));
    for (size_t row = 0; row < kNetworks; row++) {
      for (uint64_t mask = 0; mask < made[row].size(); mask++) {
        made[row][mask] = static_cast<float>(value(row, 0, {&mask, 1}));
      }
    }
    return made;
  }();
  static const ToyGame game({.players = kPlayers, .rows = kNetworks},
                            [](size_t row, size_t, std::span<const uint64_t> coalition) {
                              return static_cast<double>(tables[row][coalition[0]]);
                            });
  return game;
}

// Share of intervals value +- quantile * error that hold the exact value.
template <class Method>
double coverage(const Method& method, double quantile) {
  static const Played exact = play_toy(networks(), exact_shapley);
  size_t covered = 0;
  size_t intervals = 0;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    Played played;
    try {
      played = play_toy(networks(), method, 1, seed);
    } catch (const Error&) {
      continue;  // small samples of some seeds do not determine all values
    }
    for (size_t v = 0; v < exact.values.values().size(); v++) {
      const double error = played.values.values()[v] - exact.values.values()[v];
      covered += std::abs(error) <= quantile * played.out.standard_error.values()[v] ? 1 : 0;
      intervals++;
    }
  }
  EXPECT_GT(intervals, kSeeds / 2 * exact.values.values().size());
  return static_cast<double>(covered) / static_cast<double>(intervals);
}

TEST(ShapleyCoverage, KernelShapWithNormalQuantiles) {
  for (const std::string sampling : {"kernel", "leverage", "balanced"}) {
    for (const int64_t samples : {32, 40, 80, 200, 600}) {
      const double share = coverage(
          [&](const Game& game, Attributions& out, const Context& context) {
            kernel_shap(game, {.samples = samples, .sampling = sampling, .interactions = false}, out, context);
          },
          1.96);
      RecordProperty(sampling + std::to_string(samples), std::to_string(share));
      EXPECT_GT(share, 0.93) << sampling << ", " << samples << " samples";
      EXPECT_LT(share, 0.975) << sampling << ", " << samples << " samples";
    }
  }
}

// The scale of a row's errors rests on 32 residuals.
TEST(ShapleyCoverage, KernelShapWithInteractions) {
  for (const int64_t samples : {40, 80, 200, 600}) {
    const double share =
        coverage([&](const Game& game, Attributions& out,
                     const Context& context) { kernel_shap(game, {.samples = samples}, out, context); },
                 1.96);
    RecordProperty("interactions" + std::to_string(samples), std::to_string(share));
    EXPECT_GT(share, 0.94) << samples << " samples";
    EXPECT_LT(share, 0.985) << samples << " samples";
  }
}

// Sums of products: v(S) = sum over i in S of a_i + sum over sets T within S of c_T, each T of 2 to 4 of 10 players.
// T's players share c_T equally. Few players interact, and not all alike, which is not what the prior says; with many
// samples only the rounding of values is left. One game in each row.
class SumsOfProducts {
 public:
  static constexpr size_t kRows = 12;

  SumsOfProducts() {
    for (size_t row = 0; row < kRows; row++) {
      RandomStream random(row, "sums of products");
      for (double& each : single_[row]) each = random.normal();
      for (Term& term : terms_[row]) {
        const uint32_t size = 2 + random.below(3);
        while (static_cast<uint32_t>(std::popcount(term.players)) < size) {
          term.players |= uint64_t{1} << random.below(kPlayers);
        }
        term.worth = 2 * random.normal();
      }
    }
  }

  double value(size_t row, uint64_t mask) const {
    double sum = 0;
    for (size_t i = 0; i < kPlayers; i++) sum += (mask >> i & 1) != 0 ? single_[row][i] : 0;
    for (const Term& term : terms_[row]) sum += (mask & term.players) == term.players ? term.worth : 0;
    return sum;
  }
  double shapley(size_t row, size_t player) const {
    double sum = single_[row][player];
    for (const Term& term : terms_[row]) {
      if ((term.players >> player & 1) != 0) sum += term.worth / std::popcount(term.players);
    }
    return sum;
  }

 private:
  struct Term {
    uint64_t players = 0;
    double worth = 0;
  };
  std::array<std::array<double, kPlayers>, kRows> single_ = {};
  std::array<std::array<Term, kPlayers>, kRows> terms_ = {};
};

TEST(ShapleyCoverage, KernelShapWithInteractionsOfSumsOfProducts) {
  const SumsOfProducts games;
  const ToyGame game(
      {.players = kPlayers, .rows = SumsOfProducts::kRows},
      [&](size_t row, size_t, std::span<const uint64_t> coalition) { return games.value(row, coalition[0]); });
  for (const int64_t samples : {40, 80, 200, 400, 600}) {
    double covered = 0;
    for (uint64_t seed = 0; seed < kSeeds; seed++) {
      const Played played = play_toy(
          game,
          [&](const Game& asked, Attributions& out, const Context& context) {
            kernel_shap(asked, {.samples = samples}, out, context);
          },
          1, seed);
      for (size_t row = 0; row < SumsOfProducts::kRows; row++) {
        for (size_t i = 0; i < kPlayers; i++) {
          const double error = played.values(row, i) - games.shapley(row, i);
          covered += std::abs(error) <= 1.96 * played.out.standard_error(row, i) ? 1 : 0;
        }
      }
    }
    const double share = covered / static_cast<double>(kSeeds * SumsOfProducts::kRows * kPlayers);
    RecordProperty("products" + std::to_string(samples), std::to_string(share));
    EXPECT_GT(share, 0.93) << samples << " samples";
    EXPECT_LT(share, 0.985) << samples << " samples";
  }
}

// The same for every player on its own, over rows and seeds: of networks, of sums of products, and of boosted trees
// whose players are of very different weight.
TEST(ShapleyCoverage, KernelShapWithInteractionsOfEveryPlayer) {
  const SumsOfProducts sums;
  const auto trees = [](size_t row, uint64_t mask) {
    RandomStream random(row, "boosted trees");
    double sum = 0;
    for (size_t tree = 0; tree < 12; tree++) {
      // Low players are asked about more often.
      uint32_t leaf = 0;
      for (size_t depth = 0; depth < 4; depth++) {
        const uint32_t player = std::min(random.below(kPlayers), random.below(kPlayers));
        leaf = 2 * leaf + static_cast<uint32_t>(mask >> player & 1);
      }
      RandomStream leaves(row, "leaves of trees", tree);
      for (uint32_t skipped = 0; skipped < leaf; skipped++) leaves.normal();
      sum += leaves.normal();
    }
    return sum;
  };
  const auto of_kind = [&](size_t kind, size_t row, uint64_t mask) {
    if (kind == 0) return network_value(kPlayers, 12, 8)(row, 0, {&mask, 1});
    return kind == 1 ? sums.value(row, mask) : trees(row, mask);
  };
  constexpr size_t kRows = SumsOfProducts::kRows;
  for (size_t kind = 0; kind < 3; kind++) {
    std::vector<float> table(kRows << kPlayers);
    for (size_t at = 0; at < table.size(); at++) {
      table[at] = static_cast<float>(of_kind(kind, at >> kPlayers, at & ((1U << kPlayers) - 1)));
    }
    const ToyGame game({.players = kPlayers, .rows = kRows},
                       [&](size_t row, size_t, std::span<const uint64_t> coalition) {
                         return static_cast<double>(table[row << kPlayers | coalition[0]]);
                       });
    const Played exact = play_toy(game, exact_shapley);
    for (const int64_t samples : {40, 80, 200, 400, 600}) {
      std::array<double, kPlayers> covered = {};
      for (uint64_t seed = 0; seed < kSeeds; seed++) {
        const Played played = play_toy(
            game,
            [&](const Game& asked, Attributions& out, const Context& context) {
              kernel_shap(asked, {.samples = samples}, out, context);
            },
            1, seed);
        for (size_t row = 0; row < kRows; row++) {
          for (size_t i = 0; i < kPlayers; i++) {
            const double error = played.values(row, i) - exact.values(row, i);
            covered[i] += std::abs(error) <= 1.96 * played.out.standard_error(row, i) ? 1 : 0;
          }
        }
      }
      for (size_t i = 0; i < kPlayers; i++) {
        const double share = covered[i] / static_cast<double>(kSeeds * kRows);
        EXPECT_GT(share, 0.90) << "kind " << kind << ", " << samples << " samples, player " << i;
        EXPECT_LT(share, 0.995) << "kind " << kind << ", " << samples << " samples, player " << i;
      }
    }
  }
}

// Student's quantiles: units - 1 degrees of freedom.
TEST(ShapleyCoverage, ShapleySamplingWithStudentQuantiles) {
  const auto share = [](int64_t permutations, bool antithetic, double quantile) {
    return coverage(
        [&](const Game& game, Attributions& out, const Context& context) {
          shapley_sampling(game, {.permutations = permutations, .antithetic = antithetic}, out, context);
        },
        quantile);
  };
  const double pairs = share(32, true, 2.1314);    // 15 degrees
  const double orders = share(32, false, 2.0395);  // 31 degrees
  const double few = share(8, true, 3.1824);       // 3 degrees
  for (const double found : {pairs, orders, few}) {
    EXPECT_GT(found, 0.93) << pairs << " " << orders << " " << few;
    EXPECT_LT(found, 0.975) << pairs << " " << orders << " " << few;
  }
}

}  // namespace
}  // namespace assay::testing
