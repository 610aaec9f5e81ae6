// Any text as the training recipe in a model's metadata: it is read, or an assay::Error. Nothing is trained: the rows
// have no labels, which is an error after the recipe was read.
#include "assay/model/train/recipe.h"

#include <string>

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::Dataset rows;
  rows.x = assay::Matrix(1, 1);
  const std::string text(assay::fuzz::bytes_of(data, size));
  const bool trained =
      assay::fuzz::succeeds([&] { assay::retrain("fuzz.onnx", {{"assay.training", text}}, rows, 0, {}); });
  assay::fuzz::require(!trained);
  return 0;
}
