// The bytes of a CSV file, as much of it as a buffer holds: rows are parsed in place, and what is left over is kept.
//
// Skips a byte order mark and the first lines, and finds the delimiter. Memory: one buffer, which grows only for a row
// longer than itself, up to kLongestRow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "assay/data/io/bytes.h"

namespace assay {

class CsvBuffer {
 public:
  static constexpr size_t kLongestRow = size_t{64} << 20;
  static constexpr size_t kSize = size_t{256} << 10;

  // delimiter '\0' = the one of , ; tab | that the first line has most of. The first skip_lines lines are passed over.
  explicit CsvBuffer(std::unique_ptr<ByteSource> source, char delimiter, size_t skip_lines, size_t size = kSize);

  // What was read and not taken yet; kCsvPadding bytes behind it can be read, too.
  const char* begin() const { return bytes_.get() + begin_; }
  const char* end() const { return bytes_.get() + end_; }
  // Nothing follows the bytes in the buffer.
  bool at_end() const { return at_end_; }

  // Steps over everything before this place.
  void take(const char* up_to) { begin_ = static_cast<size_t>(up_to - bytes_.get()); }
  // Reads more behind what was not taken. `line` is where that begins, for the message about a row that is too long.
  void fill(size_t line);

  char delimiter() const { return delimiter_; }
  // The line with which the table begins; the first of the file is 1.
  size_t first_line() const { return first_line_; }
  // Bytes not yet taken, where the source can tell.
  std::optional<uint64_t> remaining() const;
  const std::string& name() const { return source_->name(); }

 private:
  void skip_byte_order_mark();
  void skip_line();
  char detect_delimiter() const;

  std::unique_ptr<ByteSource> source_;
  size_t size_;  // of the buffer, without the padding
  std::unique_ptr<char[]> bytes_;
  size_t begin_ = 0;  // of what was not taken
  size_t end_ = 0;    // of what was read
  bool at_end_ = false;
  size_t first_line_ = 1;
  char delimiter_;
};

}  // namespace assay
