// Convex combination of the members with weights that the user gives (Bhatt, Weller, Moura 2020, "Convex Combination"):
//   g(x) = sum over j of w_j g_j(x),   w_j >= 0, sum of w_j = 1, the same for all rows. Equal weights when none are
// given.
//
// For any rows x and z, |g(x) - g(z)| <= sum over j of w_j |g_j(x) - g_j(z)|, so that its average sensitivity (and its
// maximum, over the same neighbourhood) is at most the weighted mean of the members' (Proposition 1), for members of
// unit norm as they are here. Combining also shortens vectors, which lowers l2 sensitivity by itself: see the norm.
//
// Weights that sum to 1 up to 1e-6 are divided by their sum; others are refused. Zero members keep their weight.
// Cost: members x players.
// Deviation from the paper: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"

namespace assay {

class Convex final : public Aggregator {
 public:
  struct Options {
    std::vector<double> weights = {};
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) {
      visit.reals("weights", weights, "one for each member, in their order, with sum 1; equal ones when not given", "",
                  0, 1);
      scale.describe(visit);
    }
  };

  // An input error for weights that do not sum to 1.
  explicit Convex(Options options);
  std::optional<std::string> refuses(const AggregateTask& task) const override;
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo convex_aggregator();

}  // namespace assay
