// The bytes of CSV text at which a cell may end, or its quotes open or close: its marks. They are the delimiters, line
// feeds, carriage returns and quotes.
//
// Most bytes of a table are none of these. So marks are found by vector instructions, 64 bytes at a time, and the
// parser goes from mark to mark (as simdjson does: Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay {

// Text of CSV must be followed by so many bytes that may be read: whole vectors are loaded. Their values do not matter.
inline constexpr size_t kCsvPadding = 64;

struct MarkedText {
  size_t marks;  // how many
  bool plain;    // only ASCII, and no NUL bytes
};

// Writes the position of every mark of the text, in rising order. `positions` has room for size + 8 of them.
MarkedText find_csv_marks(const char* text, size_t size, char delimiter, uint32_t* positions);

// The marks of a text, one after another.
class CsvMarks {
 public:
  // kCsvPadding bytes behind the end must be readable. The text must not change while its marks are asked for.
  void start(const char* begin, const char* end, char delimiter);

  // The next mark; the end of the text where there is none left.
  const char* next() {
    if (taken_ == count_) find_more();
    return window_ + positions_[taken_++];
  }
  // Whether the text from the last call of begin_row() up to the last mark is ASCII without NUL bytes. May be false
  // where only the text around it is not.
  bool plain() const { return plain_; }
  void begin_row() { plain_ = window_plain_; }

 private:
  void find_more();

  static constexpr size_t kWindow = size_t{8} << 10;

  std::unique_ptr<uint32_t[]> positions_;  // within the window
  const char* window_ = nullptr;           // the part of the text whose marks are known
  const char* window_end_ = nullptr;
  const char* end_ = nullptr;
  size_t count_ = 0;
  size_t taken_ = 0;
  char delimiter_ = ',';
  bool window_plain_ = true;
  bool plain_ = true;
};

}  // namespace assay
