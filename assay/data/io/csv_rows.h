// The rows of a CSV file, one at a time, as cells of text: what every reader of CSV here is built on.
//
// RFC 4180 quoting (also doubled quotes and line ends inside quotes), LF, CRLF or CR, a byte order mark, and
// `,` `;` tab or `|` between cells. Deviations: blanks around an unquoted cell are dropped, as numbers in hand-made
// files need; a quote inside an unquoted cell is an ordinary character; blank lines are skipped.
// Every row has as many cells as the first; NUL bytes and invalid UTF-8 are refused. Memory: one buffer, which grows
// only for a row longer than itself, up to kLongestRow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/data/io/bytes.h"
#include "assay/data/io/csv_buffer.h"
#include "assay/data/io/csv_parser.h"

namespace assay {

class CsvRows {
 public:
  static constexpr size_t kLongestRow = CsvBuffer::kLongestRow;
  static constexpr size_t kMostColumns = CsvParser::kMostColumns;

  // delimiter '\0' = the one of , ; tab | that the first line has most of. The first skip_lines lines are passed over.
  explicit CsvRows(std::unique_ptr<ByteSource> source, char delimiter = '\0', size_t skip_lines = 0);

  // Moves to the next row; false at the end.
  bool next();
  // The cells of this row, valid until the next call of next(). kCsvPadding bytes behind each can be read.
  std::span<const std::string_view> cells() const { return parser_.cells(); }
  // Whether a cell stood in quotes: NA in quotes is text, without them it is missing.
  bool quoted_cell(size_t column) const { return parser_.quoted_cell(column); }
  // The line on which this row starts; the first is 1.
  size_t line() const { return parser_.line(); }
  char delimiter() const { return parser_.delimiter(); }
  const std::string& name() const { return parser_.name(); }

  // "file, line 7" and "file, line 7, column 3 ('age')", for messages.
  std::string where() const { return parser_.where(); }
  std::string where(size_t column, std::string_view column_name = {}) const {
    return parser_.where(column, column_name);
  }

 private:
  CsvBuffer buffer_;
  CsvParser parser_;
};

}  // namespace assay
