// The weights that training changes, which are all float32 initializers of a network, in one flat vector. It feeds the
// plans, and an optimiser step changes it as a whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/model/graph/onnx.h"
#include "assay/model/graph/tensor.h"

namespace assay {

struct ParameterPlace {
  std::string name;
  Shape dims;
  size_t first = 0;  // a multiple of 16 elements: tensors begin at cache lines
  size_t count = 0;
};

class Parameters {
 public:
  // Copies the weights. An input error when there are none.
  explicit Parameters(const OnnxModel& network);

  const std::vector<ParameterPlace>& places() const { return places_; }
  // Elements of all tensors, and of the zeros between them.
  size_t size() const { return values_.count(); }
  std::span<float> values() { return {values_.data<float>(), size()}; }
  std::span<const float> values() const { return {values_.data<float>(), size()}; }

  // Puts the weights into the network they came from.
  void store(OnnxModel& network) const;

 private:
  std::vector<ParameterPlace> places_;
  Tensor values_;
};

}  // namespace assay
