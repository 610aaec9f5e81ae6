// What an operator is to the executor: a kernel, made once for a node whose input types and dimensions are known.
//
// A kernel computes its outputs from its inputs, and where it has derivatives, the products that gradients and DeepLift
// need. It has no state of its own that changes: one kernel serves many threads, each with its own buffers. The
// elements of one row come out with the same bits whatever other rows are in the batch: sums run in an order that
// depends on their own length alone.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/model/graph/tensor.h"

namespace assay {

// A value as it is known when a plan is made.
struct ValueInfo {
  OnnxElement type = OnnxElement::float32;  // as stored
  Shape dims = {};
  std::shared_ptr<const Tensor> constant = nullptr;  // null: known only when the graph runs

  size_t count() const { return element_count(dims); }
};

// Where the inputs and outputs of a node lie during a run. Null stands for what is left out or not wanted.
struct Buffers {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  // state_bytes() of memory aligned to 64 bytes that keeps its content from forward to backward of the same rows.
  std::byte* state = nullptr;
  // scratch_bytes() of memory aligned to 64 bytes whose content is lost after the call.
  std::byte* scratch = nullptr;

  template <class T>
  const T* in(size_t i) const {
    return i < inputs.size() ? static_cast<const T*>(inputs[i]) : nullptr;
  }
  template <class T>
  T* out(size_t i) const {
    return i < outputs.size() ? static_cast<T*>(outputs[i]) : nullptr;
  }
};

// Derivatives of one scalar by the outputs (given) and by the inputs (wanted), of the same types and dimensions as the
// values. Null stands for an output that takes no part, and for an input whose derivative nobody wants. Kernels ADD to
// the derivatives by inputs, for a value may be used more than once.
struct Gradients {
  std::span<const void* const> outputs;
  std::span<void* const> inputs;

  template <class T>
  const T* out(size_t i) const {
    return i < outputs.size() ? static_cast<const T*>(outputs[i]) : nullptr;
  }
  template <class T>
  T* in(size_t i) const {
    return i < inputs.size() ? static_cast<T*>(inputs[i]) : nullptr;
  }
};

class DenseLayer;
class TreeEnsemble;
class UnaryKernel;
class Kernel;

// For RevealCancel (graph/reveal.cpp): how to compute |A| x for a kernel y = A x + b that is affine in its changing
// inputs x. Run `absolute` (null: the kernel itself) with other constants: those in `coefficients` become their
// absolute values, all other floating ones zeros. Example: MatMul y = x W has W as input 1: coefficients = {1}, and it
// runs as x |W|.
struct AffineForm {
  // True: an output is a sum of contributions of one changing input, and the sign of each contribution decides which
  // part it goes to (Gemm, Conv). False: the parts of each input pass through apart (Add, movements, means).
  bool mixes = false;
  std::vector<size_t> coefficients = {};
  std::shared_ptr<const Kernel> absolute = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual void forward(const Buffers& values) const = 0;

  // Whether derivatives by input i are defined (float32 or float64, and the operator has them). What is not
  // differentiable stops gradients: they are zero there by nature (comparisons, ArgMax) or not offered (trees).
  virtual bool differentiable(size_t /*input*/) const { return false; }
  // Adds the vector-Jacobian product to gradients.inputs. `values` are those of forward, outputs and state included.
  virtual void backward(const Buffers& /*values*/, const Gradients& /*gradients*/) const {}

  // The same with DeepLift's multipliers in place of derivatives: for every row, sum over inputs of
  // multiplier * (input - reference input) = sum over outputs of multiplier * (output - reference output).
  // Linear operators (in the inputs that change) inherit this: their multipliers are their derivatives.
  virtual void rescale(const Buffers& values, const Buffers& /*reference*/, const Gradients& multipliers) const {
    backward(values, multipliers);
  }

  // changes: which inputs depend on the rows; all other floating ones are constants. Nothing where the kernel is not
  // affine in those that change, or cannot say.
  virtual std::optional<AffineForm> affine_form(const std::vector<bool>& /*changes*/) const { return {}; }

  virtual size_t state_bytes() const { return 0; }
  // For forward and for backward alike.
  virtual size_t scratch_bytes() const { return 0; }

  // The trees, if the kernel's last output is their raw scores unchanged; null for all other kernels.
  virtual std::shared_ptr<const TreeEnsemble> raw_trees() const { return nullptr; }

  // Roles in fusion; null for kernels that have none.
  virtual const DenseLayer* dense_layer() const { return nullptr; }
  virtual const UnaryKernel* unary() const { return nullptr; }
  // The same kernel with its output y replaced by slope * y where y is not above 0; it only runs forward.
  virtual std::shared_ptr<const Kernel> with_leaky(float /*slope*/) const { return nullptr; }
  // Whether forward alone keeps the largest of each two by two positions of every plane of float32, and nothing more.
  virtual bool pools_squares() const { return false; }
  // The same kernel with that done to its output; it only runs forward.
  virtual std::shared_ptr<const Kernel> with_pooled_squares() const { return nullptr; }
};

}  // namespace assay
