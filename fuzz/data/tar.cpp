// Any bytes as a tar archive: its files, or an assay::Error. No file is longer than the archive.
#include "assay/data/io/tar.h"

#include <cstddef>
#include <cstdint>

#include "assay/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    assay::TarReader reader(assay::memory_bytes("fuzz.tar", bytes), size);
    size_t read = 0;
    for (assay::TarFile file; reader.next(file);) read += 512 + file.bytes.size();
    if (read > size) __builtin_trap();
  } catch (const assay::Error&) {
  }
  return 0;
}
