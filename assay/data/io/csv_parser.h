// Splits CSV text in memory into rows and cells, from mark to mark (csv_marks.h).
//
// The rules are those of CsvRows (csv_rows.h). The text is not changed, so several parsers can work on parts of one
// buffer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/csv_marks.h"

namespace assay {

class CsvParser {
 public:
  static constexpr size_t kMostColumns = size_t{1} << 22;

  // name: of the file, for messages.
  CsvParser(std::string name, char delimiter) : name_(std::move(name)), delimiter_(delimiter) {}

  // Which text comes next. `begin` is the start of a row. `whole`: nothing follows the text, so that its last row may
  // lack a line end; otherwise a row that it cuts is not given. kCsvPadding bytes behind the end must be readable.
  void set_text(const char* begin, const char* end, bool whole);
  // The line on which the next row starts; the first is 1.
  void set_line(size_t line) { next_line_ = line; }
  // How many cells every row must have, and the line that says so. Unless this is called, the first row does.
  void set_width(size_t width, size_t line);

  // Moves to the next row; false if no whole row is left.
  bool next();
  // Where this row starts.
  const char* row() const { return row_; }
  // Where the row behind this one starts, or the one that is not whole, and its line.
  const char* position() const { return position_; }
  size_t next_line() const { return next_line_; }

  // The cells of this row, valid until the next call of next(). kCsvPadding bytes behind each can be read.
  std::span<const std::string_view> cells() const { return {cells_.data(), count_}; }
  // Whether a cell stood in quotes: NA in quotes is text, without them it is missing.
  bool quoted_cell(size_t column) const { return any_quoted_ && quoted_[column]; }
  // The line on which this row starts.
  size_t line() const { return line_; }
  // The line of the first row.
  size_t width_line() const { return width_line_; }
  char delimiter() const { return delimiter_; }
  const std::string& name() const { return name_; }

  // "file, line 7" and "file, line 7, column 3 ('age')", for messages.
  std::string where() const;
  std::string where(size_t column, std::string_view column_name = {}) const;

 private:
  enum class Parsed { row, blank_line, needs_more };

  Parsed parse_row();
  Parsed needs_more();
  bool parse_quoted(const char* opening, std::string_view& cell, const char*& stop);
  const char* after_line_end(const char* stop) const;
  void grow_cells();
  void check_text() const;
  void check_width();
  void unescape();

  std::string name_;
  char delimiter_;
  CsvMarks marks_;
  const char* row_ = nullptr;
  const char* position_ = nullptr;
  const char* end_ = nullptr;
  bool whole_ = true;
  size_t line_ = 0;
  size_t next_line_ = 1;
  size_t width_ = 0;  // cells in the first row
  size_t width_line_ = 0;
  std::vector<std::string_view> cells_;  // the first count_ of them
  size_t count_ = 0;
  std::vector<bool> quoted_;  // which of them, if any_quoted_
  bool any_quoted_ = false;
  std::vector<size_t> doubled_;  // cells with doubled quotes, to be made single
  std::string unescaped_;        // such cells, one after another
};

}  // namespace assay
