// What `assay aggregate` shows of its results.
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
  std::string out;                      // empty where it goes to no file
  std::string pool_out = {};            // likewise
  size_t pool_rows = 0;                 // of the pool, where it was aggregated too
  size_t pool_undefined = 0;            // those of them without a result
  std::vector<double> complexity = {};  // of each row, NaN where undefined
};

// What a member is beside the results: its name and its mean complexity.
struct MemberSummary {
  std::string name;
  double complexity = 0;
};

// The criterion of that name for each row, NaN where undefined.
std::vector<double> complexity_of(const Explanations& explanations, const Context& context);
// Over the values that are defined; NaN without any.
double mean_defined(const std::vector<double>& values);

// Heading, the first rows with their strongest players, and the means of result and members side by side; then
// (remarks) undefined rows, notes and tables.
void print_aggregate(const AggregateResult& result, const std::vector<MemberSummary>& members, size_t rows,
                     bool remarks, FILE* to);

// A JSON object: what was combined and how, measures, complexity, weights, antecedents, tables. The explanations
// themselves are in it where they go to no file.
std::string aggregate_json(const AggregateResult& result, const std::vector<MemberSummary>& members);

}  // namespace assay::cli
