#include "assay/model/train/parameters.h"

#include <algorithm>
#include <cassert>

#include "assay/core/error.h"

namespace assay {
namespace {

constexpr size_t kAlignedFloats = 16;

}  // namespace

Parameters::Parameters(const OnnxModel& network) {
  size_t size = 0;
  for (const OnnxTensor& tensor : network.graph.initializers) {
    if (tensor.type != OnnxElement::float32) continue;
    const size_t count = onnx_element_count("network", tensor.dims);
    places_.push_back({tensor.name, tensor.dims, size, count});
    size += (count + kAlignedFloats - 1) / kAlignedFloats * kAlignedFloats;
  }
  if (size == 0) fail_input("network", "weights to train", "none of type FLOAT");
  values_ = Tensor(OnnxElement::float32, {static_cast<int64_t>(size)});
  auto place = places_.begin();
  for (const OnnxTensor& tensor : network.graph.initializers) {
    if (tensor.type != OnnxElement::float32) continue;
    std::ranges::copy(to_floats("network", tensor), values().begin() + static_cast<ptrdiff_t>(place->first));
    ++place;
  }
}

void Parameters::store(OnnxModel& network) const {
  auto place = places_.begin();
  for (OnnxTensor& tensor : network.graph.initializers) {
    if (tensor.type != OnnxElement::float32) continue;
    assert(place != places_.end() && place->name == tensor.name);
    tensor = onnx_tensor(tensor.name, tensor.dims, values().subspan(place->first, place->count));
    ++place;
  }
}

}  // namespace assay
