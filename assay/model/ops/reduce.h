// Operators that fold some axes of a tensor into one value: the axes, their walk, and sums over them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "assay/model/ops/kernel.h"

namespace assay {

class NodeSetup;

// Which elements of the input go to which element of the output.
//
// Neighbouring axes that are both kept or both folded are taken as one. The input is then walked in memory order, in
// runs along the last of these: a run of folded elements goes to one output, a run of kept ones to as many outputs. So
// the elements of one output are met in an order that depends on the folded axes alone.
class Reduction {
 public:
  // axes: distinct and sorted, at most 64 dimensions in all; the input's size was checked before.
  Reduction(const Shape& dims, const std::vector<size_t>& axes, bool keep_dims);

  const Shape& output_dims() const { return output_dims_; }
  size_t outputs() const { return outputs_; }
  // How many elements are folded into one output.
  size_t folded() const { return folded_; }

  // Calls body(input offset, output offset, length of the run); all elements of a run go to the output at the offset
  // when last_folded(), else to as many outputs from there on.
  template <class Body>
  void for_each_run(const Body& body) const {
    if (outputs_ == 0 || folded_ == 0) return;
    std::array<size_t, kMostAxes> position = {};
    const size_t outer = lengths_.size() - 1;
    const size_t run = lengths_[outer];
    size_t output = 0;
    for (size_t input = 0;; input += run) {
      body(input, output, run);
      size_t axis = outer;
      while (axis > 0) {
        axis--;
        output += steps_[axis];
        if (++position[axis] < lengths_[axis]) break;
        output -= steps_[axis] * lengths_[axis];
        position[axis] = 0;
        if (axis == 0) return;
      }
      if (outer == 0) return;
    }
  }
  bool last_folded() const { return steps_.back() == 0; }

 private:
  static constexpr size_t kMostAxes = 64;

  Shape output_dims_;
  size_t outputs_ = 1;
  size_t folded_ = 1;
  // The joined axes, at least one: their lengths, and how far one step moves in the output (0: folded).
  std::vector<size_t> lengths_, steps_;
};

// The reduction a node asks for: axes as an attribute before opset `input_since`, as a constant input from then on;
// keepdims; noop_with_empty_axes. Checks inputs and outputs, and sets output 0 of the input's type.
Reduction make_reduction(NodeSetup& setup, int64_t input_since);

// y = sum of x, or their mean. Sums of float32 are taken in float64 and rounded once. Linear: DeepLift's multipliers
// are the derivatives. Whole numbers wrap, and their mean is rounded towards zero.
std::unique_ptr<Kernel> make_sum_kernel(OnnxElement type, Reduction reduction, bool mean);

}  // namespace assay
