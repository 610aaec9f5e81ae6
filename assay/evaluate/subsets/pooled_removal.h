// Several runs, each of which removes one random subset of players from every row: the experiment behind the pooled
// form of faithfulness.
//
// Changed rows are predicted in batches; with a background, values are means over its rows. One run is in memory at a
// time: three numbers for each row.
// Cost: for each row, runs x reference rows evaluations and one of the row itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// A number for each row that takes part.
struct PooledRun {
  std::vector<double> mean_attribution;  // over the players of the subset
  std::vector<double> modified;          // the explained value without the subset
  std::vector<double> difference;        // the modified value minus that of the row itself
};

// The rows that take part: those whose attributions are all numbers.
std::vector<size_t> pooled_rows(const EvaluateTask& task);

// Makes the runs in order and hands each to `take`. The subset of a row depends on the row's number and the run.
// Returns the number of model evaluations.
uint64_t remove_one_subset_each(const EvaluateTask& task, const std::vector<size_t>& rows, size_t subset, size_t runs,
                                std::string_view purpose, const Context& context,
                                const std::function<void(size_t run, const PooledRun& found)>& take);

}  // namespace assay
