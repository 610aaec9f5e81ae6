#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/model/graph/plan_parts.h"
#include "assay/model/ops/dense_chain.h"
#include "assay/model/ops/dense_layer.h"
#include "assay/model/ops/unary.h"

namespace assay {
namespace {

// A chain keeps three tiles of at least 16 rows of its widest layer: 50 MB at this width. Layers beyond are as fast one
// by one, for no tile of theirs stays in a cache. Rows alone must not decide it: fused layers may round otherwise.
constexpr size_t kWidest = size_t{1} << 18;

class Fuser {
 public:
  Fuser(std::vector<PlanStep>& steps, const std::vector<PlanValue>& values, const std::vector<bool>& kept)
      : steps_(steps), values_(values), kept_(kept), uses_(values.size(), 0), user_(values.size(), kNoValue) {
    for (size_t s = 0; s < steps.size(); s++) {
      for (const size_t input : steps[s].inputs) {
        if (input == kNoValue) continue;
        uses_[input]++;
        user_[input] = s;
      }
    }
  }

  void run(bool gradients) {
    std::vector<bool> gone(steps_.size(), false);
    for (size_t s = 0; s < steps_.size(); s++) {
      if (gone[s] || !starts_layer(s)) continue;
      const std::vector<size_t> members = collect(s);
      PlanStep fused;
      fused.op = steps_[s].op;
      fused.inputs = inputs_;
      fused.outputs = {steps_[members.back()].outputs[0]};
      const auto rows = static_cast<size_t>(values_[inputs_[0]].info.dims[0]);
      fused.kernel = std::make_shared<DenseChain>(layers_, rows, gradients);
      for (const size_t member : members) gone[member] = true;
      gone[members.back()] = false;
      steps_[members.back()] = std::move(fused);
    }
    std::vector<PlanStep> left;
    for (size_t s = 0; s < steps_.size(); s++) {
      if (!gone[s]) left.push_back(std::move(steps_[s]));
    }
    steps_ = std::move(left);
  }

 private:
  // Weights and biases must be there before any step runs, so that the chain may run where its last member stood.
  bool is_given(size_t value) const {
    return value != kNoValue && (values_[value].info.constant != nullptr || values_[value].feed != kNoPlace);
  }

  bool starts_layer(size_t s) const {
    const DenseLayer* layer = steps_[s].kernel->dense_layer();
    if (layer == nullptr || !is_given(steps_[s].inputs[layer->weight_input])) return false;
    if (std::max(layer->inputs, layer->outputs) > kWidest) return false;
    return layer->bias_input >= steps_[s].inputs.size() || is_given(steps_[s].inputs[layer->bias_input]);
  }

  void add_layer(const PlanStep& step) {
    const DenseLayer& dense = *step.kernel->dense_layer();
    ChainLayer layer;
    layer.inputs = dense.inputs;
    layer.outputs = dense.outputs;
    layer.k_stride = dense.input_stride;
    layer.n_stride = dense.output_stride;
    layer.weight = add_input(step.inputs[dense.weight_input]);
    if (dense.bias_input < step.inputs.size()) layer.bias = add_input(step.inputs[dense.bias_input]);
    layers_.push_back(std::move(layer));
  }

  size_t add_input(size_t value) {
    inputs_.push_back(value);
    return inputs_.size() - 1;
  }

  // For x + bias: the bias, when it is one number for each output of the layer.
  size_t bias_of(const PlanStep& step, size_t sum) const {
    if (step.op != "Add" || !step.domain.empty() || step.inputs.size() != 2) return kNoValue;
    const size_t other = step.inputs[0] == sum ? step.inputs[1] : step.inputs[0];
    if (other == sum || !is_given(other) || values_[other].info.type != OnnxElement::float32) return kNoValue;
    const Shape& dims = values_[other].info.dims;
    const auto width = static_cast<int64_t>(layers_.back().outputs);
    const bool row = (dims.size() == 1 && dims[0] == width) || (dims.size() == 2 && dims[0] == 1 && dims[1] == width);
    return row ? other : kNoValue;
  }

  // The steps of the longest chain that starts with step s.
  std::vector<size_t> collect(size_t s) {
    layers_.clear();
    inputs_ = {steps_[s].inputs[0]};
    add_layer(steps_[s]);
    std::vector<size_t> members = {s};
    for (size_t value = steps_[s].outputs[0]; value != kNoValue && uses_[value] == 1 && !kept_[value];
         value = steps_[members.back()].outputs[0]) {
      const size_t next = user_[value];
      const PlanStep& step = steps_[next];
      ChainLayer& layer = layers_.back();
      if (const size_t bias = bias_of(step, value);
          bias != kNoValue && layer.bias == ChainLayer::kNone && layer.unary == nullptr) {
        layer.bias = add_input(bias);
      } else if (step.kernel->unary() != nullptr && layer.unary == nullptr) {
        layer.unary = step.kernel;
      } else if (starts_layer(next) && step.inputs[0] == value) {
        add_layer(step);
      } else {
        break;
      }
      members.push_back(next);
    }
    return members;
  }

  std::vector<PlanStep>& steps_;
  const std::vector<PlanValue>& values_;
  const std::vector<bool>& kept_;
  std::vector<size_t> uses_;
  std::vector<size_t> user_;
  std::vector<ChainLayer> layers_;
  std::vector<size_t> inputs_;
};

// Joins a kernel and what stands behind it, a leaky ReLU or pooling, where the kernel can. `joined` gives the kernel
// that does both, from the two.
template <class Joined>
void fuse_behind(std::vector<PlanStep>& steps, const std::vector<PlanValue>& values, const std::vector<bool>& kept,
                 const Joined& joined) {
  std::vector<size_t> uses(values.size(), 0);
  std::vector<size_t> maker(values.size(), kNoValue);
  for (size_t s = 0; s < steps.size(); s++) {
    for (const size_t input : steps[s].inputs) {
      if (input != kNoValue) uses[input]++;
    }
    if (!steps[s].outputs.empty() && steps[s].outputs[0] != kNoValue) maker[steps[s].outputs[0]] = s;
  }
  std::vector<bool> gone(steps.size(), false);
  for (size_t s = 0; s < steps.size(); s++) {
    const size_t between = steps[s].inputs.empty() ? kNoValue : steps[s].inputs[0];
    const size_t before = between == kNoValue ? kNoValue : maker[between];
    if (before == kNoValue || uses[between] != 1 || kept[between]) continue;
    std::shared_ptr<const Kernel> fused = joined(*steps[before].kernel, *steps[s].kernel);
    if (fused == nullptr) continue;
    steps[before].kernel = std::move(fused);
    steps[before].outputs[0] = steps[s].outputs[0];
    gone[s] = true;
  }
  size_t at = 0;
  std::erase_if(steps, [&](const PlanStep&) { return gone[at++]; });
}

}  // namespace

void fuse_steps(std::vector<PlanStep>& steps, const std::vector<PlanValue>& values, const std::vector<bool>& kept,
                bool gradients) {
  Fuser(steps, values, kept).run(gradients);
  // Backward needs what comes before the ReLU.
  if (gradients) return;
  using Joined = std::shared_ptr<const Kernel>;
  fuse_behind(steps, values, kept, [](const Kernel& first, const Kernel& second) -> Joined {
    const UnaryKernel* unary = second.unary();
    if (unary == nullptr || std::isnan(unary->leaky_slope())) return nullptr;
    return first.with_leaky(unary->leaky_slope());
  });
  fuse_behind(steps, values, kept, [](const Kernel& first, const Kernel& second) -> Joined {
    return second.pools_squares() ? first.with_pooled_squares() : nullptr;
  });
}

}  // namespace assay
