// Kemeny-Young: the order of the players that disagrees least with the members' (Kemeny 1959; Young, Levenglick 1978).
//
//   cost(order) = sum over members and pairs of players of 1 where the two order the pair differently, 1/2 where the
//                 member ties it
//
// Members rank by |phi|, the largest first (by=value: by phi). The order of least cost has the largest sum of Kendall's
// tau over members. A tie costs 1/2 in any order. Values are scores (d + 1 - rank) / d, or the ranks themselves. A row
// whose members are all zero ranks nobody: its values are 0.
//
// Finding it is NP-hard, so the problem is divided first. Players that every member ties are merged into one of more
// weight: side by side they cost no more than apart. Strongly connected components of "most members rank i before j"
// are ordered one by one (ranks/tournament.h). Components of up to 20 players are solved by dynamic programming over
// subsets, larger ones by CBC if its plugin is there (ranks/cbc.h; with solver=auto up to 300 players), else by a local
// search. The measure "cost" is that of the result; no order costs less than the measure "bound". Where they are equal
// the row is certified optimal; a note counts the others.
//
// There may be several optima. Of components that may come in any order, the one with the lowest player comes first.
// Players that every member ties keep the order of their numbers.
// Cost: m d^2 comparisons, then little for most rows; 50 ms for a component of 20 players, time_limit for a hard one of
// more, some 100 ms of search for 784 players. Memory: 8 d^2 bytes and at most 8 MB for subsets, for each thread.
// A row's result depends on its own members, the options and the seed alone, not on its place among the rows, unless
// CBC runs out of time: then on the machine too.
// Deviation from the paper: it ranks by value; we rank by magnitude unless told.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/ranks/cbc.h"
#include "assay/aggregate/ranks/tournament.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {
namespace {

struct KemenyYoungOptions {
  RankOptions ranks = {};
  std::string solver = "auto";
  double time_limit = 10;

  void describe(OptionVisitor& visit) {
    ranks.describe(visit);
    visit.choice("solver", solver,
                 "how players are ordered: the best way that there is, subsets (dp), CBC, or local search alone",
                 {"auto", "dp", "cbc", "search"});
    visit.real("time_limit", time_limit, "how long CBC may take for a row", "seconds", 0, 1e6);
  }
};

constexpr size_t kMostPlayers = 4096;  // 8 d^2 bytes for each thread
constexpr size_t kMostByCbc = 300;     // CBC is of no use beyond unless it has hours
constexpr size_t kSubsetsAtOnce = 10;  // up to here they take less time than a search
constexpr std::string_view kNeedsPlugin = "needs the CBC plugin with solver=cbc, and";

using Groups = std::vector<std::vector<uint32_t>>;

// Players that every member ties, together; groups and their players ascend.
Groups tied_by_all(const Votes& votes) {
  const auto before = [&](uint32_t a, uint32_t b) {
    return std::ranges::lexicographical_compare(votes.of(a), votes.of(b));
  };
  std::vector<uint32_t> sorted(votes.players());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, before);
  Groups made;
  for (size_t at = 0; at < sorted.size(); at++) {
    if (at == 0 || before(sorted[at - 1], sorted[at])) made.emplace_back();
    made.back().push_back(sorted[at]);
  }
  std::ranges::sort(made, {}, [](const std::vector<uint32_t>& group) { return group[0]; });
  return made;
}

// The tournament of a row's groups. Costs of orders are its upsets and half of what no order can avoid twice.
struct Contest {
  Groups groups;
  Tournament margins;
  int64_t unavoidable = 0;  // twice

  Contest(const Votes& votes, const Context& context) : groups(tied_by_all(votes)), margins(groups.size()) {
    const auto members = static_cast<int64_t>(votes.members());
    for (size_t g = 0; g < groups.size(); g++) {
      context.check_cancelled();
      const auto size = static_cast<int64_t>(groups[g].size());
      unavoidable += members * (size * (size - 1) / 2);
      for (size_t h = g + 1; h < groups.size(); h++) {
        const int64_t margin = votes.margin(groups[g][0], groups[h][0]);
        const int64_t pairs = size * static_cast<int64_t>(groups[h].size());
        margins.set(g, h, margin * pairs);
        // Half of the members less those who win the pair.
        unavoidable += (members - std::abs(margin)) * pairs;
      }
    }
  }
  double cost(int64_t upsets) const { return static_cast<double>(unavoidable) / 2 + static_cast<double>(upsets); }
};

class RowSolver {
 public:
  RowSolver(const KemenyYoungOptions& options, const AssayOrderPlugin* cbc, const Context& context)
      : solver_(options.solver), cbc_(cbc), context_(context), until_(Clock::now() + limit(options)) {}

  // Of all groups, component by component.
  BoundedOrder order(const Tournament& margins) {
    BoundedOrder all;
    for (const std::vector<uint32_t>& component : components(margins, context_)) {
      const BoundedOrder part = order_component(margins.among(component));
      for (const uint32_t each : part.order) all.order.push_back(component[each]);
      all.upsets += part.upsets;
      all.bound += part.bound;
      component_++;
    }
    return all;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration limit(const KemenyYoungOptions& options) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.time_limit));
  }

  BoundedOrder order_component(const Tournament& part) const {
    const size_t size = part.size();
    if (size == 1) return {.order = {0}};
    const bool any = solver_ == "auto";
    if (solver_ == "dp" || (any && size <= kSubsetsAtOnce)) return by_subsets(part);
    BoundedOrder found;
    found.bound = triangle_bound(part, context_);
    // The same draws for all rows: an order is that of its votes, whichever rows are around it.
    found.order = good_order(part, found.bound, RandomStream(context_.seed, "kemeny_young", 0, component_), context_);
    found.upsets = upsets(part, found.order);
    if (any && found.upsets == found.bound) return found;
    if (any && size <= kMostBySubsets) return by_subsets(part);
    const double seconds = std::chrono::duration<double>(until_ - Clock::now()).count();
    if (solver_ == "search" || cbc_ == nullptr || seconds <= 0 || (any && size > kMostByCbc)) return found;
    BoundedOrder better = order_by_cbc(*cbc_, part, found.order, seconds, context_);
    better.bound = std::max(better.bound, found.bound);
    return better;
  }

  BoundedOrder by_subsets(const Tournament& part) const {
    BoundedOrder made{.order = best_order(part, context_)};
    made.upsets = upsets(part, made.order);
    made.bound = made.upsets;
    return made;
  }

  const std::string& solver_;
  const AssayOrderPlugin* cbc_;
  const Context& context_;
  Clock::time_point until_;
  uint32_t component_ = 0;
};

void add_notes(const std::vector<double>& costs, const std::vector<double>& bounds, const std::string& missing,
               std::vector<std::string>& notes) {
  size_t rows = 0;
  size_t certified = 0;
  double widest = 0;
  for (size_t r = 0; r < costs.size(); r++) {
    if (std::isnan(costs[r])) continue;
    rows++;
    certified += costs[r] == bounds[r] ? 1 : 0;
    if (costs[r] > bounds[r]) widest = std::max(widest, costs[r] / bounds[r] - 1);
  }
  if (certified == rows) return;
  notes.push_back(
      fmt::format("{} of {} rows are certified optimal; of the others, costs are at most {:.2g}% above their "
                  "bounds",
                  certified, rows, 100 * widest));
  if (!missing.empty()) {
    notes.push_back(fmt::format("more rows could be certified with the CBC plugin, but {}", missing));
  }
}

class KemenyYoung final : public Aggregator {
 public:
  using Options = KemenyYoungOptions;

  explicit KemenyYoung(const Options& options) : options_(options) {}

  std::optional<Refusal> refuses(const AggregateTask& task) const override {
    const size_t players = task.members[0]->players();
    if (players > kMostPlayers) {
      return fmt::format("orders at most {} players, and there are {}", kMostPlayers, players);
    }
    if (options_.solver == "dp" && players > kMostBySubsets) {
      return fmt::format("with solver=dp orders at most {} players, and there are {}", kMostBySubsets, players);
    }
    if (options_.solver != "cbc") return {};
    const CbcPlugin cbc = find_cbc();
    if (cbc.table == nullptr) return fmt::format("{} {}", kNeedsPlugin, cbc.missing);
    return {};
  }

  void combine(const AggregateTask& task, const Members& members, Combined& out,
               const Context& context) const override {
    const bool wants_cbc =
        options_.solver == "cbc" || (options_.solver == "auto" && members.players() > kMostBySubsets);
    const CbcPlugin cbc = wants_cbc ? find_cbc() : CbcPlugin{};
    std::vector<double> costs(members.rows(), NAN);
    std::vector<double> bounds(members.rows(), NAN);
    each_row(members, out, context, "kemeny_young", [&](const MemberRow& row) -> std::string_view {
      const auto values = out.values.row(row.row);
      const Contest contest(Votes(task, row.row, options_.ranks.signed_values()), context);
      const BoundedOrder found = RowSolver(options_, cbc.table, context).order(contest.margins);
      costs[row.row] = contest.cost(found.upsets);
      bounds[row.row] = contest.cost(found.bound);
      if (row.nonzero.empty()) {
        std::ranges::fill(values, 0.0F);
        return {};
      }
      const auto d = static_cast<double>(values.size());
      double rank = 0;
      for (const uint32_t group : found.order) {
        for (const uint32_t player : contest.groups[group]) {
          rank++;
          values[player] = static_cast<float>(options_.ranks.as_ranks() ? rank : (d + 1 - rank) / d);
        }
      }
      return {};
    });
    add_notes(costs, bounds, cbc.missing, out.notes);
    out.measures.push_back({"cost", std::move(costs)});
    out.measures.push_back({"bound", std::move(bounds)});
  }

 private:
  Options options_;
};

constexpr size_t kMostExactPlayers = 20;  // that are ordered exactly without a clock

StudyDefaults kemeny_defaults(const Subject& subject, bool /*named*/) {
  if (subject.players->size() <= kMostExactPlayers) return {};
  return {.options = {{"solver", "search",
                       "an exact solver would stop by the clock, and the study would not be the same again"}}};
}

}  // namespace

AggregatorInfo kemeny_young_aggregator() {
  return with_aggregator_options<KemenyYoung>(
      {.name = "kemeny_young",
       .title = "Kemeny-Young: the ranking that disagrees least with the members'",
       .family = "rank",
       .citation = "Kemeny (1959); Young, Levenglick (1978)",
       .guarantee = "no ranking has less than the bound in pairs ordered differently; cost = bound where it is optimal",
       .cost = "d^2 comparisons for each member; 50 ms for a cycle of 20 players, time_limit for one of more",
       .without_signs = true,
       .study_defaults = kemeny_defaults});
}

}  // namespace assay
