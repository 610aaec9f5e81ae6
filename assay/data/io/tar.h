// Reads tar archives front to back, as far as data sets need them: regular files of a plain or ustar archive (POSIX
// 1003.1). Folders, links and extended headers are passed over.
//
// Bytes are hostile: the checksum of every header is tested, sizes are checked before memory is taken, and memory grows
// with what arrives. An input error names the archive and the place. Cost: one pass; one file in memory at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "assay/data/io/bytes.h"

namespace assay {

struct TarFile {
  std::string name;  // as in the archive: "set-a/132539.txt"
  std::string bytes;
};

class TarReader {
 public:
  // A file of more than `most` bytes is an input error.
  explicit TarReader(std::unique_ptr<ByteSource> source, uint64_t most = uint64_t{16} << 20);

  // The next regular file; false at the end.
  bool next(TarFile& file);

 private:
  [[noreturn]] void fail(const char* expected, const std::string& found) const;
  void skip(uint64_t bytes);

  std::unique_ptr<ByteSource> source_;
  uint64_t most_;
  uint64_t position_ = 0;
};

}  // namespace assay
