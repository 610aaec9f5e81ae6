// Any text as explanations in .json: explanations whose parts fit together, or an assay::Error.
#include "fuzz/explain/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = assay::fuzz::bytes_of(data, size);
  assay::fuzz::explanations_or_error([&] { return assay::explanations_from_json("fuzz.json", text); });
  return 0;
}
