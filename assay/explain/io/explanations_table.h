// Explanations as tables (CSV, TSV, Parquet, Feather): the row's id if there is one, then the columns target, output,
// base, gap, one for each feature, and its standard errors as "feature (stderr)" and "feature (background stderr)". A
// feature with the name of another column, for example target, is written as "target (feature)".
//
// Tables hold float32 and no provenance. A table with other columns is read as a matrix of attributions made elsewhere:
// all of its columns must be numbers.
#pragma once

#include "assay/data/io/bytes.h"
#include "assay/data/table.h"
#include "assay/explain/explanations.h"

namespace assay {

Table explanations_table(const Explanations& explanations);
// named: whether column names are names of features; else features are called 0, 1, ...
Explanations explanations_from_table(Table table, bool named);
// From text. A matrix may have a header or not.
Explanations explanations_from_csv(const ByteOpener& open, const Context& context);

// Of a table of attributions made elsewhere: the first column, if it is one of names of rows. Its cells are whole
// numbers that all differ, beside columns with fractions. Empty if there is none. doubles: the table's.
std::string column_of_ids(const Table& table, const KeptDoubles& doubles);
// Adds the note that says so.
void note_ids(Explanations& made);

}  // namespace assay
