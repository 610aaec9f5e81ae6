// Explanations of pairs (row of a pool, target). Each pair is explained once, even if it is asked for several times.
//
// Memory: 4 bytes x players x distinct pairs, twice that with standard errors. Rows are explained in blocks, so a
// method's own memory does not grow with the number of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/explain/explainer.h"

namespace assay {

struct RowTarget {
  size_t row = 0;
  uint32_t target = 0;
  friend auto operator<=>(const RowTarget&, const RowTarget&) = default;
};

struct ExplainedPairs {
  std::vector<RowTarget> pairs = {};  // distinct, ascending
  Matrix values = {};                 // pairs x players
  Matrix error = {};                  // standard errors, of draws and of a background; empty where there are none
  std::vector<double> base = {};
  std::vector<double> output = {};
  uint64_t evaluations = 0;
  std::vector<std::string> notes = {};

  // The index of a pair, which must be in `pairs`.
  size_t find(const RowTarget& pair) const;
};

// `like` gives the model, the targets' terms, the reference and the players; its rows are ignored. `wanted` may repeat
// pairs.
ExplainedPairs explain_pairs(const Spec& method, const ExplainTask& like, const Dataset& pool,
                             std::vector<RowTarget> wanted, const Context& context);

}  // namespace assay
