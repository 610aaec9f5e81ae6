// Any text as explanations in .csv: explanations whose parts fit together, or an assay::Error.
#include "assay/explain/io/explanations_table.h"

#include "fuzz/explain/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  const auto open = [&] { return assay::memory_bytes("fuzz.csv", bytes); };
  assay::fuzz::explanations_or_error([&] { return assay::explanations_from_csv(open, {}); });
  return 0;
}
