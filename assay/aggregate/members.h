// Whether members fit together, and what an aggregate takes over from them.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/explain/explanations.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// An input error names the two members and what differs between them: rows, ids, features, targets, units or explained
// values, as far as both say; or what of the task does not fit them.
void check_members(const AggregateTask& task);

// The task's names; else each member's method.
std::vector<std::string> member_names(const AggregateTask& task);

// Features, targets and ids, each from the first member that says it.
void fill_frame(std::span<const Explanations* const> members, Explanations& made);

// Empties the fields of `shared` that `other` says differently.
void keep_shared(const Provenance& other, Provenance& shared);

// Makes rows exactly zero that are zero up to rounding: noise must not be scaled to the length of an explanation. A row
// is so where its output equals its base, and its largest |value| is 0, both up to what float32 rounds off them, 2.5e-7
// times the larger of |output| and |base|: at that precision nothing is to be explained there. Values are small in
// other rows for other reasons, as gradients are where a class is certain, or by features of large numbers: they stay.
// The row alone decides, so that it has the same aggregate beside any others. Output and base are empty, or NaN for
// rows, where they are not known: nothing is cleared there.
void clear_rounding(MatrixView<float> values, std::span<const double> output, std::span<const double> base);

// Outputs and bases of rows of the pool, which explanations of a pool do not carry.
class PoolOutputs {
 public:
  struct Values {
    std::vector<double> output = {};
    std::vector<double> base = {};
  };

  explicit PoolOutputs(const AggregateTask& task);
  // Whether model, pool, targets and reference are there.
  bool known() const;
  // Empty where they are not. The reference is predicted once.
  Values of(std::span<const size_t> rows, const Context& context) const;

 private:
  const Model* model_;
  const Dataset* pool_;
  const Targets* targets_;
  const Reference* reference_;
  mutable std::once_flag once_;
  mutable Matrix of_reference_;
};

// Whether the member has a base in any row: some methods have none, as gradients.
bool says_base(const Explanations& member);

// Notes: the label of relative results, members that say they are of other models or tables, and the rows where members
// are zero, or are taken for it.
void note_members(const AggregateTask& task, const Members& members, Explanations& made);

}  // namespace assay
