#include "assay/data/io/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

constexpr size_t kTarBlock = 512;
using TarHeader = std::array<char, kTarBlock>;

// A field ends at its first NUL.
std::string_view text_field(const TarHeader& header, size_t begin, size_t size) {
  const std::string_view field(header.data() + begin, size);
  return field.substr(0, field.find('\0'));
}

// Octal digits between blanks; nothing for anything else.
std::optional<uint64_t> octal_field(const TarHeader& header, size_t begin, size_t size) {
  std::string_view field = text_field(header, begin, size);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  if (field.empty()) return {};
  uint64_t value = 0;
  for (const char c : field) {
    if (c < '0' || c > '7') return {};
    value = value * 8 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

// The sum of all bytes, those of the checksum itself as blanks.
uint64_t header_sum(const TarHeader& header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < header.size(); i++) {
    sum += i >= 148 && i < 156 ? uint64_t{' '} : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

}  // namespace

TarReader::TarReader(std::unique_ptr<ByteSource> source, uint64_t most) : source_(std::move(source)), most_(most) {}

void TarReader::fail(const char* expected, const std::string& found) const {
  fail_input(fmt::format("{}, byte {}", source_->name(), position_), expected, found);
}

void TarReader::skip(uint64_t bytes) {
  std::array<char, 4096> buffer;
  while (bytes > 0) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(bytes, buffer.size()));
    if (source_->read_fully({buffer.data(), wanted}) < wanted) fail("the rest of a file", "the end of the archive");
    bytes -= wanted;
    position_ += wanted;
  }
}

bool TarReader::next(TarFile& file) {
  for (;;) {
    TarHeader header;
    const size_t read = source_->read_fully(header);
    if (read == 0) return false;
    if (read < header.size()) fail("a header of 512 bytes", fmt::format("{}", read));
    if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) return false;
    const auto sum = octal_field(header, 148, 8);
    if (sum != header_sum(header)) fail("the header of a file, with its checksum", "something else");
    const auto size = octal_field(header, 124, 12);
    if (!size) fail("the size of a file, in octal digits", in_quotes(text_field(header, 124, 12)));
    position_ += kTarBlock;
    const uint64_t padding = (kTarBlock - *size % kTarBlock) % kTarBlock;
    const char kind = header[156];
    if (kind != '0' && kind != '\0') {
      skip(*size);
      skip(padding);
      continue;
    }
    if (*size > most_) fail(fmt::format("a file of at most {} bytes", most_).c_str(), fmt::format("{}", *size));
    const std::string_view prefix = text_field(header, 257, 5) == "ustar" ? text_field(header, 345, 155) : "";
    file.name = prefix.empty() ? "" : fmt::format("{}/", prefix);
    file.name += text_field(header, 0, 100);
    file.bytes.resize(static_cast<size_t>(*size));
    if (source_->read_fully(file.bytes) < file.bytes.size()) fail("the rest of a file", "the end of the archive");
    position_ += *size;
    skip(padding);
    return true;
  }
}

}  // namespace assay
