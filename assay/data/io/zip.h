// ZIP archives, as far as NPZ needs them: stored and deflated entries, data descriptors, zip64.
//
// The format: PKWARE's APPNOTE.TXT 6.3.10. The central directory is what counts. Everything in it is checked before any
// entry is opened: ranges, overlaps, duplicate names; encrypted, multi-disk and otherwise compressed archives are
// refused. An entry's data is checked against its size and CRC while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/bytes.h"

namespace assay {

inline constexpr uint16_t kZip64Field = 0x0001;  // the extra field for sizes that do not fit in 32 bits

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t size = 0;         // unpacked, as the archive claims; checked while reading, never trusted for memory
  uint64_t packed_size = 0;  // in the archive
  uint64_t offset = 0;       // of the local header
  uint64_t limit = 0;        // where the next entry or the directory starts
};

class ZipReader {
 public:
  // A plain file is read in place, a part at a time; a compressed one (.npz.gz) or a pipe is read into memory first.
  // Reading stops with Error(cancelled) when the context says so.
  explicit ZipReader(const std::string& path, const Context& context = {});
  // An archive in memory, which is copied; name is for messages.
  ZipReader(std::string name, std::string_view bytes);

  const std::string& name() const { return name_; }
  // In the order of the archive's directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The entry's data. The source may outlive the reader.
  std::unique_ptr<ByteSource> open(const ZipEntry& entry) const;

  class Storage;

 private:
  void read_directory();

  std::string name_;
  std::shared_ptr<const Storage> storage_;
  std::vector<ZipEntry> entries_;
};

// Writes an archive front to back. Every entry is dated 1980-01-01, so the same content gives the same bytes.
class ZipWriter {
 public:
  // The file must outlive the writer and is committed by the caller.
  explicit ZipWriter(AtomicFile& file) : file_(file) {}

  // An entry whose data is these parts, one after another.
  void add(const std::string& name, const std::vector<std::string_view>& parts, bool deflated);
  // The central directory; nothing can be added after it.
  void finish();

 private:
  void write(std::string_view bytes);

  AtomicFile& file_;
  uint64_t position_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace assay
