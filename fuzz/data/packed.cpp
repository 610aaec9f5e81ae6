// Any bytes as a plain, gzip or xz file: what comes out is the same in one piece as in small ones, or an assay::Error.
#include <algorithm>
#include <array>
#include <string>

#include "assay/data/io/bytes.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMost = uint64_t{1} << 20;
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  std::string whole;
  if (!assay::fuzz::succeeds([&] { whole = assay::read_all(*assay::memory_bytes("fuzz", bytes), kMost); })) return 0;
  const auto source = assay::memory_bytes("fuzz", bytes);
  std::array<char, 7> piece{};
  size_t at = 0;
  while (const size_t count = source->read(piece)) {
    assay::fuzz::require(at + count <= whole.size() && std::equal(piece.begin(), piece.begin() + count, &whole[at]));
    at += count;
    if (at > 4096) return 0;
  }
  assay::fuzz::require(at == whole.size());
  return 0;
}
