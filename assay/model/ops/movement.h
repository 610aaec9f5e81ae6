// Operators that move elements without computing with them, of every type: what their files share.
//
// A movement is linear: forward copies, backward adds each output's derivative to that of the element it came from, and
// the DeepLift multipliers are the derivatives. Text is assigned, numbers are moved as bytes where they are contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/model/ops/kernel.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

// As many dimensions as a value may have.
inline constexpr size_t kMostRank = 64;

// to[i] = from[i].
void copy_elements(OnnxElement type, size_t count, const void* from, void* to);
// to[i] += from[i], of a floating type.
void add_elements(OnnxElement type, size_t count, const void* from, void* to);

// The elements of input 0, in their order, as output 0.
class CopyKernel : public Kernel {
 public:
  CopyKernel(OnnxElement type, size_t count) : type_(type), count_(count) {}

  void forward(const Buffers& values) const override;
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  void backward(const Buffers& values, const Gradients& gradients) const override;
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }

 protected:
  size_t count() const { return count_; }

 private:
  OnnxElement type_;
  size_t count_;
};

// The kernel of a node that gives input 0 these dimensions, of the same product.
std::unique_ptr<Kernel> make_copy(NodeSetup& setup, Shape dims);

// How many elements away the neighbour along each dimension is, in a row-major value of these dimensions.
std::vector<int64_t> row_major_strides(const Shape& dims);

// Copies a box of elements: for every index i within dims
//   to[to_offset + sum_d i[d] * to_strides[d]] = from[from_offset + sum_d i[d] * from_strides[d]].
// Strides of `from` may be 0 (repeats) or negative (reverses). Dimensions that are contiguous on both sides become one.
class BoxCopy {
 public:
  BoxCopy(const Shape& dims, const std::vector<int64_t>& from_strides, int64_t from_offset,
          const std::vector<int64_t>& to_strides, int64_t to_offset);

  void copy(OnnxElement type, const void* from, void* to) const;
  // from[...] += to[...] over the same pairs, of a floating type.
  void add_back(OnnxElement type, const void* to, void* from) const;

 private:
  struct Loop {
    size_t count;
    int64_t from;
    int64_t to;
  };
  // body(from, to) for the offsets at which the two innermost loops start.
  template <class Body>
  void for_each_start(const Body& body) const;

  std::vector<Loop> outer_;
  Loop middle_ = {1, 0, 0};
  Loop inner_ = {1, 0, 0};
  int64_t from_offset_;
  int64_t to_offset_;
  bool empty_ = false;
};

// One box, from input 0 to the whole of output 0.
class BoxCopyKernel final : public Kernel {
 public:
  BoxCopyKernel(OnnxElement type, BoxCopy box) : type_(type), box_(std::move(box)) {}

  void forward(const Buffers& values) const override;
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  void backward(const Buffers& values, const Gradients& gradients) const override;
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }

 private:
  OnnxElement type_;
  BoxCopy box_;
};

// Sets output 0 to dims and returns the kernel that fills it from input 0 with these strides and offset.
std::unique_ptr<Kernel> make_box_copy(NodeSetup& setup, const Shape& dims, const std::vector<int64_t>& from_strides,
                                      int64_t from_offset);

// A list of integers that is an attribute of this name before opset `since` and the constant input i from then on;
// nothing when the node leaves it out.
std::optional<std::vector<int64_t>> attribute_or_input(const NodeSetup& setup, std::string_view name, int64_t since,
                                                       size_t i);
// Refuses more dimensions than a value may have.
void expect_output_rank(const NodeSetup& setup, size_t rank);

}  // namespace assay
