// The rows of a CSV file, one at a time, as cells of text: what every reader of CSV here is built on.
//
// RFC 4180 quoting (also doubled quotes and line ends inside quotes), LF, CRLF or CR, a byte order mark, and
// `,` `;` tab or `|` between cells. Deviations: blanks around an unquoted cell are dropped, as numbers in hand-made
// files need; a quote inside an unquoted cell is an ordinary character; blank lines are skipped.
// Every row has as many cells as the first; NUL bytes and invalid UTF-8 are refused. Memory: one buffer, which grows
// only for a row longer than itself, up to kLongestRow.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/bytes.h"

namespace assay {

class CsvRows {
 public:
  static constexpr size_t kLongestRow = size_t{64} << 20;
  static constexpr size_t kMostColumns = size_t{1} << 22;

  // delimiter '\0' = the one of , ; tab | that the first line has most of. The first skip_lines lines are passed over.
  explicit CsvRows(std::unique_ptr<ByteSource> source, char delimiter = '\0', size_t skip_lines = 0);

  // Moves to the next row; false at the end.
  bool next();
  // The cells of this row, valid until the next call of next().
  std::span<const std::string_view> cells() const { return cells_; }
  // Whether a cell stood in quotes: NA in quotes is text, without them it is missing.
  bool quoted_cell(size_t column) const { return spans_[column].quoted; }
  // The line on which this row starts; the first is 1.
  size_t line() const { return line_; }
  char delimiter() const { return delimiter_; }
  // Bytes not yet parsed, where the source can tell.
  std::optional<uint64_t> remaining() const;
  const std::string& name() const { return source_->name(); }

  // "file, line 7" and "file, line 7, column 3 ('age')", for messages.
  std::string where() const;
  std::string where(size_t column, std::string_view column_name = {}) const;

 private:
  struct CellSpan {
    size_t begin;
    size_t end;
    bool quoted;
    bool doubled;  // has doubled quotes, to be made single
  };
  enum class Parsed { row, blank_line, needs_more };

  void fill();
  void skip_byte_order_mark();
  void skip_line();
  char detect_delimiter() const;
  Parsed parse_row();
  Parsed parse_quoted(size_t& position, CellSpan& cell);
  bool row_ends_at(size_t& position) const;
  void check_text() const;
  void publish_cells();

  std::unique_ptr<ByteSource> source_;
  char delimiter_;
  std::array<bool, 256> stops_{};  // bytes that end an unquoted cell
  std::vector<char> buffer_;       // one byte longer than its contents can be: the last is a sentinel
  size_t begin_ = 0;               // of the row not yet parsed
  size_t end_ = 0;                 // of what was read
  bool at_end_ = false;            // nothing more to read
  size_t line_ = 0;
  size_t next_line_ = 1;
  size_t width_ = 0;  // cells in the first row
  size_t width_line_ = 0;
  size_t row_begin_ = 0;
  size_t row_end_ = 0;
  std::vector<CellSpan> spans_;
  std::vector<std::string_view> cells_;
};

}  // namespace assay
