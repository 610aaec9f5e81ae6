#include "assay/model/graph/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/budget.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/graph/fold.h"
#include "assay/model/graph/plan_parts.h"
#include "assay/model/ops/kernel_cost.h"

namespace assay {
namespace {

// Values of about so many rows more have their dimensions told where nothing is run.
constexpr size_t kRowsOnlyDescribed = 1024;

// Which nodes the fetched values need, when the known values are given.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<size_t>& fetches,
                               const std::vector<PlanValue>& values) {
  std::vector<bool> needed(graph.nodes().size(), false);
  std::vector<size_t> open(fetches.begin(), fetches.end());
  while (!open.empty()) {
    const size_t value = open.back();
    open.pop_back();
    if (values[value].known) continue;
    const size_t node = graph.producer_of(value);
    if (node == kNoValue || needed[node]) continue;
    needed[node] = true;
    for (const size_t input : graph.nodes()[node].inputs) {
      if (input != kNoValue) open.push_back(input);
    }
  }
  return needed;
}

}  // namespace

Plan::Plan(const Graph& graph, const PlanRequest& request, const Context& context) : values_(graph.value_count()) {
  for (size_t i = 0; i < values_.size(); i++) {
    if (const auto& constant = graph.constant(i); constant != nullptr) {
      values_[i].info = {constant->type(), constant->dims(), constant};
      values_[i].known = true;
    }
  }
  for (size_t i = 0; i < request.feeds.size(); i++) {
    const Feed& feed = request.feeds[i];
    const size_t value = graph.find_value(feed.name);
    if (value == kNoValue) fail_input(fmt::format("{}: it has no value {}", graph.name(), in_quotes(feed.name)));
    values_[value].info = feed.info;
    values_[value].known = true;
    values_[value].feed = i;
    feeds_.push_back(value);
    feed_wants_gradient_.push_back(feed.gradient);
    gradients_ |= feed.gradient;
  }
  for (const std::string& fetch : request.fetches) {
    const size_t value = graph.find_value(fetch);
    if (value == kNoValue) fail_input(fmt::format("{}: it has no value {}", graph.name(), in_quotes(fetch)));
    fetches_.push_back(value);
  }
  Spending spending(context, graph.name());
  CopiesOfWeights copies(spending, graph);
  add_steps(graph, request.run, spending, copies);
  std::vector<bool> kept(values_.size(), false);
  for (const size_t fetch : fetches_) kept[fetch] = true;
  drop_unused(kept);
  count_steps();
  reveals_ = request.reveal && gradients_;
  if (request.fuse && !reveals_) fuse_steps(steps_, values_, kept, gradients_);
  uint64_t held = 0;
  for (const PlanStep& step : steps_) held += assay::held_bytes(*step.kernel);
  copies.keep(held);
  if (gradients_) find_gradients(request);
  spending.at(graph.name());
  if (reveals_) find_parts(copies);
  held_bytes_ = spending.bytes();
  steps_taken_ = spending.steps();
  place(kept);
  if (request.run) charge_workspace(spending);
}

Plan::~Plan() = default;

void Plan::add_steps(const Graph& graph, bool run, Spending& spending, CopiesOfWeights& copies) {
  const std::vector<bool> needed = needed_nodes(graph, fetches_, values_);
  Interruptible nodes(spending.context(), 64);
  for (size_t n = 0; n < graph.nodes().size(); n++) {
    if (!needed[n]) continue;
    nodes.turn();
    const GraphNode& node = graph.nodes()[n];
    std::vector<const ValueInfo*> inputs;
    // The dimensions of a value are known even where its elements are not.
    bool foldable = true;
    for (const size_t input : node.inputs) {
      inputs.push_back(input == kNoValue ? nullptr : &values_[input].info);
      if (input == kNoValue) continue;
      if (!values_[input].known) {
        fail_input(fmt::format("{}: its input {} is not given", node.where, in_quotes(graph.value_name(input))));
      }
      foldable &= values_[input].info.constant != nullptr || node.onnx.op_type == "Shape";
    }
    const size_t most_bytes = run || foldable ? spending.bytes_left() : spending.bytes_left() * kRowsOnlyDescribed;
    MadeKernel made = make_kernel(node, inputs, most_bytes, gradients_);
    std::vector<std::shared_ptr<const Tensor>> folded;
    if (foldable) folded = fold(node, made, inputs, spending);
    PlanStep step;
    for (size_t i = 0; i < node.outputs.size(); i++) {
      const size_t output = node.outputs[i];
      if (!made.outputs[i]) {
        step.outputs.push_back(kNoValue);
        continue;
      }
      // A fed value keeps what feeds it, and nobody asks for one without a name; the kernel writes them all the same.
      const bool unread = output == kNoValue || values_[output].known;
      if (unread && !foldable) {
        step.outputs.push_back(values_.size());
        PlanValue aside;
        aside.info = *made.outputs[i];
        aside.known = true;
        values_.push_back(std::move(aside));
      }
      if (unread) continue;
      step.outputs.push_back(output);
      values_[output].info = *made.outputs[i];
      values_[output].known = true;
      if (!foldable) continue;
      values_[output].info.constant = std::move(folded[i]);
    }
    if (foldable) continue;
    spending.at(node.where);
    copies.take(assay::held_bytes(*made.kernel));
    step.kernel = std::move(made.kernel);
    step.op = node.onnx.op_type;
    step.domain = node.onnx.domain;
    step.inputs = node.inputs;
    steps_.push_back(std::move(step));
  }
  for (const size_t fetch : fetches_) {
    if (values_[fetch].known) continue;
    fail_input(fmt::format("{}: value {} is not given", graph.name(), in_quotes(graph.value_name(fetch))));
  }
}

// Folding leaves steps whose results nobody reads.
void Plan::drop_unused(const std::vector<bool>& kept) {
  std::vector<bool> read = kept;
  std::vector<PlanStep> used;
  for (size_t s = steps_.size(); s-- > 0;) {
    PlanStep& step = steps_[s];
    const bool wanted = std::any_of(step.outputs.begin(), step.outputs.end(),
                                    [&](size_t value) { return value != kNoValue && read[value]; });
    if (!wanted) continue;
    for (const size_t input : step.inputs) {
      if (input != kNoValue) read[input] = true;
    }
    used.push_back(std::move(step));
  }
  std::reverse(used.begin(), used.end());
  steps_ = std::move(used);
}

// Before steps are fused, which does not make more of them.
void Plan::count_steps() {
  for (const PlanStep& step : steps_) {
    run_steps_ = saturated_sum(run_steps_, further_steps(*step.kernel));
    for (const auto* list : {&step.inputs, &step.outputs}) {
      for (const size_t value : *list) {
        if (value != kNoValue) run_steps_ = saturated_sum(run_steps_, values_[value].info.count());
      }
    }
  }
}

// A value has a derivative when it depends smoothly on a feed that wants one, and a fetched value so depends on it.
void Plan::find_gradients(const PlanRequest& request) {
  std::vector<bool> depends(values_.size(), false);
  for (size_t i = 0; i < feeds_.size(); i++) {
    const PlanValue& value = values_[feeds_[i]];
    depends[feeds_[i]] = request.feeds[i].gradient && is_floating(value.info.type) && value.info.constant == nullptr;
  }
  const auto flows = [&](const PlanStep& step, size_t i) {
    return step.inputs[i] != kNoValue && depends[step.inputs[i]] && step.kernel->differentiable(i);
  };
  for (const PlanStep& step : steps_) {
    bool any = false;
    for (size_t i = 0; i < step.inputs.size(); i++) {
      any |= flows(step, i);
      const bool stopped = step.inputs[i] != kNoValue && depends[step.inputs[i]] && !step.kernel->differentiable(i);
      // Comparisons and the like have derivatives, zero; of ai.onnx.ml's operators some are just not offered.
      if (stopped && !step.domain.empty() && gradient_stop_.empty()) gradient_stop_ = step.op;
    }
    for (const size_t output : step.outputs) {
      if (output != kNoValue && is_floating(values_[output].info.type)) depends[output] = any;
    }
  }
  for (const size_t fetch : fetches_) {
    values_[fetch].seed = true;
    values_[fetch].has_gradient = depends[fetch];
  }
  for (size_t s = steps_.size(); s-- > 0;) {
    PlanStep& step = steps_[s];
    const bool seeded = std::any_of(step.outputs.begin(), step.outputs.end(),
                                    [&](size_t value) { return value != kNoValue && values_[value].has_gradient; });
    if (!seeded) continue;
    for (size_t i = 0; i < step.inputs.size(); i++) {
      if (!flows(step, i)) continue;
      values_[step.inputs[i]].has_gradient = true;
      step.backward = true;
    }
  }
}

void Plan::place(const std::vector<bool>& kept) {
  size_t first_input = 0;
  size_t first_output = 0;
  for (PlanStep& step : steps_) {
    step.first_input = first_input;
    step.first_output = first_output;
    first_input += step.inputs.size();
    first_output += step.outputs.size();
    scratch_bytes_ = std::max(scratch_bytes_, aligned_size(step.kernel->scratch_bytes()));
    if (step.parts.absolute != nullptr) {
      scratch_bytes_ = std::max(scratch_bytes_, aligned_size(step.parts.absolute->scratch_bytes()));
    }
  }
  arena_bytes_ = place_values(steps_, values_, kept, !gradients_);
  for (PlanStep& step : steps_) {
    step.state = arena_bytes_;
    arena_bytes_ += aligned_size(step.kernel->state_bytes());
  }
  const auto place = [&](size_t bytes) {
    const size_t at = arena_bytes_;
    arena_bytes_ += aligned_size(bytes);
    return at;
  };
  size_t largest = 0;
  for (PlanValue& value : values_) {
    if (!value.has_gradient) continue;
    const size_t bytes = value.info.count() * element_size(value.info.type);
    largest = std::max(largest, bytes);
    value.gradient_place = place(bytes);
    if (!reveals_) continue;
    value.spread_place = place(bytes);
    value.contrast_place = place(bytes);
  }
  if (reveals_) parts_scratch_ = place(largest);
  for (const PlanValue& value : values_) {
    if (value.text != kNoPlace) text_bytes_ += value.info.count() * sizeof(std::string);
  }
}

void Plan::charge_workspace(Spending& spending) const {
  spending.at(fmt::format("{}: one block of rows", spending.where()));
  spending.take_bytes(workspace_bytes());
}

const ValueInfo& Plan::fetched(size_t fetch) const { return values_[fetches_[fetch]].info; }
bool Plan::has_gradient(size_t feed) const { return values_[feeds_[feed]].has_gradient; }
size_t Plan::step_count() const { return steps_.size(); }
size_t Plan::workspace_bytes() const { return arena_bytes_ + scratch_bytes_ + text_bytes_; }

size_t place_values(const std::vector<PlanStep>& steps, std::vector<PlanValue>& values, const std::vector<bool>& kept,
                    bool reuse) {
  std::vector<size_t> last_use(values.size(), 0);
  for (size_t s = 0; s < steps.size(); s++) {
    for (const size_t input : steps[s].inputs) {
      if (input != kNoValue) last_use[input] = s;
    }
  }
  struct Taken {
    size_t begin, end, last_use;
  };
  std::vector<Taken> taken;  // in order of place
  size_t texts = 0;
  size_t arena = 0;
  // With very many values alive the search for a gap would cost more than the memory it saves.
  constexpr size_t kMostTaken = 1024;
  for (size_t s = 0; s < steps.size(); s++) {
    if (reuse) std::erase_if(taken, [&](const Taken& each) { return each.last_use < s; });
    for (const size_t output : steps[s].outputs) {
      if (output == kNoValue) continue;
      PlanValue& value = values[output];
      if (value.info.type == OnnxElement::string) {
        value.text = texts++;
        continue;
      }
      const size_t bytes = std::max<size_t>(aligned_size(value.info.count() * element_size(value.info.type)), 64);
      size_t begin = arena;
      auto before = taken.end();
      if (reuse && taken.size() < kMostTaken) {
        begin = 0;
        for (before = taken.begin(); before != taken.end() && before->begin < begin + bytes; ++before) {
          begin = std::max(begin, before->end);
        }
      }
      // An output nobody reads must still not overwrite another one of its step.
      const size_t until = kept[output] ? SIZE_MAX : std::max(last_use[output], s);
      if (reuse && taken.size() < kMostTaken) taken.insert(before, {begin, begin + bytes, until});
      value.place = begin;
      arena = std::max(arena, begin + bytes);
    }
  }
  return arena;
}

}  // namespace assay
