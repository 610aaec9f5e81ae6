// Reasons as files: a table with a line for each reason, or JSON.
//
// Columns: row (its number from 1, or the rows' own numbers) or id, rank, feature, value, direction, attribution,
// share, certainty, order_certainty, agreement, withheld (joined by "; "), text. A row with no reason that may be
// named, and some that may not, has one line of rank 0 without a feature. What is not known is missing (null in JSON).
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/data/table.h"
#include "assay/explain/reasons/reasons.h"

namespace assay {

// The names of the columns behind the first, in their order.
std::vector<std::string> reason_columns();
// The text of `withheld`.
std::string withheld_text(const Reasons& reasons, const Reason& reason);

Table reasons_table(const Reasons& reasons);
// {"direction", "top", "method", "replicates", "notes": [...], "reasons": [{...}, ...]}. An input error that starts
// with `where` when a text is not UTF-8.
std::string reasons_json(std::string_view where, const Reasons& reasons);

// Refuses, before any work, an output that cannot be written. The extension gives the format: .csv .tsv .parquet
// .feather .json; "-" is CSV on standard output.
void check_reasons_output(const std::string& path);
// Writes a file, whole or not at all.
void write_reasons(const Reasons& reasons, const std::string& path, const Context& context);

}  // namespace assay
