// Any text as a list of rows: numbers of rows that there are, or an assay::Error.
#include "assay/data/row_ranges.h"

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    const auto rows = assay::rows_from_ranges("fuzz", assay::fuzz::bytes_of(data, size), 1000);
    assay::fuzz::require(!rows.empty());
    for (const size_t row : rows) assay::fuzz::require(row < 1000);
  });
  return 0;
}
