// Any bytes as a model that is loaded, planned and run, forwards and backwards: results or an assay::Error, nothing
// else. Dimensions that the file leaves open are 2. Integer inputs may be shapes, axes or bounds, which must be
// constants. So each model is tried a second time with such constants.
#include "assay/model/graph/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/core/error.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/graph/plan.h"
#include "fuzz/harness.h"

namespace {

// A convolution of values of this size takes about a second under sanitizers.
constexpr size_t kMostBytes = size_t{1} << 16;
constexpr size_t kMostSteps = 256;

// A small budget for values, scratch and kernels together, and for what is computed when a model is loaded.
assay::Context small_budget() {
  assay::Context context;
  context.budget = {.bytes = 2 * kMostBytes, .steps = uint64_t{1} << 26};
  return context;
}

assay::Feed feed_of(const assay::OnnxValue& input) {
  const assay::OnnxElement type = assay::stored_element(input.type.element);
  if (input.type.kind != assay::OnnxValueKind::tensor || type == assay::OnnxElement::undefined) {
    assay::fail_input("not a tensor of a type the engine computes with");
  }
  assay::Shape dims;
  for (const auto& dim : input.type.dims.value_or(std::vector<assay::OnnxDimension>(2))) {
    dims.push_back(dim.size.value_or(2));
  }
  if (assay::onnx_element_count("fuzz.onnx", dims) > kMostBytes / assay::element_size(type)) {
    assay::fail_input("too large to be worth the time");
  }
  return {input.name, {type, dims, nullptr}};
}

// All elements of a tensor of numbers.
void fill(assay::Tensor& tensor, int value) {
  assay::with_element(tensor.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string>) {
      for (size_t i = 0; i < tensor.count(); i++) tensor.data<T>()[i] = static_cast<T>(value);
    }
  });
}

// A constant with numbers that are difficult as shapes, axes and bounds. The bytes of the producer's name choose them,
// because they have no other use.
std::shared_ptr<const assay::Tensor> numbers(const assay::ValueInfo& info, const std::string& producer) {
  constexpr int64_t kNumbers[] = {0,  1, 2, 3,         -1,        -2,        -3, 4,
                                  28, 7, 9, INT64_MIN, INT64_MAX, INT32_MAX, 64, int64_t{1} << 40};
  auto tensor = std::make_shared<assay::Tensor>(info.type, info.dims);
  const auto number = [&](size_t i) {
    return kNumbers[producer.empty() ? 1 : static_cast<unsigned char>(producer[i % producer.size()]) % 16];
  };
  static_assert(std::size(kNumbers) == 16);
  for (size_t i = 0; i < tensor->count(); i++) {
    if (info.type == assay::OnnxElement::int64) tensor->data<int64_t>()[i] = number(i);
    if (info.type == assay::OnnxElement::int32) tensor->data<int32_t>()[i] = static_cast<int32_t>(number(i));
  }
  return tensor;
}

void run(const assay::Plan& plan, const assay::PlanRequest& request) {
  std::vector<assay::Tensor> zeros, ones;
  for (const assay::Feed& feed : request.feeds) {
    zeros.emplace_back(feed.info.type, feed.info.dims);
    ones.emplace_back(feed.info.type, feed.info.dims);
    fill(ones.back(), 1);
  }
  assay::Workspace reference(plan), workspace(plan);
  for (size_t i = 0; i < request.feeds.size(); i++) {
    reference.feed(i, zeros[i].raw());
    workspace.feed(i, ones[i].raw());
  }
  reference.forward();
  workspace.forward();
  bool gradients = false;
  for (size_t i = 0; i < request.feeds.size(); i++) gradients |= plan.has_gradient(i);
  if (!gradients) return;
  for (size_t i = 0; i < request.fetches.size(); i++) {
    void* gradient = workspace.fetch_gradient(i);
    if (gradient == nullptr) continue;
    assay::with_element(plan.fetched(i).type, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>) std::fill_n(static_cast<T*>(gradient), plan.fetched(i).count(), T(1));
    });
  }
  workspace.backward();
  workspace.rescale(reference);
}

void plan_and_run(const assay::Graph& graph, bool known, bool gradients) {
  assay::PlanRequest request;
  for (const auto& input : graph.inputs()) {
    assay::Feed feed = feed_of(input);
    const bool whole = feed.info.type == assay::OnnxElement::int64 || feed.info.type == assay::OnnxElement::int32;
    if (known && whole) feed.info.constant = numbers(feed.info, graph.producer());
    feed.gradient = gradients && assay::is_floating(feed.info.type);
    request.feeds.push_back(feed);
  }
  for (const auto& output : graph.outputs()) request.fetches.push_back(output.name);
  const assay::Plan plan(graph, request, small_budget());
  if (plan.step_count() <= kMostSteps) run(plan, request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::optional<assay::Graph> graph;
  if (!assay::fuzz::succeeds(
          [&] { graph.emplace("fuzz.onnx", assay::parse_onnx("fuzz.onnx", bytes, ""), small_budget()); }))
    return 0;
  for (const bool known : {false, true}) {
    // Plans without derivatives fuse more.
    for (const bool gradients : {false, true}) {
      assay::fuzz::succeeds([&] { plan_and_run(*graph, known, gradients); });
    }
  }
  return 0;
}
