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

// An input error if two members differ in rows, ids, features, targets, units or explained values (where both have
// them), or if the task does not fit the members. The error names the members and what differs.
void check_members(const AggregateTask& task);

// The task's names; without them, each member's method.
std::vector<std::string> member_names(const AggregateTask& task);

// Fills features, targets and ids, each from the first member that has it.
void fill_frame(std::span<const Explanations* const> members, Explanations& made);

// Empties the fields of `shared` that differ from those of `other`.
void keep_shared(const Provenance& other, Provenance& shared);

// Sets rows to exactly 0 that are 0 up to rounding: noise must not be scaled to the length of an explanation. Such a
// row has |output - base| and all |values| at most 2.5e-7 times the larger of |output| and |base|, the rounding of
// float32. Other rows with small values stay as they are (gradients are small where a class is certain). Only the row
// itself decides, so its aggregate does not depend on other rows. Nothing is cleared where output or base are unknown
// (empty, or NaN for a row).
void clear_rounding(MatrixView<float> values, std::span<const double> output, std::span<const double> base);

// Outputs and bases of rows of the pool. PoolExplanations do not hold them.
class PoolOutputs {
 public:
  struct Values {
    std::vector<double> output = {};
    std::vector<double> base = {};
  };

  explicit PoolOutputs(const AggregateTask& task);
  // Whether the task has a model, a pool, its targets and a reference.
  bool known() const;
  // Empty unless known(). The model runs on the reference once.
  Values of(std::span<const size_t> rows, const Context& context) const;

 private:
  const Model* model_;
  const Dataset* pool_;
  const Targets* targets_;
  const Reference* reference_;
  mutable std::once_flag once_;
  mutable Matrix of_reference_;
};

// Whether the member has a base in any row. Some methods have none, for example gradients.
bool says_base(const Explanations& member);

// Adds notes: that the result is relative, that members come from different models or tables, and in how many rows a
// member is zero, or is taken as zero.
void note_members(const AggregateTask& task, const Members& members, Explanations& made);

}  // namespace assay
