// Any bytes as .npy, as .npz and as the description of a table in one: a table or an assay::Error, nothing else.
#include <cstddef>
#include <cstdint>

#include "assay/core/error.h"
#include "assay/data/io/array_table.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "assay/data/io/table_meta.h"

namespace {

template <class F>
void only_our_errors(F f) {
  try {
    f();
  } catch (const assay::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  only_our_errors([&] { assay::read_npy_table(*assay::memory_bytes("fuzz.npy", bytes)); });
  only_our_errors([&] {
    const assay::NpyArray array = assay::read_npy(*assay::memory_bytes("fuzz.npy", bytes));
    if (array.is_text()) {
      assay::to_strings("fuzz.npy", array);
    } else {
      assay::to_doubles("fuzz.npy", array);
      assay::to_matrix("fuzz.npy", array);
    }
  });
  only_our_errors([&] { assay::read_npz_table("fuzz.npz", bytes); });
  only_our_errors([&] {
    const assay::NpzFile file("fuzz.npz", bytes);
    for (const auto& name : file.names()) only_our_errors([&] { file.read(name); });
  });
  // The archive's CRC keeps changed text from getting this far.
  only_our_errors([&] {
    assay::Table table;
    assay::read_table_meta("fuzz.npz", std::string(bytes), table);
    assay::table_meta_text("fuzz.npz", table);
  });
  return 0;
}
