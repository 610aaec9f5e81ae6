#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

#include "assay/model/graph/plan.h"
#include "assay/model/graph/plan_parts.h"

namespace assay {

Workspace::Workspace(const Plan& plan)
    : plan_(&plan),
      arena_(
          nullptr, +[](void* memory) { std::free(memory); }),
      values_(plan.values_.size(), nullptr),
      gradients_(plan.values_.size(), nullptr) {
  const size_t bytes = std::max<size_t>(aligned_size(plan.arena_bytes_ + plan.scratch_bytes_), 64);
  arena_.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
  if (arena_ == nullptr) throw std::bad_alloc();
  // Kernels write before they read, yet padding between is compared by nobody: zero keeps runs alike all the same.
  std::memset(arena_.get(), 0, bytes);
  for (size_t i = 0; i < values_.size(); i++) {
    const PlanValue& value = plan.values_[i];
    if (value.info.constant != nullptr) {
      values_[i] = const_cast<void*>(value.info.constant->raw());
    } else if (value.text != kNoPlace) {
      texts_.emplace_back(OnnxElement::string, value.info.dims);
      values_[i] = texts_.back().raw();
    } else if (value.place != kNoPlace) {
      values_[i] = arena_.get() + value.place;
    }
    if (value.gradient_place != kNoPlace) gradients_[i] = arena_.get() + value.gradient_place;
  }
  const auto at = [](const std::vector<void*>& places, size_t value) {
    return value == kNoValue ? nullptr : places[value];
  };
  for (const PlanStep& step : plan.steps_) {
    for (size_t i = 0; i < step.inputs.size(); i++) {
      inputs_.push_back(at(values_, step.inputs[i]));
      input_gradients_.push_back(step.backward && step.kernel->differentiable(i) ? at(gradients_, step.inputs[i])
                                                                                 : nullptr);
    }
    for (const size_t output : step.outputs) {
      outputs_.push_back(at(values_, output));
      output_gradients_.push_back(at(gradients_, output));
    }
  }
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

void Workspace::feed(size_t feed, const void* elements) {
  const size_t value = plan_->feeds_[feed];
  if (values_[value] == elements || plan_->values_[value].info.constant != nullptr) return;
  values_[value] = const_cast<void*>(elements);
  for (const PlanStep& step : plan_->steps_) {
    for (size_t i = 0; i < step.inputs.size(); i++) {
      if (step.inputs[i] == value) inputs_[step.first_input + i] = elements;
    }
  }
}

size_t Workspace::rows_fed() const {
  const Shape& dims = plan_->values_[plan_->feeds_[0]].info.dims;
  return dims.empty() ? 1 : static_cast<size_t>(dims[0]);
}

Buffers Workspace::buffers(size_t s) const {
  const PlanStep& step = plan_->steps_[s];
  return {{inputs_.data() + step.first_input, step.inputs.size()},
          {outputs_.data() + step.first_output, step.outputs.size()},
          arena_.get() + step.state,
          arena_.get() + plan_->arena_bytes_};
}

void Workspace::forward(const Context& context) {
  for (size_t s = 0; s < plan_->steps_.size(); s++) {
    context.check_cancelled();
    plan_->steps_[s].kernel->forward(buffers(s));
  }
}

const void* Workspace::fetched(size_t fetch) const { return values_[plan_->fetches_[fetch]]; }
void* Workspace::fetch_gradient(size_t fetch) { return gradients_[plan_->fetches_[fetch]]; }
const void* Workspace::feed_gradient(size_t feed) const {
  return plan_->feed_wants_gradient_[feed] ? gradients_[plan_->feeds_[feed]] : nullptr;
}

void Workspace::backward() { run_backward(nullptr); }
void Workspace::rescale(const Workspace& reference) { run_backward(&reference); }

void Workspace::zero_gradients() {
  for (size_t i = 0; i < gradients_.size(); i++) {
    const PlanValue& value = plan_->values_[i];
    if (gradients_[i] == nullptr || value.seed) continue;
    std::memset(gradients_[i], 0, value.info.count() * element_size(value.info.type));
  }
}

void Workspace::run_backward(const Workspace* reference) {
  assert(plan_->gradients_ && (reference == nullptr || reference->plan_ == plan_));
  zero_gradients();
  for (size_t s = plan_->steps_.size(); s-- > 0;) {
    const PlanStep& step = plan_->steps_[s];
    if (!step.backward) continue;
    const Gradients gradients{{output_gradients_.data() + step.first_output, step.outputs.size()},
                              {input_gradients_.data() + step.first_input, step.inputs.size()}};
    if (reference == nullptr) {
      step.kernel->backward(buffers(s), gradients);
    } else {
      step.kernel->rescale(buffers(s), reference->buffers(s), gradients);
    }
  }
}

}  // namespace assay
