// Checks that hold for all explanations that were read from a file.
#pragma once

#include "assay/explain/explanations.h"
#include "assay/explain/io/explanations_json.h"
#include "fuzz/harness.h"

namespace assay::fuzz {

inline void check_parts(const Explanations& read) {
  const size_t rows = read.rows();
  require(rows > 0 && read.players() > 0 && read.features.size() == read.players());
  require(read.base.size() == rows && read.output.size() == rows && read.gap.size() == rows);
  require(read.target.empty() || read.target.size() == rows);
  for (const uint32_t target : read.target) require(target < read.target_names.size());
  require(read.ids.empty() || read.ids.size() == rows);
  for (const Matrix* errors : {&read.standard_error, &read.background_error}) {
    require(errors->empty() || (errors->rows() == rows && errors->cols() == read.players()));
  }
  require(read.replicates.empty() || (read.replicates.rows() == rows && read.replicate_count() > 0 &&
                                      read.replicates.cols() == read.replicate_count() * read.players()));
  const Combination& made = read.combination;
  require(made.weights.empty() || made.weights.rows() == rows);
  require(made.antecedents.empty() || made.antecedents.size() == rows * made.weights.cols());
  for (const RowMeasure& measure : made.measures) require(measure.values.size() == rows);
}

// Calls `read`. If it succeeds, the parts must fit together, and writing as JSON and reading again must work.
template <class Read>
void explanations_or_error(const Read& read) {
  succeeds([&] {
    const Explanations first = read();
    check_parts(first);
    const Explanations second = explanations_from_json("again.json", explanations_json("again.json", first));
    check_parts(second);
    require(second.rows() == first.rows() && second.features == first.features);
  });
}

}  // namespace assay::fuzz
