#include "assay/explain/shapley_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/explain/common.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

// Coalitions of all orders, at most: 1 GiB of values and bits.
constexpr uint64_t kMostWords = uint64_t{1} << 27;

// Why this many players are too many for these options, as `refuses` says it.
std::optional<std::string> refuses_players(size_t players, const ShapleySampling::Options& options) {
  const uint64_t words = static_cast<uint64_t>(options.permutations) * players * ((players + 63) / 64);
  if (words <= kMostWords) return {};
  return fmt::format("takes more than {} MiB for {} permutations of {} players: take fewer, or group features",
                     kMostWords * sizeof(uint64_t) >> 20, options.permutations, players);
}

// The coalitions along all orders: the empty one, all players, then for each order those after 1 .. d - 1 players.
class Orders {
 public:
  Orders(size_t players, const ShapleySampling::Options& options, uint64_t seed)
      : players_(players),
        orders_(static_cast<size_t>(options.permutations)),
        paired_(options.antithetic),
        order_(orders_ * players),
        coalitions_(players) {
    coalitions_.add(std::vector<uint64_t>(coalitions_.words()));
    coalitions_.add(coalitions_.complement(0));
    for (size_t k = 0; k < orders_; k++) {
      const auto order = std::span(order_).subspan(k * players, players);
      if (paired_ && k % 2 == 1) {
        std::reverse_copy(order_.begin() + static_cast<ptrdiff_t>((k - 1) * players),
                          order_.begin() + static_cast<ptrdiff_t>(k * players), order.begin());
      } else {
        RandomStream(seed, "shapley_sampling", 0, static_cast<uint32_t>(k)).permutation(order);
      }
      std::vector<uint64_t> bits(coalitions_.words());
      for (size_t j = 0; j + 1 < players; j++) {
        bits[order[j] / 64] |= uint64_t{1} << order[j] % 64;
        coalitions_.add(bits);
      }
    }
  }

  const Coalitions& coalitions() const { return coalitions_; }
  size_t units() const { return paired_ ? orders_ / 2 : orders_; }

  // added[u][i] += what player i adds in unit u: in its order, or on average in an order and its reverse. mean[i] = its
  // mean over all orders.
  void find_added(std::span<const float> values, std::span<double> added, std::span<double> mean) const {
    const double share = paired_ ? 0.5 : 1;
    std::ranges::fill(mean, 0.0);
    for (size_t k = 0; k < orders_; k++) {
      const float* along = values.data() + 2 + k * (players_ - 1);
      const uint32_t* order = order_.data() + k * players_;
      double* in_unit = added.data() + (paired_ ? k / 2 : k) * players_;
      double before = values[0];
      for (size_t j = 0; j < players_; j++) {
        const double after = j + 1 < players_ ? along[j] : values[1];
        in_unit[order[j]] += share * (after - before);
        mean[order[j]] += after - before;
        before = after;
      }
    }
    for (double& value : mean) value /= static_cast<double>(orders_);
  }

 private:
  size_t players_;
  size_t orders_;
  bool paired_;
  std::vector<uint32_t> order_;  // one order of the players after another
  Coalitions coalitions_;
};

struct RowState {
  std::vector<double> added;  // units x players, summed over reference rows
  VectorMoments over_references;
};

}  // namespace

ShapleySampling::ShapleySampling(const Options& options) : options_(options) {
  if (options.antithetic && options.permutations % 2 != 0) {
    fail_input("shapley_sampling, option permutations", "an even number, for antithetic pairs (or antithetic=false)",
               fmt::format("{}", options.permutations));
  }
}

std::optional<std::string> ShapleySampling::refuses(const ExplainTask& task) const {
  return refuses_players(task.players.size(), options_);
}

void ShapleySampling::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  shapley_sampling(*make_game(task, context), options_, out, context);
}

void shapley_sampling(const Game& game, const ShapleySampling::Options& options, Attributions& out,
                      const Context& context) {
  const size_t players = game.players();
  const size_t references = game.references();
  const Orders orders(players, options, context.seed);
  out.standard_error = Matrix(game.rows(), players);
  if (references > 1) out.background_error = Matrix(game.rows(), players);
  const auto rows = all_rows(game.rows());
  play(
      game, rows, std::span(&orders.coalitions(), 1), context, "Shapley sampling",
      [&](size_t) { return RowState{std::vector<double>(orders.units() * players), VectorMoments(players)}; },
      [&](RowState& state, size_t, size_t, size_t, std::span<const float> values) {
        std::vector<double> mean(players);
        orders.find_added(values, state.added, mean);
        state.over_references.add(mean);
      },
      [&](RowState& state, size_t row) {
        state.over_references.store(out.values.row(row),
                                    references > 1 ? out.background_error.row(row) : std::span<float>());
        VectorMoments over_units(players);
        for (size_t u = 0; u < orders.units(); u++)
          over_units.add(std::span(state.added).subspan(u * players, players));
        for (size_t i = 0; i < players; i++) {
          out.standard_error(row, i) =
              static_cast<float>(over_units.standard_error(i) / static_cast<double>(references));
        }
      });
  out.evaluations += orders.coalitions().size() * rows.size() * references;
  if (orders.units() < 2) {
    out.notes.emplace_back(options.antithetic
                               ? "shapley_sampling: one pair of permutations has no standard error; take 4 or more"
                               : "shapley_sampling: one permutation has no standard error; take 2 or more");
  }
}

MethodInfo shapley_sampling_method() {
  return with_options<ShapleySampling>({.name = "shapley_sampling",
                                        .title = "Shapley values from sampled orders of the players",
                                        .citation = "Strumbelj and Kononenko (2010); Castro, Gomez, Tejada (2009)",
                                        .cost = "permutations * (d - 1) + 2 for d players, times the reference rows",
                                        .complete = true,
                                        .uses_reference = true,
                                        .sampled = true});
}

}  // namespace assay
