// Any bytes as an ONNX model: structs or an assay::Error, nothing else. What was read must give the same bytes when
// written, read and written again.
#include "assay/model/graph/onnx.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "assay/core/error.h"

namespace {

template <class F>
bool succeeds(F f) {
  try {
    f();
    return true;
  } catch (const assay::Error&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  assay::OnnxModel model;
  if (!succeeds([&] { model = assay::parse_onnx("fuzz.onnx", bytes, ""); })) return 0;
  for (const auto& tensor : model.graph.initializers) {
    succeeds([&] { assay::to_floats("fuzz.onnx", tensor); });
    succeeds([&] { assay::to_doubles("fuzz.onnx", tensor); });
    succeeds([&] { assay::to_int64s("fuzz.onnx", tensor); });
  }
  std::string written;
  // Some models cannot be written: the contents of sparse tensors are not kept.
  if (!succeeds([&] { written = assay::serialise_onnx(model); })) return 0;
  const assay::OnnxModel again = assay::parse_onnx("written.onnx", written, "");
  if (again.graph.nodes.size() != model.graph.nodes.size()) std::abort();
  // Models with a NaN are not equal to themselves, but their bytes are.
  if (assay::serialise_onnx(again) != written) std::abort();
  return 0;
}
