// All that a table has beside its values and row names, as JSON: the array `meta` of an NPZ file.
//
//   {"assay": "table", "columns": [{"name", "kind": "numeric" | "categorical", "levels": [...], "rounded"?}],
//    "label": index or null, "id": name, "item_shape": [...]}
#pragma once

#include <string>
#include <string_view>

#include "assay/data/table.h"

namespace assay {

// The text for this table. An input error that starts with `where` when a name is not UTF-8.
std::string table_meta_text(std::string_view where, const Table& table);

// Fills columns, label, id_name and item_shape from a text, which may come from anyone: what does not fit together is
// an input error that starts with `where`.
void read_table_meta(std::string_view where, const std::string& text, Table& table);

}  // namespace assay
