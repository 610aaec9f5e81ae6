#include <zlib.h>

#include <algorithm>
#include <new>

#include "assay/core/error.h"
#include "assay/data/io/zip.h"

namespace assay {
namespace {

constexpr uint32_t kMost32 = UINT32_MAX;
constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersion64 = 45;
constexpr uint16_t kDate = (1 << 5) | 1;  // 1980-01-01, the first that ZIP knows

// Little-endian numbers, one after another.
class Record {
 public:
  Record& u16(uint64_t value) { return number(value, 2); }
  Record& u32(uint64_t value) { return number(value, 4); }
  Record& u64(uint64_t value) { return number(value, 8); }
  // 32 bits, or the mark that says: see the zip64 field.
  Record& u32_or_mark(uint64_t value) { return u32(std::min<uint64_t>(value, kMost32)); }
  Record& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    return *this;
  }
  std::string bytes_;
};

uint16_t flags_of(const ZipEntry& entry) {
  constexpr uint16_t kDescriptorFollows = 0x0008;
  constexpr uint16_t kUtf8Name = 0x0800;
  const bool ascii = std::ranges::all_of(entry.name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return static_cast<uint16_t>((entry.deflated ? kDescriptorFollows : 0) | (ascii ? 0 : kUtf8Name));
}

uint16_t method_of(const ZipEntry& entry) { return entry.deflated ? Z_DEFLATED : 0; }

// Gives the deflated form of the parts to sink, piece by piece.
template <class Sink>
void deflate_parts(const std::vector<std::string_view>& parts, Sink sink) {
  struct Stream : z_stream {
    Stream() : z_stream{} {
      if (deflateInit2(this, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { deflateEnd(this); }
  } stream;
  std::vector<char> output(kChunkBytes);
  const auto drain = [&](int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef*>(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      deflate(&stream, flush);
      sink(std::string_view(output.data(), output.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  };
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const std::string_view piece = part.substr(0, size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      drain(Z_NO_FLUSH);
      part.remove_prefix(piece.size());
    }
  }
  drain(Z_FINISH);
}

}  // namespace

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& parts, bool deflated) {
  if (name.size() > UINT16_MAX) fail_input(in_quotes(name), "a name of at most 65535 bytes in a ZIP archive", "more");
  ZipEntry entry{.name = name, .deflated = deflated, .offset = position_};
  for (const std::string_view part : parts) {
    // zlib takes a null pointer as a wish to start again.
    if (part.empty()) continue;
    entry.crc = static_cast<uint32_t>(::crc32_z(entry.crc, reinterpret_cast<const Bytef*>(part.data()), part.size()));
    entry.size += part.size();
  }
  // How much deflated data there will be is known only after it; data that does not shrink grows by a little.
  constexpr uint64_t kMayPass32 = 0xF0000000;
  const bool zip64 = entry.size >= (deflated ? kMayPass32 : kMost32);
  const uint64_t size_now = deflated ? 0 : entry.size;
  Record header;
  header.u32(0x04034b50).u16(zip64 ? kVersion64 : kVersion).u16(flags_of(entry)).u16(method_of(entry));
  header.u16(0).u16(kDate).u32(deflated ? 0 : entry.crc);
  header.u32(zip64 ? kMost32 : size_now).u32(zip64 ? kMost32 : size_now);
  header.u16(name.size()).u16(zip64 ? 20 : 0).text(name);
  if (zip64) header.u16(kZip64Field).u16(16).u64(size_now).u64(size_now);
  write(header.bytes());

  const uint64_t data_start = position_;
  if (deflated) {
    deflate_parts(parts, [this](std::string_view piece) { write(piece); });
  } else {
    for (const std::string_view part : parts) write(part);
  }
  entry.packed_size = position_ - data_start;
  if (deflated) {
    Record descriptor;
    descriptor.u32(0x08074b50).u32(entry.crc);
    if (zip64) {
      descriptor.u64(entry.packed_size).u64(entry.size);
    } else {
      descriptor.u32(entry.packed_size).u32(entry.size);
    }
    write(descriptor.bytes());
  }
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t directory = position_;
  for (const auto& entry : entries_) {
    Record extra;
    for (const uint64_t value : {entry.size, entry.packed_size, entry.offset}) {
      if (value >= kMost32) extra.u64(value);
    }
    const bool zip64 = !extra.bytes().empty();
    Record record;
    record.u32(0x02014b50).u16(zip64 ? kVersion64 : kVersion).u16(zip64 ? kVersion64 : kVersion);
    record.u16(flags_of(entry)).u16(method_of(entry)).u16(0).u16(kDate).u32(entry.crc);
    record.u32_or_mark(entry.packed_size).u32_or_mark(entry.size);
    record.u16(entry.name.size()).u16(zip64 ? extra.bytes().size() + 4 : 0).u16(0).u16(0).u16(0).u32(0);
    record.u32_or_mark(entry.offset).text(entry.name);
    if (zip64) record.u16(kZip64Field).u16(extra.bytes().size()).text(extra.bytes());
    write(record.bytes());
  }
  const uint64_t end = position_;
  const uint64_t count = entries_.size();
  Record record;
  if (count >= UINT16_MAX || end - directory >= kMost32 || directory >= kMost32) {
    record.u32(0x06064b50).u64(44).u16(kVersion64).u16(kVersion64).u32(0).u32(0);
    record.u64(count).u64(count).u64(end - directory).u64(directory);
    record.u32(0x07064b50).u32(0).u64(end).u32(1);
  }
  record.u32(0x06054b50).u16(0).u16(0);
  record.u16(std::min<uint64_t>(count, UINT16_MAX)).u16(std::min<uint64_t>(count, UINT16_MAX));
  record.u32_or_mark(end - directory).u32_or_mark(directory).u16(0);
  write(record.bytes());
}

}  // namespace assay
