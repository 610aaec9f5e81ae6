// The output of `assay aggregate`.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"

namespace assay::cli {

struct AggregateResult {
  std::string aggregator;  // as asked for, with the options that were written
  Aggregate made;
  std::string out;                      // empty: written to no file
  std::string pool_out = {};            // empty: written to no file
  size_t pool_rows = 0;                 // rows of the pool that were aggregated
  size_t pool_undefined = 0;            // how many of these have no result
  std::vector<double> complexity = {};  // of each row, NaN where undefined
};

struct MemberSummary {
  std::string name;
  double complexity = 0;
};

// The complexity criterion for each row; NaN if undefined.
std::vector<double> complexity_of(const Explanations& explanations, const Context& context);
// NaN if no value is defined.
double mean_defined(const std::vector<double>& values);

// Prints a heading, the first `rows` rows with their strongest players, and the means of result and members side by
// side. With `remarks`, then also undefined rows, notes and tables.
void print_aggregate(const AggregateResult& result, const std::vector<MemberSummary>& members, size_t rows,
                     bool remarks, FILE* to);

// A JSON object: what was combined and how, measures, complexity, weights, antecedents, tables. Has the explanations
// too if they are written to no file.
std::string aggregate_json(const AggregateResult& result, const std::vector<MemberSummary>& members);

}  // namespace assay::cli
