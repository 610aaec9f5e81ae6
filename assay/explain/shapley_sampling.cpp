#include "assay/explain/shapley_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/explain/common.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/games/side_by_side.h"
#include "assay/explain/games/varying_players.h"
#include "assay/explain/kernels/row_loops.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// Coalitions of all orders, at most: 1 GiB of values and bits.
constexpr uint64_t kMostWords = uint64_t{1} << 27;

// Why this many players are too many for these options, as `refuses` says it.
std::optional<Refusal> refuses_players(size_t players, const ShapleySamplingOptions& options) {
  const uint64_t words = static_cast<uint64_t>(options.permutations) * players * ((players + 63) / 64);
  if (words <= kMostWords) return {};
  return fmt::format("takes more than {} MiB for {} permutations of {} players: take fewer, or group features",
                     kMostWords * sizeof(uint64_t) >> 20, options.permutations, players);
}

// Rows whose sums lie side by side, unless the coalitions are so many that their values would take more than 4 MiB.
constexpr size_t kTogether = 16;
constexpr size_t kMostTogether = size_t{1} << 16;

// The coalitions along all orders, and what players add there.
class Orders {
 public:
  Orders(size_t players, const ShapleySamplingOptions& options, uint64_t seed)
      : paired_(options.antithetic), coalitions_(Coalitions::along(players, draw(players, options, seed))) {}

  const Coalitions& coalitions() const { return coalitions_; }
  size_t units() const { return coalitions_.orders().size() / coalitions_.players() / (paired_ ? 2 : 1); }

  // added[u][i][r] = what player i of row r adds in unit u: in its order, or on average in an order and its reverse.
  // values[c][r] are those of the coalitions.
  template <size_t kRows>
  void find_added(const float* values, float* __restrict added) const {
    const size_t players = coalitions_.players();
    const auto orders = coalitions_.orders();
    const float* behind = values + 2 * kRows;
    for (size_t first = 0; first < orders.size(); first += players, behind += (players - 1) * kRows) {
      const bool reverse = paired_ && first / players % 2 == 1;
      steps_of_order(values, orders.data() + first, players, kRows, behind, reverse, added);
      if (!paired_ || reverse) added += players * kRows;
    }
  }

 private:
  static std::vector<uint32_t> draw(size_t players, const ShapleySamplingOptions& options, uint64_t seed) {
    std::vector<uint32_t> orders(static_cast<size_t>(options.permutations) * players);
    for (size_t first = 0; first < orders.size(); first += players) {
      const auto order = std::span(orders).subspan(first, players);
      const size_t k = first / players;
      if (options.antithetic && k % 2 == 1) {
        const auto forward = std::span(orders).subspan(first - players, players);
        std::reverse_copy(forward.begin(), forward.end(), order.begin());
      } else {
        RandomStream(seed, "shapley_sampling", 0, static_cast<uint32_t>(k)).permutation(order);
      }
    }
    return orders;
  }

  bool paired_;
  Coalitions coalitions_;
};

// Numbers of players are kRows for each player. Used again for other rows: to make it takes as long as to use it.
struct OrdersScratch {
  VectorBuffer<float> values, added, means, errors;
  VectorMoments over_units = VectorMoments(0);
};

// Of kRows rows over several reference rows.
struct OrdersState {
  OrdersState(size_t width, bool strata) : over_references(width, strata) {}

  std::vector<double> total;  // of what players add in each unit
  VectorMoments over_references;
};

// Writes standard errors of rows that follow each other, and means where there is a matrix for them.
template <size_t kRows>
void store_moments(const VectorMoments& moments, std::span<const size_t> rows, OrdersScratch& scratch,
                   MatrixView<float> means, MatrixView<float> errors) {
  const size_t players = errors.cols();
  const size_t width = players * kRows;
  const std::span mean(scratch.means.get(width), width);
  const std::span error(scratch.errors.get(width), width);
  moments.store(mean, error);
  transpose(error.data(), kRows, players, rows.size(), errors.row(rows[0]).data(), errors.stride());
  if (means.empty()) return;
  transpose(mean.data(), kRows, players, rows.size(), means.row(rows[0]).data(), means.stride());
}

// The values of kRows rows, in one state.
template <size_t kRows>
class RowsOfOrders {
 public:
  RowsOfOrders(const Game& game, const Orders& orders, Attributions& out)
      : orders_(orders), references_(game.references()), width_(game.players() * kRows), out_(out) {}

  // by_row[c][r] are the values of the coalitions against one reference row.
  void take(OrdersState& state, std::span<const size_t> rows, const float* by_row, OrdersScratch& scratch) const {
    const MatrixView<float> added(scratch.added.get(orders_.units() * width_), orders_.units(), width_);
    orders_.template find_added<kRows>(by_row, added.data());
    scratch.over_units.clear(width_);
    scratch.over_units.add_rows(added);
    if (references_ == 1) {
      store_moments<kRows>(scratch.over_units, rows, scratch, out_.values, out_.standard_error.view());
      return;
    }
    std::vector<double> mean(width_);
    for (size_t i = 0; i < width_; i++) mean[i] = scratch.over_units.mean(i);
    state.over_references.add(mean);
    state.total.resize(orders_.units() * width_);
    for (size_t i = 0; i < state.total.size(); i++) state.total[i] += added.data()[i];
  }

  void finish(OrdersState& state, std::span<const size_t> rows, OrdersScratch& scratch) const {
    if (references_ == 1) return;
    scratch.over_units.clear(width_);
    for (double& value : state.total) value /= static_cast<double>(references_);
    for (size_t u = 0; u < orders_.units(); u++) {
      scratch.over_units.add(std::span(state.total).subspan(u * width_, width_));
    }
    store_moments<kRows>(scratch.over_units, rows, scratch, out_.values, out_.standard_error.view());
    store_moments<kRows>(state.over_references, rows, scratch, {}, out_.background_error.view());
  }

 private:
  const Orders& orders_;
  size_t references_;
  size_t width_;
  Attributions& out_;
};

// What no row fills is not to be left as it was in memory.
template <size_t kRows>
float* buffer_of(OrdersScratch& scratch, size_t rows, size_t coalitions) {
  return rows < kRows ? scratch.values.zeros(kRows * coalitions) : scratch.values.get(kRows * coalitions);
}

template <size_t kRows>
void sample(const Game& game, const Orders& orders, Attributions& out, const Context& context) {
  using Rows = std::span<const size_t>;
  const RowsOfOrders<kRows> method(game, orders, out);
  const std::vector<size_t> all = all_rows(game.rows());
  ScratchPool<OrdersScratch> pool;
  const auto begin = [&](Rows) {
    return OrdersState(game.references() == 1 ? 0 : game.players() * kRows, game.strata());
  };
  const auto* side_by_side = kRows == kTogether ? dynamic_cast<const SideBySide*>(&game) : nullptr;
  if (side_by_side != nullptr && side_by_side->gives_side_by_side(orders.coalitions())) {
    Context alone = context.quiet();
    alone.threads = 1;
    parallel_blocks(
        context, all.size(), kRows,
        [&](const Block& block) {
          const Rows rows = Rows(all).subspan(block.begin, block.end - block.begin);
          const ScratchPool<OrdersScratch>::Lease scratch(pool);
          OrdersState state = begin(rows);
          for (size_t reference = 0; reference < game.references(); reference++) {
            float* by_row = buffer_of<kRows>(*scratch, rows.size(), orders.coalitions().size());
            side_by_side->values_side_by_side(rows, reference, orders.coalitions(), kRows, by_row, alone);
            method.take(state, rows, by_row, *scratch);
          }
          method.finish(state, rows, *scratch);
        },
        "Shapley sampling");
    return;
  }
  play_together(
      game, all, kRows, std::span(&orders.coalitions(), 1), context, "Shapley sampling", begin,
      [&](OrdersState& state, Rows rows, size_t, size_t, MatrixView<const float> values) {
        const ScratchPool<OrdersScratch>::Lease scratch(pool);
        float* by_row = buffer_of<kRows>(*scratch, values.rows(), values.cols());
        transpose(values.data(), values.stride(), values.rows(), values.cols(), by_row, kRows);
        method.take(state, rows, by_row, *scratch);
      },
      [&](OrdersState& state, Rows rows) {
        const ScratchPool<OrdersScratch>::Lease scratch(pool);
        method.finish(state, rows, *scratch);
      });
}

class ShapleySampling final : public Explainer {
 public:
  using Options = ShapleySamplingOptions;

  explicit ShapleySampling(const Options& options) : options_(options) {
    if (options.antithetic && options.permutations % 2 != 0) {
      fail_input("shapley_sampling, option permutations", "an even number, for antithetic pairs (or antithetic=false)",
                 fmt::format("{}", options.permutations));
    }
  }

  std::optional<Refusal> refuses(const ExplainTask& task) const override {
    return refuses_players(task.players.size(), options_);
  }

  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    std::vector<VaryingPlayers> groups = group_by_varying_players(task);
    const auto play = [&](const Game& game, Attributions& found, const Context& here) {
      shapley_sampling(game, options_, found, here);
    };
    if (groups.size() == 1 && groups[0].players.size() == task.players.size()) {
      play(*make_game(task, context), out, context);
      return;
    }
    out.standard_error = Matrix(task.rows.rows(), task.players.size());
    if (task.reference.rows.rows() > 1) out.background_error = Matrix(task.rows.rows(), task.players.size());
    // Of a row that is the reference itself all values are 0.
    std::erase_if(groups, [](const VaryingPlayers& group) { return group.players.empty(); });
    attribute_groups(task, groups, out, context, play);
  }
  std::optional<uint64_t> known_evaluations(const ExplainTask& task) const override {
    return shapley_sampling_evaluations(task, options_);
  }

 private:
  Options options_;
};

}  // namespace

void shapley_sampling(const Game& game, const ShapleySamplingOptions& options, Attributions& out,
                      const Context& context) {
  const Orders orders(game.players(), options, context.seed);
  out.standard_error = Matrix(game.rows(), game.players());
  if (game.references() > 1) out.background_error = Matrix(game.rows(), game.players());
  const size_t coalitions = orders.coalitions().size();
  if (coalitions <= kMostTogether) {
    sample<kTogether>(game, orders, out, context);
  } else {
    sample<1>(game, orders, out, context);
  }
  out.evaluations += coalitions * game.rows() * game.references();
  if (orders.units() < 2) {
    out.notes.emplace_back(options.antithetic
                               ? "shapley_sampling: one pair of permutations has no standard error; take 4 or more"
                               : "shapley_sampling: one permutation has no standard error; take 2 or more");
  }
}

uint64_t shapley_sampling_evaluations(const ExplainTask& task, const ShapleySamplingOptions& options) {
  uint64_t sum = 0;
  for (const VaryingPlayers& group : group_by_varying_players(task)) {
    if (group.players.empty()) continue;
    const uint64_t coalitions = 2 + static_cast<uint64_t>(options.permutations) * (group.players.size() - 1);
    sum += coalitions * group.rows.size() * task.reference.rows.rows();
  }
  return sum;
}

MethodInfo shapley_sampling_method() {
  return with_options<ShapleySampling>({.name = "shapley_sampling",
                                        .title = "Shapley values from sampled orders of the players",
                                        .citation = "Strumbelj and Kononenko (2010); Castro, Gomez, Tejada (2009)",
                                        .cost = "permutations * (d - 1) + 2 for d players, times the reference rows",
                                        .complete = true,
                                        .uses_reference = true,
                                        .sampled = true,
                                        .samples = {"permutations", 8, 0},
                                        .of_paper = true,
                                        .shapley = true});
}

}  // namespace assay
