#include "assay/data/io/csv_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

bool is_blank(char c, char delimiter) { return (c == ' ' || c == '\t') && c != delimiter; }

const char* after_blanks(const char* from, const char* end, char delimiter) {
  while (from < end && is_blank(*from, delimiter)) ++from;
  return from;
}

const char* before_blanks(const char* begin, const char* from, char delimiter) {
  while (from > begin && is_blank(from[-1], delimiter)) --from;
  return from;
}

std::string_view text_between(const char* begin, const char* end) { return {begin, static_cast<size_t>(end - begin)}; }

// Whether no byte is zero or has its high bit set, eight at a time.
bool plain_ascii(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080u;
  constexpr uint64_t kLow = 0x0101010101010101u;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    // A zero byte borrows when 1 is taken from it, which sets its high bit.
    if ((((word - kLow) & ~word) | word) & kHigh) return false;
  }
  return std::ranges::all_of(text.substr(i), [](char c) { return static_cast<signed char>(c) > 0; });
}

}  // namespace

void CsvParser::set_text(const char* begin, const char* end, bool whole) {
  position_ = begin;
  end_ = end;
  whole_ = whole;
  marks_.start(begin, end, delimiter_);
}

void CsvParser::set_width(size_t width, size_t line) {
  width_ = width;
  width_line_ = line;
}

bool CsvParser::next() {
  while (position_ < end_) {
    switch (parse_row()) {
      case Parsed::needs_more: return false;
      case Parsed::blank_line: break;
      case Parsed::row:
        if (!marks_.plain() && !plain_ascii(text_between(row_, position_))) check_text();
        check_width();
        if (!doubled_.empty()) unescape();
        return true;
    }
  }
  return false;
}

// Behind LF, CRLF or CR. Null when the CR is the last byte so far, because an LF may follow.
const char* CsvParser::after_line_end(const char* stop) const {
  if (stop == end_) return stop;
  if (*stop == '\r') {
    if (stop + 1 == end_ && !whole_) return nullptr;
    if (stop + 1 < end_ && stop[1] == '\n') ++stop;
  }
  return stop + 1;
}

// From the opening quote to the mark that ends the cell. False when the text ends before that.
bool CsvParser::parse_quoted(const char* opening, std::string_view& cell, const char*& stop) {
  if (!any_quoted_) quoted_.assign(cells_.size(), false);
  any_quoted_ = true;
  quoted_[count_] = true;
  bool doubled = false;
  const char* mark = marks_.next();
  for (;; mark = marks_.next()) {
    if (mark == end_) {
      if (!whole_) return false;
      fail_input(where(count_), "a closing quote", "the end of the file");
    }
    if (*mark == '\n') ++next_line_;
    if (*mark != '"') continue;
    if (mark + 1 == end_ && !whole_) return false;
    if (mark + 1 == end_ || mark[1] != '"') break;
    doubled = true;
    marks_.next();
  }
  cell = text_between(opening + 1, mark);
  if (doubled) doubled_.push_back(count_);
  const char* behind = after_blanks(mark + 1, end_, delimiter_);
  if (behind == end_ && !whole_) return false;
  stop = marks_.next();
  if (stop != behind || (behind != end_ && *behind == '"' && delimiter_ != '"')) {
    fail_input(where(count_), "the end of the cell after its closing quote", in_quotes({behind, 1}));
  }
  return true;
}

void CsvParser::grow_cells() {
  if (count_ == kMostColumns) {
    fail_input(where(), fmt::format("at most {} cells", kMostColumns), "more");
  }
  cells_.resize(std::clamp<size_t>(2 * count_, 16, kMostColumns));
  quoted_.resize(cells_.size());
}

CsvParser::Parsed CsvParser::parse_row() {
  row_ = position_;
  line_ = next_line_;
  count_ = 0;
  any_quoted_ = false;
  doubled_.clear();
  marks_.begin_row();
  const char* begin = position_;
  const char* stop = nullptr;
  for (;; begin = stop + 1) {
    if (count_ == cells_.size()) grow_cells();
    stop = marks_.next();
    // Blanks are rare, and no character that a cell often begins with comes before them.
    if (*begin <= ' ') begin = after_blanks(begin, stop, delimiter_);
    if (stop != end_ && *stop == '"' && begin == stop) {
      if (!parse_quoted(begin, cells_[count_], stop)) return needs_more();
    } else {
      while (stop != end_ && *stop == '"' && delimiter_ != '"') stop = marks_.next();
      const char* cell_end = stop;
      if (stop > begin && stop[-1] <= ' ') cell_end = before_blanks(begin, stop, delimiter_);
      cells_[count_] = text_between(begin, cell_end);
    }
    ++count_;
    if (stop == end_) {
      if (!whole_) return needs_more();
      break;
    }
    if (*stop != delimiter_) break;
  }
  const char* behind = after_line_end(stop);
  if (behind == nullptr) return needs_more();
  position_ = behind;
  ++next_line_;
  const bool no_text = count_ == 1 && cells_[0].empty() && !any_quoted_;
  // CRLF is two marks.
  if (behind - stop == 2) marks_.next();
  return no_text ? Parsed::blank_line : Parsed::row;
}

// The row will be parsed again, with more text behind it.
CsvParser::Parsed CsvParser::needs_more() {
  next_line_ = line_;
  return Parsed::needs_more;
}

void CsvParser::check_text() const {
  for (size_t column = 0; column < count_; ++column) {
    if (cells_[column].find('\0') != std::string_view::npos) {
      fail_input(where(column), "text", "a NUL byte (is this a binary file?)");
    }
    if (!valid_utf8(cells_[column])) fail_input(where(column), "UTF-8 text", "bytes that are not valid UTF-8");
  }
}

void CsvParser::check_width() {
  if (count_ == width_) return;
  if (width_ != 0) {
    fail_input(where(), fmt::format("{} cells as in line {}", width_, width_line_), fmt::format("{}", count_));
  }
  set_width(count_, line_);
}

void CsvParser::unescape() {
  size_t size = 0;
  for (const size_t column : doubled_) size += cells_[column].size();
  // Never less than before, so that cells that were placed stay where they are.
  if (unescaped_.size() < size + kCsvPadding) unescaped_.resize(size + kCsvPadding);
  char* to = unescaped_.data();
  for (const size_t column : doubled_) {
    const std::string_view cell = cells_[column];
    char* const begin = to;
    for (size_t k = 0; k < cell.size(); ++k) {
      *to++ = cell[k];
      if (cell[k] == '"') ++k;
    }
    cells_[column] = text_between(begin, to);
  }
}

std::string CsvParser::where() const { return fmt::format("{}, line {}", name_, line_); }

std::string CsvParser::where(size_t column, std::string_view column_name) const {
  const std::string label = column_name.empty() ? "" : fmt::format(" ({})", in_quotes(column_name));
  return fmt::format("{}, line {}, column {}{}", name_, line_, column + 1, label);
}

}  // namespace assay
