// Any bytes as .npy: an array whose numbers or texts can be taken, a table, or an assay::Error.
#include "assay/data/io/npy.h"

#include "assay/data/io/array_table.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  assay::fuzz::succeeds([&] { assay::read_npy_table(*assay::memory_bytes("fuzz.npy", bytes)); });
  assay::fuzz::succeeds([&] {
    const assay::NpyArray array = assay::read_npy(*assay::memory_bytes("fuzz.npy", bytes));
    assay::fuzz::require(array.bytes.size() == array.count() * array.item_size);
    if (array.is_text()) {
      assay::to_strings("fuzz.npy", array);
    } else {
      assay::to_doubles("fuzz.npy", array);
      assay::to_matrix("fuzz.npy", array);
    }
  });
  return 0;
}
