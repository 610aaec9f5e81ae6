#include "assay/data/io/csv_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "assay/core/error.h"
#include "assay/data/io/csv_marks.h"

namespace assay {

CsvBuffer::CsvBuffer(std::unique_ptr<ByteSource> source, char delimiter, size_t skip_lines, size_t size)
    : source_(std::move(source)),
      size_(size),
      bytes_(std::make_unique_for_overwrite<char[]>(size + kCsvPadding)),
      delimiter_(delimiter) {
  fill(first_line_);
  skip_byte_order_mark();
  for (size_t i = 0; i < skip_lines && begin_ < end_; ++i) skip_line();
  if (delimiter_ == '\0') delimiter_ = detect_delimiter();
}

void CsvBuffer::skip_byte_order_mark() {
  const std::string_view start(bytes_.get(), std::min<size_t>(end_, 3));
  if (start == "\xEF\xBB\xBF") begin_ = 3;
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    fail_input(name(), "UTF-8 text", "UTF-16 (save it as UTF-8)");
  }
}

void CsvBuffer::skip_line() {
  for (;;) {
    const void* end = std::memchr(bytes_.get() + begin_, '\n', end_ - begin_);
    begin_ = end == nullptr ? end_ : static_cast<size_t>(static_cast<const char*>(end) - bytes_.get()) + 1;
    if (end != nullptr || at_end_) break;
    fill(first_line_);
  }
  ++first_line_;
}

char CsvBuffer::detect_delimiter() const {
  constexpr std::string_view kCandidates = ",;\t|";
  std::array<size_t, kCandidates.size()> counts{};
  bool quoted = false;
  for (size_t i = begin_; i < end_; ++i) {
    const char c = bytes_[i];
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) {
      if (std::ranges::any_of(counts, [](size_t n) { return n > 0; })) break;
      continue;  // leading blank lines, or a table of one column
    }
    if (const size_t k = kCandidates.find(c); !quoted && k != std::string_view::npos) ++counts[k];
  }
  return kCandidates[static_cast<size_t>(std::ranges::max_element(counts) - counts.begin())];
}

// Makes room by moving what is left to the front, growing only when one row fills the whole buffer.
void CsvBuffer::fill(size_t line) {
  end_ -= begin_;
  if (end_ == size_) {
    if (end_ >= kLongestRow) {
      fail_input(fmt::format("{}, line {}", name(), line), "a row of at most 64 MiB",
                 "a longer one (is a quote left open?)");
    }
    size_ *= 2;
    auto larger = std::make_unique_for_overwrite<char[]>(size_ + kCsvPadding);
    std::memcpy(larger.get(), bytes_.get() + begin_, end_);
    bytes_ = std::move(larger);
  } else {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_);
  }
  begin_ = 0;
  // Fully: a long row is parsed anew after each filling, so fillings must be few.
  const std::span free_space(bytes_.get() + end_, size_ - end_);
  const size_t got = source_->read_fully(free_space);
  at_end_ = got < free_space.size();
  end_ += got;
  std::memset(bytes_.get() + end_, 0, kCsvPadding);
}

std::optional<uint64_t> CsvBuffer::remaining() const {
  auto left = source_->remaining();
  if (left) *left += end_ - begin_;
  return left;
}

}  // namespace assay
