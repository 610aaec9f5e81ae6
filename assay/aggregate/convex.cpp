// Convex combination of the members with weights that the user gives (Bhatt, Weller, Moura 2020, "Convex Combination"):
//   g(x) = sum over j of w_j g_j(x),   w_j >= 0, sum of w_j = 1, the same for all rows. Equal weights when none are
// given.
//
// For any rows x and z, |g(x) - g(z)| <= sum over j of w_j |g_j(x) - g_j(z)|. So its average and its maximum
// sensitivity are at most the weighted mean of those of the members of unit norm (Proposition 1). Combining also
// shortens vectors, which by itself lowers l2 sensitivity: see the measure "norm".
//
// Weights that sum to 1 up to 1e-6 are divided by their sum; others are refused. Zero members keep their weight.
// Cost: members x players.
// Deviation from the paper: none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/core/error.h"

namespace assay {
namespace {

constexpr double kSumTolerance = 1e-6;

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

  explicit Convex(Options options) : options_(std::move(options)) {
    if (options_.weights.empty()) return;
    double sum = 0;
    for (const double each : options_.weights) sum += each;
    if (!(std::abs(sum - 1) <= kSumTolerance)) {
      fail_input("convex, option weights", "numbers that sum to 1", fmt::format("a sum of {:.9g}", sum));
    }
    for (double& each : options_.weights) each /= sum;
  }

  std::optional<Refusal> refuses(const AggregateTask& task) const override {
    const size_t found = options_.weights.size();
    const size_t expected = task.members.size();
    if (found == 0 || found == expected) return {};
    return fmt::format("needs a weight for each member: expected {}, found {}", expected, found);
  }

  bool scales_to_output() const override { return options_.scale.to_output(); }

  void combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
               const Context& context) const override {
    std::vector<double> weights = options_.weights;
    if (weights.empty()) weights.assign(members.size(), 1.0 / static_cast<double>(members.size()));
    share_weights(weights, members.rows(), out);
    each_row(members, out, context, "combining members", [&](const MemberRow& row) -> std::string_view {
      std::vector<double> sum(row.values.cols(), 0.0);
      for (size_t j = 0; j < weights.size(); j++) {
        const auto member = row.values.row(j);
        for (size_t p = 0; p < sum.size(); p++) sum[p] += weights[j] * member[p];
      }
      store_row(sum, out.values.row(row.row));
      return {};
    });
    // A row without a result has no weights.
    for (size_t r = 0; r < members.rows(); r++) {
      if (!members.finite(r)) std::ranges::fill(out.weights.row(r), std::numeric_limits<float>::quiet_NaN());
    }
  }

 private:
  Options options_;
};

}  // namespace

AggregatorInfo convex_aggregator() {
  return with_aggregator_options<Convex>(
      {.name = "convex",
       .title = "Sum of the members with weights that are given, the same for all rows",
       .family = "convex",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "average sensitivity at most the weighted mean of the members'",
       .cost = "members x players"});
}

}  // namespace assay
