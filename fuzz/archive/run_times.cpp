// Any text as run.json: times, or an assay::Error.
#include "assay/archive/io/run_json.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] { assay::times_from_json("fuzz.json", assay::fuzz::bytes_of(data, size)); });
  return 0;
}
