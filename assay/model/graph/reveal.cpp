// DeepLift's RevealCancel rule on a plan (Shrikumar, Greenside, Kundaje 2017, sections 3.5.1 to 3.5.3).
//
// The difference of every value from its reference is a sum of a positive and a negative part, d = d+ + d-, and each
// has a multiplier, m+ and m-. What is stored beside the values and the ordinary multipliers of a plan is
//   spread    t = d+ - d-                 contrast  c = (m+ - m-) / 2
// The difference d follows from the values, and the mean M = (m+ + m-) / 2 is kept where the multipliers of the Rescale
// rule are. A value's share is m+ d+ + m- d- = M d + c t, and for every step the shares of its inputs add up to those
// of its outputs. Steps pass parts on in one of four ways:
//   apart     y = A x + b, positive coefficients keep the part and negative ones swap it (Add, movements, means, ...):
//             t_y = |A| t_x;  M_x += A^T M_y,  c_x += |A|^T c_y
//   mixed     y = A x + b where a contribution A_ij d_j, by its own sign, goes to y_i+ or y_i- (Gemm, MatMul, Conv):
//             t_y = |A| |d_x|;  M_x += A^T M_y + sign(d_x) |A|^T c_y
//   function  y = f(x), element by element: see ops/unary.h, and ops/by_element.h where f has constants (PRelu)
//   joined    all else, by the Rescale rule: the whole difference d_y is the part of y that has its sign:
//             t_y = |d_y|;  M_x += rescale(M_y + sign(d_y) c_y)
// The inputs of the plan have their parts by sign, so their multiplier is M + sign(d) c.
//
// Deviations from the paper. A bias and a batch normalisation that are steps of their own pass parts apart, as if they
// were part of the layer before. The paper has no rule for what is joined here; this includes a function that a graph
// writes with a condition, as in Where(x > 0, x, 0). Functions that are not defined everywhere, and points where they
// overflow, take the Rescale rule.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "assay/model/graph/plan.h"
#include "assay/model/graph/plan_parts.h"
#include "assay/model/ops/by_element.h"
#include "assay/model/ops/unary.h"

namespace assay {
namespace {

// The absolute values of a constant, or zeros in its place.
std::shared_ptr<const Tensor> replaced(const Tensor& constant, bool coefficients) {
  auto made = std::make_shared<Tensor>(constant.type(), constant.dims());
  if (coefficients) {
    with_floating_element(constant.type(), [&]<class T>() {
      std::transform(constant.data<T>(), constant.data<T>() + constant.count(), made->data<T>(),
                     [](T x) { return std::abs(x); });
    });
  }
  return made;
}

// to[i] = |x[i] - reference[i]|
void distances(const ValueInfo& info, const void* x, const void* reference, void* to) {
  with_floating_element(info.type, [&]<class T>() {
    const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(reference);
    for (size_t i = 0; i < info.count(); i++) static_cast<T*>(to)[i] = std::abs(a[i] - b[i]);
  });
}

// to[i] += sign(x[i] - reference[i]) * by[i]
void add_by_sign(const ValueInfo& info, const void* x, const void* reference, const void* by, void* to) {
  with_floating_element(info.type, [&]<class T>() {
    const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(reference), *c = static_cast<const T*>(by);
    T* sums = static_cast<T*>(to);
    for (size_t i = 0; i < info.count(); i++) sums[i] += a[i] > b[i] ? c[i] : a[i] < b[i] ? -c[i] : T(0);
  });
}

}  // namespace

void Plan::find_parts(CopiesOfWeights& copies) {
  for (PlanStep& step : steps_) {
    if (!step.backward) continue;
    StepParts& parts = step.parts;
    std::vector<bool> changes(step.inputs.size(), false);
    bool all_known = true;
    bool others_constant = true;
    for (size_t i = 0; i < step.inputs.size(); i++) {
      if (step.inputs[i] == kNoValue) continue;
      const PlanValue& value = values_[step.inputs[i]];
      changes[i] = value.has_gradient && step.kernel->differentiable(i);
      all_known &= changes[i] || value.info.constant != nullptr || !is_floating(value.info.type);
      others_constant &= changes[i] || value.info.constant != nullptr;
      if (changes[i]) parts.changing = i;
    }
    // State is written by forward, which runs twice for affine kernels.
    std::optional<AffineForm> form;
    if (all_known && step.kernel->state_bytes() == 0) form = step.kernel->affine_form(changes);
    if (!form) {
      if (std::count(changes.begin(), changes.end(), true) != 1) continue;
      if (step.kernel->unary() != nullptr && changes[0]) {
        parts.passing = Passing::function;
        continue;
      }
      const auto* by_element = dynamic_cast<const ByElement*>(step.kernel.get());
      if (by_element == nullptr || !by_element->by_element(parts.changing) || !others_constant) continue;
      // One that is repeated sums what its copies get, which a function does not.
      if (values_[step.inputs[parts.changing]].info.count() != values_[step.outputs[0]].info.count()) continue;
      parts.passing = Passing::function;
      parts.by_element = by_element;
      continue;
    }
    parts.passing = form->mixes ? Passing::mixed : Passing::apart;
    parts.absolute = form->absolute == nullptr ? step.kernel : form->absolute;
    parts.constants.resize(step.inputs.size());
    for (size_t i = 0; i < step.inputs.size(); i++) {
      if (step.inputs[i] == kNoValue || changes[i]) continue;
      const ValueInfo& info = values_[step.inputs[i]].info;
      if (info.constant == nullptr || !is_floating(info.type)) continue;
      const auto& list = form->coefficients;
      copies.take(info.count() * element_size(info.type));
      parts.constants[i] = replaced(*info.constant, std::find(list.begin(), list.end(), i) != list.end());
    }
  }
}

void Workspace::reveal(const Workspace& reference) {
  assert(plan_->reveals_ && reference.plan_ == plan_);
  for (const size_t feed : plan_->feeds_) {
    const PlanValue& value = plan_->values_[feed];
    if (!value.has_gradient) continue;
    distances(value.info, values_[feed], reference.values_[feed], arena_.get() + value.spread_place);
  }
  for (size_t s = 0; s < plan_->steps_.size(); s++) {
    if (plan_->steps_[s].backward) spread_parts(reference, s);
  }
  zero_gradients();
  for (const PlanValue& value : plan_->values_) {
    if (!value.has_gradient) continue;
    std::memset(arena_.get() + value.contrast_place, 0, value.info.count() * element_size(value.info.type));
  }
  for (size_t s = plan_->steps_.size(); s-- > 0;) {
    if (plan_->steps_[s].backward) pull_back_parts(reference, s);
  }
  for (const size_t feed : plan_->feeds_) {
    const PlanValue& value = plan_->values_[feed];
    if (!value.has_gradient) continue;
    add_by_sign(value.info, values_[feed], reference.values_[feed], arena_.get() + value.contrast_place,
                gradients_[feed]);
  }
}

// Where the inputs of |A| lie: spreads, replaced constants, and what is not floating as it is.
std::vector<const void*> Workspace::absolute_inputs(size_t s) const {
  const PlanStep& step = plan_->steps_[s];
  std::vector<const void*> inputs(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); i++) {
    if (step.inputs[i] == kNoValue) continue;
    const PlanValue& value = plan_->values_[step.inputs[i]];
    if (step.parts.constants[i] != nullptr) {
      inputs[i] = step.parts.constants[i]->raw();
    } else if (value.spread_place != kNoPlace) {
      inputs[i] = arena_.get() + value.spread_place;
    } else {
      inputs[i] = inputs_[step.first_input + i];
    }
  }
  return inputs;
}

std::vector<void*> Workspace::places(const std::vector<size_t>& values, size_t PlanValue::* place) const {
  std::vector<void*> found(values.size(), nullptr);
  for (size_t i = 0; i < values.size(); i++) {
    if (values[i] == kNoValue || plan_->values_[values[i]].*place == kNoPlace) continue;
    found[i] = arena_.get() + plan_->values_[values[i]].*place;
  }
  return found;
}

void Workspace::spread_parts(const Workspace& reference, size_t s) {
  const PlanStep& step = plan_->steps_[s];
  const std::vector<void*> spreads = places(step.outputs, &PlanValue::spread_place);
  const auto value_of = [&](size_t value) -> const PlanValue& { return plan_->values_[value]; };
  switch (step.parts.passing) {
    case Passing::joined:
      for (size_t i = 0; i < spreads.size(); i++) {
        if (spreads[i] == nullptr) continue;
        const size_t output = step.outputs[i];
        distances(value_of(output).info, values_[output], reference.values_[output], spreads[i]);
      }
      return;
    case Passing::function: {
      const size_t input = step.parts.changing;
      const std::byte* const spread = arena_.get() + value_of(step.inputs[input]).spread_place;
      if (step.parts.by_element != nullptr) {
        step.parts.by_element->spread(input, buffers(s), reference.buffers(s), spread, spreads[0]);
      } else {
        step.kernel->unary()->spread(buffers(s), reference.buffers(s), spread, spreads[0]);
      }
      return;
    }
    case Passing::apart:
    case Passing::mixed: break;
  }
  std::vector<const void*> inputs = absolute_inputs(s);
  if (step.parts.passing == Passing::mixed) {
    const size_t input = step.inputs[step.parts.changing];
    std::byte* const total = arena_.get() + plan_->parts_scratch_;
    distances(value_of(input).info, values_[input], reference.values_[input], total);
    inputs[step.parts.changing] = total;
  }
  const Buffers own = buffers(s);
  step.parts.absolute->forward({inputs, spreads, own.state, own.scratch});
}

void Workspace::pull_back_parts(const Workspace& reference, size_t s) {
  const PlanStep& step = plan_->steps_[s];
  const Gradients mean{{output_gradients_.data() + step.first_output, step.outputs.size()},
                       {input_gradients_.data() + step.first_input, step.inputs.size()}};
  const std::vector<void*> given = places(step.outputs, &PlanValue::contrast_place);
  const std::vector<const void*> contrasts(given.begin(), given.end());
  std::vector<void*> wanted = places(step.inputs, &PlanValue::contrast_place);
  const Buffers own = buffers(s);
  if (step.parts.passing == Passing::function) {
    const size_t input = step.parts.changing;
    const std::byte* const spread = arena_.get() + plan_->values_[step.inputs[input]].spread_place;
    if (step.parts.by_element != nullptr) {
      step.parts.by_element->reveal(input, own, reference.buffers(s), spread, mean, {contrasts, wanted});
    } else {
      step.kernel->unary()->reveal(own, reference.buffers(s), spread, mean, {contrasts, wanted});
    }
    return;
  }
  if (step.parts.passing == Passing::joined) {
    for (size_t i = 0; i < contrasts.size(); i++) {
      const size_t output = step.outputs[i];
      if (contrasts[i] == nullptr) continue;
      add_by_sign(plan_->values_[output].info, values_[output], reference.values_[output], contrasts[i],
                  gradients_[output]);
    }
  }
  step.kernel->rescale(own, reference.buffers(s), mean);
  if (step.parts.passing == Passing::joined) return;
  const std::vector<const void*> inputs = absolute_inputs(s);
  const std::vector<void*> spreads = places(step.outputs, &PlanValue::spread_place);
  const Buffers absolute{inputs, spreads, own.state, own.scratch};
  if (step.parts.passing == Passing::apart) {
    step.parts.absolute->backward(absolute, {contrasts, wanted});
    return;
  }
  const size_t input = step.inputs[step.parts.changing];
  const ValueInfo& info = plan_->values_[input].info;
  std::byte* const by_total = arena_.get() + plan_->parts_scratch_;
  std::memset(by_total, 0, info.count() * element_size(info.type));
  std::fill(wanted.begin(), wanted.end(), nullptr);
  wanted[step.parts.changing] = by_total;
  step.parts.absolute->backward(absolute, {contrasts, wanted});
  add_by_sign(info, values_[input], reference.values_[input], by_total, gradients_[input]);
}

}  // namespace assay
