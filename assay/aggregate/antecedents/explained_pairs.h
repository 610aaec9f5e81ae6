// Explanations of (row of a pool, target) pairs, each made once however many ask for it.
//
// Memory: 4 bytes for each player of each distinct pair, twice that where there are standard errors. Rows are explained
// in blocks, so that what a method needs beside its results does not grow with the pairs.
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

  // The place of a pair that was asked for.
  size_t find(const RowTarget& pair) const;
};

// `like` says model, targets (their terms), reference and players; its rows do not matter. `wanted` may repeat itself.
ExplainedPairs explain_pairs(const Spec& method, const ExplainTask& like, const Dataset& pool,
                             std::vector<RowTarget> wanted, const Context& context);

}  // namespace assay
