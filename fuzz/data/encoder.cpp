// Any text as the encoder in a model's metadata: one that writes itself back to the same bytes, or an assay::Error.
#include "assay/data/encoder.h"

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    const assay::Encoder encoder = assay::Encoder::from_json("fuzz.onnx", assay::fuzz::bytes_of(data, size));
    const std::string written = encoder.to_json();
    const assay::Encoder again = assay::Encoder::from_json("again.onnx", written);
    assay::fuzz::require(again.to_json() == written && again.feature_names() == encoder.feature_names());
  });
  return 0;
}
