// Learnt convex weights: the w on the simplex whose mixture phi_w(x) = sum over j of w_j g_j(x) of the members (of unit
// norm) has the least mean over the rows of
//   avg_sensitivity   mean over z in N_r(x) of c_xz || phi_w(x) - phi_w(z) ||_2,   c = 1 or 1 / rho(x, z),
//   max_sensitivity   the largest of the same,
//   complexity        the entropy of |phi_w(x)|.
// per = row learns weights for each row alone; w then mixes the row's neighbours too.
//
// The sensitivities are convex in w and grow in proportion to it, so that each subgradient bounds the minimum from
// below: they are solved to a certified gap (mixtures/sublinear.h) out of one Gram matrix for each pair
// (mixtures/pair_grams.h). From the bound 1e-8 times the best member's value is taken off for rounding, which matters
// where differences of members cancel. Complexity is not convex: the best of many starts, without a bound. All three
// are never worse than any member: at the end the mixture, rounded to float32 as it is stored, is compared with every
// member by the criterion itself, and a member that is as good is taken instead. (Sensitivities with per = row: in
// float64.)
//
// The guarantee is about mixtures as they are. They are shorter than their members, and that alone lowers l2
// distances; the value after scaling mixtures back to unit norm stands beside it, with no guarantee.
// Rows without a neighbour take no part. Complexity is over rows where no member is zero; weights that make one of
// these rows vanish (norm below 1e-4; per = row: below 5 % of the members') are not taken. Cost: for each pair of
// neighbours m^2 d / 2 operations once, then m^2 for each of some ten (avg) or some hundred (max) steps. Deviation from
// the paper (Bhatt, Weller, Moura 2020, Section 4.1): it argues that all weight goes to one function. The objective is
// convex, so its minimum can be inside the simplex, strictly below every single function; Proposition 1 only bounds it
// by the weighted mean.
#pragma once

#include <string>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/mixtures/pair_grams.h"

namespace assay {

class ConvexMin final : public Aggregator {
 public:
  struct Options {
    std::string criterion = "avg_sensitivity";
    std::string per = "all";
    MixtureNeighbourOptions neighbours = {};
    double gap = 1e-6;
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) {
      visit.choice("criterion", criterion, "whose mean over the rows is made least",
                   {"avg_sensitivity", "max_sensitivity", "complexity"});
      visit.choice("per", per, "one list of weights for all rows, or one for each row alone", {"all", "row"});
      neighbours.describe(visit);
      visit.real("gap", gap, "certified distance from the least sensitivity, relative to the best member's", "", 1e-7,
                 0.1);
      scale.describe(visit);
    }
  };

  explicit ConvexMin(Options options) : options_(std::move(options)) {}
  AggregateNeeds needs(const AggregateNeeds& by_default) const override;
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo convex_min_aggregator();

}  // namespace assay
