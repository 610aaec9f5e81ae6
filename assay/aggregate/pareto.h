// The trade-off of mixtures: over convex weights w, the front of (faithfulness up, average sensitivity down, complexity
// down) of phi_w(x) = sum over j of w_j g_j(x), means over the rows, with the members and the other aggregates placed
// on it. The paper (Bhatt, Weller, Moura 2020, Section 6) leaves open how to lower sensitivity and complexity together
// and how to aggregate for faithfulness; this shows what mixtures can do. One mixture of the front is the result.
//
// About `points` weights are tried: vertices, a lattice, then finer steps around those on the front. For each of them
// - faithfulness comes from covariances of a game that is played once (mixtures/subset_moments.h),
// - sensitivity from one Gram matrix for each pair of neighbours (mixtures/pair_objectives.h), of explanations scaled
//   to unit norm, members and others too: mixtures are shorter than their members, ranks and shares have scales of
//   their own, and neither is stability,
// - complexity from the values.
// They are what the criteria say of the mixture, up to the rounding of stored values to float32.
//
// Each mean is over the rows where the criterion is defined for every member, the same for all. Weights that make one
// of these rows vanish (norm below 1e-4) or its sums constant have no place on the front; a note counts them.
// Differences up to 1e-7 do not count (of sensitivities divided by rho, 1e-7 times the mean of 1 / rho), so that
// rounding decides nothing: the values are those of the criteria to about 1e-8. No mixture that was tried dominates one
// of the front; between those tried there may be better ones. Cost: the game once; for each of the weights m^2
// operations for each pair and m d for each row. With others = true also those aggregates, of the neighbours too, which
// may take far longer than all the rest; above 100 players kemeny_young and minimum_complexity are left out, and a note
// says so. Deviation from the paper: none; it has no such method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/mixtures/pair_grams.h"

namespace assay {

class Pareto final : public Aggregator {
 public:
  struct Options {
    int64_t points = 2000;
    std::string pick = "knee";
    bool others = true;
    std::optional<int64_t> subset = {};
    int64_t budget = 4096;
    int64_t samples = 1000;
    MixtureNeighbourOptions neighbours = {};
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) {
      visit.integer("points", points, "about how many mixtures are tried", "mixtures", 1, 1'000'000);
      visit.choice("pick", pick,
                   "which mixture of the front is the result: nearest to the ideal point after scaling each criterion "
                   "to its range over the front, or the best by one criterion",
                   {"knee", "faithfulness", "sensitivity", "complexity"});
      visit.flag("others", others, "whether the other aggregates are placed beside the front");
      visit.integer_or("subset", subset, "auto", "players that are removed together; auto: a quarter of them",
                       "players", 1, 1'000'000);
      visit.integer("budget", budget, "all subsets are taken when there are at most so many", "subsets", 0, 1'000'000);
      visit.integer("samples", samples, "random subsets beyond the budget", "subsets", 50, 100'000);
      neighbours.describe(visit);
      scale.describe(visit);
    }
  };

  explicit Pareto(Options options) : options_(std::move(options)) {}
  std::optional<std::string> refuses(const AggregateTask& task) const override;
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo pareto_aggregator();

}  // namespace assay
