// What plans are made of. For plan.cpp, workspace.cpp and fuse.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/core/budget.h"
#include "assay/model/graph/plan.h"
#include "assay/model/ops/kernel.h"

namespace assay {

class ByElement;

inline constexpr size_t kNoPlace = SIZE_MAX;

// How RevealCancel passes the positive and negative parts of differences through a step. See reveal.cpp.
enum class Passing {
  joined,    // by the Rescale rule
  function,  // of one variable, element by element
  apart,     // affine, parts pass through apart
  mixed,     // affine, the sign of each contribution decides its part
};

struct StepParts {
  Passing passing = Passing::joined;
  const ByElement* by_element = nullptr;                 // for a function whose kernel is no UnaryKernel
  std::shared_ptr<const Kernel> absolute;                // computes |A| x for y = A x + b
  std::vector<std::shared_ptr<const Tensor>> constants;  // these replace its constant floating inputs
  size_t changing = 0;                                   // the input that changes, if function or mixed
};

struct PlanStep {
  std::shared_ptr<const Kernel> kernel;
  std::string op;  // the operator's name, for messages
  std::string domain;
  std::vector<size_t> inputs;  // values; kNoValue where left out
  std::vector<size_t> outputs;
  // Offsets of the state in the arena, and of the step's pointers in the workspace's rows of pointers.
  size_t state = 0;
  size_t first_input = 0;
  size_t first_output = 0;
  bool backward = false;  // some input's derivative is wanted
  StepParts parts = {};
};

struct PlanValue {
  ValueInfo info;
  bool known = false;       // info is set
  size_t place = kNoPlace;  // offset in the arena; text, feeds and constants have none
  size_t text = kNoPlace;   // which of the workspace's tensors of text
  size_t feed = kNoPlace;   // which feed
  bool has_gradient = false;
  size_t gradient_place = kNoPlace;
  bool seed = false;  // fetched: the caller sets its derivative
  // For reveal, of values with a derivative.
  size_t spread_place = kNoPlace;
  size_t contrast_place = kNoPlace;
};

// Charges what kernels and steps hold beside the weights in the file: transposed weights, absolute values, tables of
// positions. Twice the memory of the file's weights is free; only what is beyond that is charged.
class CopiesOfWeights {
 public:
  CopiesOfWeights(Spending& spending, const Graph& graph)
      : spending_(spending), free_(2 * uint64_t{graph.initializer_bytes()}) {}

  void take(uint64_t bytes) {
    spending_.take_bytes(beyond(bytes_ + bytes) - beyond(bytes_));
    bytes_ += bytes;
  }
  // After steps were dropped or fused: only so many bytes are still held.
  void keep(uint64_t bytes) {
    spending_.give_back_bytes(beyond(bytes_) - beyond(bytes));
    bytes_ = bytes;
  }

 private:
  uint64_t beyond(uint64_t bytes) const { return bytes > free_ ? bytes - free_ : 0; }

  Spending& spending_;
  uint64_t free_;
  uint64_t bytes_ = 0;
};

// Joins chains of dense layers and the element-wise functions between them into one kernel each, and, if nothing runs
// backward, ReLUs with the kernel before them. `steps` are in running order; `kept` are values that must stay (fetched
// ones).
void fuse_steps(std::vector<PlanStep>& steps, const std::vector<PlanValue>& values, const std::vector<bool>& kept,
                bool gradients);

// Gives every value a place in one arena; values whose lives do not overlap share memory when `reuse`. Returns its
// size.
size_t place_values(const std::vector<PlanStep>& steps, std::vector<PlanValue>& values, const std::vector<bool>& kept,
                    bool reuse);

inline size_t aligned_size(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace assay
