// Tables as CSV.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/io/bytes.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

namespace assay {

// What the ids of a table's first column are called if it has no name: the index that pandas writes, and that of a
// DataFrame without a name.
inline constexpr const char* kUnnamedIndex = "index";

// How to read a table from text. Columns are named by their header, or by position (1 is the first, -1 the last).
struct TableOptions {
  enum class Header { detect, yes, no };

  char delimiter = '\0';  // '\0' = detect
  // detect: a first row with a number in it is data, unless it counts 0, 1, 2, ... as pandas numbers columns, be it
  // behind the empty cell above an index.
  Header header = Header::detect;
  // Names for the columns of a file that has no header.
  std::vector<std::string> names = {};
  size_t skip_lines = 0;  // before the table begins
  // Unquoted cells that mean "no value"; these always do, and words that are given are added.
  std::vector<std::string> missing = {"", "NA", "NaN", "nan", "?"};
  std::vector<std::string> numeric = {};      // columns that must be numbers
  std::vector<std::string> categorical = {};  // columns that are categories even when they look like numbers
  // Columns to read as categories if a text file has them and neither list above names them. An underscore in these
  // names also matches a space.
  std::vector<std::string> texts = {};
  bool all_texts = false;  // the same for all columns but the label
  // The columns that are used; an underscore also matches a space. A column of another name that no table can hold
  // (timestamps in a Parquet file) is left out then. Without this, it is an error.
  std::optional<std::vector<std::string>> used = {};
  std::string label = {};          // the column of labels
  std::string id = {};             // the column that names rows, kept as text
  KeptDoubles* doubles = nullptr;  // where to put the numbers that float32 rounds; null: nowhere
};

// Kinds of columns that are not declared are inferred: numeric when every cell that is not missing is a number.
// One pass over the file, two when a column turns out to be categorical only after the first thousand rows.
// Peak memory: the matrix and a buffer.
Table read_csv(const ByteOpener& open, const TableOptions& options = {}, const Context& context = {});

// Numbers in the shortest form that reads back equal, categories as text, missing cells empty, ids first; tabs between
// cells for .tsv, bars for .psv, else commas.
void write_csv(const Table& table, const std::string& path, const Context& context = {});

}  // namespace assay
