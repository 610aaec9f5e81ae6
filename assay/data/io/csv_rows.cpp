#include "assay/data/io/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;

bool blank(char c, char delimiter) { return (c == ' ' || c == '\t') && c != delimiter; }

// Whether any byte is zero or has its high bit set, eight at a time: almost every row passes here.
bool plain_ascii(const char* text, size_t size) {
  constexpr uint64_t kHigh = 0x8080808080808080u;
  constexpr uint64_t kLow = 0x0101010101010101u;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text + i, 8);
    // A zero byte borrows when 1 is taken from it, which sets its high bit.
    if ((((word - kLow) & ~word) | word) & kHigh) return false;
  }
  for (; i < size; ++i) {
    if (text[i] == '\0' || static_cast<signed char>(text[i]) < 0) return false;
  }
  return true;
}

}  // namespace

CsvRows::CsvRows(std::unique_ptr<ByteSource> source, char delimiter, size_t skip_lines)
    : source_(std::move(source)), delimiter_(delimiter), buffer_(kBuffer + 1) {
  fill();
  skip_byte_order_mark();
  for (size_t i = 0; i < skip_lines && begin_ < end_; ++i) skip_line();
  if (delimiter_ == '\0') delimiter_ = detect_delimiter();
  for (const char c : {delimiter_, '\n', '\r'}) stops_[static_cast<unsigned char>(c)] = true;
}

void CsvRows::skip_byte_order_mark() {
  const std::string_view start(buffer_.data(), std::min<size_t>(end_, 3));
  if (start == "\xEF\xBB\xBF") begin_ = 3;
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    fail_input(name(), "UTF-8 text", "UTF-16 (save it as UTF-8)");
  }
}

void CsvRows::skip_line() {
  for (;;) {
    const void* end = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    begin_ = end == nullptr ? end_ : static_cast<size_t>(static_cast<const char*>(end) - buffer_.data()) + 1;
    if (end != nullptr || at_end_) break;
    fill();
  }
  ++next_line_;
}

char CsvRows::detect_delimiter() const {
  constexpr std::string_view kCandidates = ",;\t|";
  std::array<size_t, kCandidates.size()> counts{};
  bool quoted = false;
  for (size_t i = begin_; i < end_; ++i) {
    const char c = buffer_[i];
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) {
      if (std::ranges::any_of(counts, [](size_t n) { return n > 0; })) break;
      continue;  // leading blank lines, or a table of one column
    }
    if (const size_t k = kCandidates.find(c); !quoted && k != std::string_view::npos) ++counts[k];
  }
  return kCandidates[static_cast<size_t>(std::ranges::max_element(counts) - counts.begin())];
}

// Makes room by moving the unparsed rest to the front, growing only when one row fills the whole buffer.
void CsvRows::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ + 1 == buffer_.size()) {
    if (end_ >= kLongestRow) {
      fail_input(fmt::format("{}, line {}", name(), next_line_), "a row of at most 64 MiB",
                 "a longer one (is a quote left open?)");
    }
    buffer_.resize(2 * end_ + 1);
  }
  // Fully: a long row is parsed anew after each filling, so fillings must be few.
  const auto free_space = std::span(buffer_).subspan(end_, buffer_.size() - 1 - end_);
  const size_t got = source_->read_fully(free_space);
  at_end_ = got < free_space.size();
  end_ += got;
}

bool CsvRows::next() {
  for (;;) {
    if (begin_ == end_ && at_end_) return false;
    // The sentinel stops the scan of a last line without a line end.
    buffer_[end_] = '\n';
    switch (parse_row()) {
      case Parsed::needs_more: fill(); break;
      case Parsed::blank_line: break;
      case Parsed::row:
        check_text();
        publish_cells();
        return true;
    }
  }
}

// At the end of a row: steps over LF, CRLF or CR. False when the CR is the last byte read so far, because an LF may
// follow.
bool CsvRows::row_ends_at(size_t& position) const {
  if (buffer_[position] == '\r') {
    if (position + 1 == end_ && !at_end_) return false;
    if (position + 1 < end_ && buffer_[position + 1] == '\n') ++position;
  }
  position = std::min(position + 1, end_);
  return true;
}

CsvRows::Parsed CsvRows::parse_quoted(size_t& position, CellSpan& cell) {
  cell.quoted = true;
  cell.begin = ++position;
  for (;;) {
    const void* quote = std::memchr(buffer_.data() + position, '"', end_ - position);
    if (quote == nullptr) {
      if (!at_end_) return Parsed::needs_more;
      fail_input(fmt::format("{}, line {}, column {}", name(), line_, spans_.size() + 1), "a closing quote",
                 "the end of the file");
    }
    position = static_cast<size_t>(static_cast<const char*>(quote) - buffer_.data());
    if (position + 1 == end_ && !at_end_) return Parsed::needs_more;
    if (position + 1 == end_ || buffer_[position + 1] != '"') break;
    cell.doubled = true;
    position += 2;
  }
  cell.end = position++;
  while (position < end_ && blank(buffer_[position], delimiter_)) ++position;
  if (position == end_ && !at_end_) return Parsed::needs_more;
  if (!stops_[static_cast<unsigned char>(buffer_[position])]) {
    fail_input(fmt::format("{}, line {}, column {}", name(), line_, spans_.size() + 1),
               "the end of the cell after its closing quote", in_quotes({buffer_.data() + position, 1}));
  }
  return Parsed::row;
}

CsvRows::Parsed CsvRows::parse_row() {
  line_ = next_line_;
  spans_.clear();
  size_t position = begin_;
  for (;;) {
    while (position < end_ && blank(buffer_[position], delimiter_)) ++position;
    CellSpan cell{position, position, false, false};
    if (position < end_ && buffer_[position] == '"') {
      if (parse_quoted(position, cell) == Parsed::needs_more) return Parsed::needs_more;
    } else {
      while (!stops_[static_cast<unsigned char>(buffer_[position])]) ++position;
      if (position == end_ && !at_end_) return Parsed::needs_more;
      cell.end = position;
      while (cell.end > cell.begin && blank(buffer_[cell.end - 1], delimiter_)) --cell.end;
    }
    if (spans_.size() == kMostColumns) {
      fail_input(fmt::format("{}, line {}", name(), line_), fmt::format("at most {} cells", kMostColumns), "more");
    }
    spans_.push_back(cell);
    if (position == end_ || buffer_[position] != delimiter_) break;
    ++position;
  }
  row_begin_ = begin_;
  row_end_ = position;
  if (!row_ends_at(position)) return Parsed::needs_more;
  begin_ = position;
  ++next_line_;
  for (const auto& cell : spans_) {
    if (!cell.quoted) continue;
    next_line_ += static_cast<size_t>(std::count(buffer_.begin() + static_cast<ptrdiff_t>(cell.begin),
                                                 buffer_.begin() + static_cast<ptrdiff_t>(cell.end), '\n'));
  }
  const bool no_text = spans_.size() == 1 && !spans_[0].quoted && spans_[0].begin == spans_[0].end;
  return no_text ? Parsed::blank_line : Parsed::row;
}

void CsvRows::check_text() const {
  if (plain_ascii(buffer_.data() + row_begin_, row_end_ - row_begin_)) return;
  for (size_t column = 0; column < spans_.size(); ++column) {
    const std::string_view text(buffer_.data() + spans_[column].begin, spans_[column].end - spans_[column].begin);
    if (text.find('\0') != std::string_view::npos) {
      fail_input(where(column), "text", "a NUL byte (is this a binary file?)");
    }
    if (!valid_utf8(text)) fail_input(where(column), "UTF-8 text", "bytes that are not valid UTF-8");
  }
}

void CsvRows::publish_cells() {
  if (width_ == 0) {
    width_ = spans_.size();
    width_line_ = line_;
  }
  if (spans_.size() != width_) {
    fail_input(where(), fmt::format("{} cells as in line {}", width_, width_line_), fmt::format("{}", spans_.size()));
  }
  cells_.resize(width_);
  for (size_t i = 0; i < width_; ++i) {
    char* text = buffer_.data() + spans_[i].begin;
    size_t size = spans_[i].end - spans_[i].begin;
    if (spans_[i].doubled) {
      // In place: the row is whole and will not be parsed again.
      size_t kept = 0;
      for (size_t k = 0; k < size; ++k) {
        text[kept++] = text[k];
        if (text[k] == '"') ++k;
      }
      size = kept;
    }
    cells_[i] = {text, size};
  }
}

std::optional<uint64_t> CsvRows::remaining() const {
  auto left = source_->remaining();
  if (left) *left += end_ - begin_;
  return left;
}

std::string CsvRows::where() const { return fmt::format("{}, line {}", name(), line_); }

std::string CsvRows::where(size_t column, std::string_view column_name) const {
  const std::string label = column_name.empty() ? "" : fmt::format(" ({})", in_quotes(column_name));
  return fmt::format("{}, line {}, column {}{}", name(), line_, column + 1, label);
}

}  // namespace assay
