// One random subset of players removed from every row, afresh in each of several runs: the experiment behind the pooled
// form of faithfulness.
//
// Rows are predicted as they are made, in batches; with a background, values are means over its rows.
// Cost: for each row, runs x reference rows evaluations and one of the row itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/criterion.h"

namespace assay {

struct PooledRemoval {
  std::vector<size_t> rows;  // those whose attributions are all numbers; the others take no part
  // Runs x rows.
  Matrix64 mean_attribution;  // over the players of the subset
  Matrix64 modified;          // the explained value without the subset
  Matrix64 difference;        // the modified value minus that of the row itself
  uint64_t evaluations = 0;
};

// The subset of a row is drawn by the row's number and the run.
PooledRemoval remove_one_subset_each(const EvaluateTask& task, size_t subset, size_t runs, std::string_view purpose,
                                     const Context& context);

}  // namespace assay
