// Tables in and out of Arrow's memory format, through the Arrow C stream interface.
//
// In: every column becomes float32 numbers or categories.
//   whole numbers, float16/32/64, decimals, booleans (0 and 1, with     -> numeric
//   their words for people), columns of nulls
//   text (utf8, large utf8, utf8 views), dictionaries of text           -> categorical
//   dictionaries of numbers: an encoding of the numbers, not a meaning  -> numeric
// Null and NaN are missing. Anything else (timestamps, lists, ...) is an error that names the column; where the reader
// says which columns are used, others of such types are left out.
// Out: numeric as float32, categorical as dictionary<int32, utf8>, row names as a first column of utf8; null for
// missing. Two entries of the schema's metadata name the label and the row-name column, so a round trip restores both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/io/arrow_c.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

namespace assay {

inline constexpr std::string_view kArrowLabelKey = "assay.label";
inline constexpr std::string_view kArrowIdKey = "assay.id";

struct ArrowReading {
  KeptDoubles* doubles = nullptr;  // as in TableOptions
  // The column of text or whole numbers, however large, that names the rows; empty: the one that the stream itself
  // tells, if any.
  std::string id = {};
  const std::vector<std::string>* used = nullptr;  // as in TableOptions; null: all columns
};

// Reads the stream to its end and releases it, also when it throws. `source` names the data in messages, and `kind`
// says what the producer should have found there.
Table table_from_arrow(ArrowArrayStream* stream, std::string source, std::string_view kind = "Arrow stream",
                       const Context& context = {}, const ArrowReading& reading = {});

// Fills `out` with a stream of the table's rows in batches, copied when they are asked for: the table must outlive the
// stream (not the batches). The caller, or whoever takes the stream over, releases it.
void table_to_arrow(const Table& table, ArrowArrayStream* out);

}  // namespace assay
