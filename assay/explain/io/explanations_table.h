// Explanations as tables (CSV and its kin, Parquet, Feather): the row's id where there is one, then the columns target,
// output, base, gap, one for each feature, and its standard errors as "feature (stderr)" and "feature (background
// stderr)". A feature that is itself called target, say, is written as "target (feature)".
//
// Tables hold float32 and keep no provenance. Any other table is taken for a matrix of attributions made elsewhere: all
// of its columns must be numbers.
#pragma once

#include "assay/data/io/bytes.h"
#include "assay/data/table.h"
#include "assay/explain/explanations.h"

namespace assay {

Table explanations_table(const Explanations& explanations);
// named: whether the names of the columns are those of features; else they are called 0, 1, ...
Explanations explanations_from_table(Table table, bool named);
// From text; with or without a header where it is a matrix.
Explanations explanations_from_csv(const ByteOpener& open, const Context& context);

}  // namespace assay
