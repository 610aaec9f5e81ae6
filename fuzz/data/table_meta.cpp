// Any text as the description of a table inside an .npz file: parts that fit together and can be written again, or an
// assay::Error. A target of its own, because the archive's CRC keeps changed text from getting this far.
#include "assay/data/io/table_meta.h"

#include <string>

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    assay::Table table;
    assay::read_table_meta("fuzz.npz", std::string(assay::fuzz::bytes_of(data, size)), table);
    assay::fuzz::require(!table.label || *table.label < table.columns.size());
    const std::string written = assay::table_meta_text("fuzz.npz", table);
    assay::Table again;
    assay::read_table_meta("again.npz", written, again);
    assay::fuzz::require(assay::table_meta_text("again.npz", again) == written);
  });
  return 0;
}
