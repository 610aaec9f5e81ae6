#include "assay/data/io/csv_rows.h"

namespace assay {

CsvRows::CsvRows(std::unique_ptr<ByteSource> source, char delimiter, size_t skip_lines)
    : buffer_(std::move(source), delimiter, skip_lines), parser_(buffer_.name(), buffer_.delimiter()) {
  parser_.set_line(buffer_.first_line());
  parser_.set_text(buffer_.begin(), buffer_.end(), buffer_.at_end());
}

bool CsvRows::next() {
  while (!parser_.next()) {
    if (buffer_.at_end()) return false;
    buffer_.take(parser_.position());
    buffer_.fill(parser_.next_line());
    parser_.set_text(buffer_.begin(), buffer_.end(), buffer_.at_end());
  }
  return true;
}

}  // namespace assay
