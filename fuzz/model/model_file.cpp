// Any bytes as a model file: the format is detected from content; the result is a graph or an assay::Error.
#include "assay/model/model_file.h"

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] { assay::parse_model("fuzz", assay::fuzz::bytes_of(data, size), ""); });
  return 0;
}
