// Any bytes as IDX: a table or an assay::Error, nothing else.
#include <cstddef>
#include <cstdint>

#include "assay/core/error.h"
#include "assay/data/io/array_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    assay::read_idx_table(*assay::memory_bytes("fuzz.idx", bytes));
  } catch (const assay::Error&) {
  }
  return 0;
}
