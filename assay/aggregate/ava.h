// AVA, Aggregate Valuation of Antecedents (Bhatt, Weller, Moura 2020, section 6): what a row's k nearest training rows
// are explained by,
//   phi(x) = sum over the k nearest rows z of the pool of weight_z g(z),
//   weight_z = rho(x, z)^-1 / sum over z' of rho(x, z')^-1.
// Where some are at distance 0 the limit holds: the mean over those alone. g is any explanation function. Where it
// gives Shapley values, so does AVA, of the game v_AVA(S) = sum over z of weight_z v_z(S) (Theorem 5): values add up to
// the weighted output less the weighted base of the antecedents, which is what output and base are.
//
// class says what is explained at an antecedent: the query's target (query), the class the antecedent is predicted to
// be (own), or the query's target at rows of the query's predicted class alone (same). auto: query where rows can be
// explained, same where explanations of the pool come from files.
//
// Standard errors, where g is sampled, are sum weight_z se_z: all rows share their draws, so errors do not average out,
// and this is the most they can be.
// Cost: the neighbour search, and one explanation of each distinct (antecedent, target).
// A member that cannot be explained again (made elsewhere, or an aggregate) is refused unless a method is named or the
// pool's explanations are given: it would be AVA of something else.
// Assumes: nothing; a row without antecedents (none of its class) is undefined. A row is never its own antecedent.
// Deviation from the paper: it multiplies by the sum of inverse distances, a slip for dividing; it does not say which
// class of an antecedent is explained, and the query's is the default here because own ones did not lower maximum
// sensitivity on Iris and raised it on Adult (docs/aggregators/ava.md); distances are of columns scaled on the pool
// unless space=raw. Members are not scaled to unit norm, or Theorem 5 would not hold.
#pragma once

#include <optional>
#include <string>

#include "assay/aggregate/aggregator.h"

namespace assay {

class Ava final : public Aggregator {
 public:
  struct Options {
    int64_t k = 10;
    std::string rho = "linf";
    std::string space = "scaled";
    std::string of_class = "auto";
    std::string method = "auto";  // as in the table; a method with its options is in `explained_by`
    std::optional<Spec> explained_by = {};

    void describe(OptionVisitor& visit);
  };
  explicit Ava(Options options) : options_(std::move(options)) {}

  AggregateNeeds needs(const AggregateNeeds& by_default) const override;
  std::optional<std::string> refuses(const AggregateTask& task) const override;
  bool takes_raw_members() const override { return true; }
  bool adds_up() const override { return true; }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo ava_aggregator();

}  // namespace assay
