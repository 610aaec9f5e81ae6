// Slice: of every axis in `axes` the elements start, start + step, ... before end; the other axes whole. Negative
// starts and ends count from the end, and both are clamped to the axis (a start to its last element when the step is
// negative). The lists are attributes before opset 10, without steps, and constant inputs from then on.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

// What is left of one axis.
struct SliceRange {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
};

SliceRange range_within(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (size == 0) return {};
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = std::clamp<int64_t>(start, 0, step > 0 ? size : size - 1);
  end = step > 0 ? std::clamp<int64_t>(end, 0, size) : std::clamp<int64_t>(end, -1, size - 1);
  const int64_t distance = step > 0 ? end - start : start - end;
  if (distance <= 0) return {};
  // Unsigned, for the smallest integer has no positive counterpart.
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  const auto count = static_cast<int64_t>((static_cast<uint64_t>(distance) + stride - 1) / stride);
  // The step over a single element does not matter and may be large.
  return {start, count, count == 1 ? 1 : step};
}

struct Lists {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::optional<std::vector<int64_t>> axes;
  std::optional<std::vector<int64_t>> steps;
};

Lists read_lists(const NodeSetup& setup) {
  const auto starts = attribute_or_input(setup, "starts", 10, 1);
  const auto ends = attribute_or_input(setup, "ends", 10, 2);
  if (!starts || !ends) setup.fail("expected starts and ends, found only one of them or none");
  Lists lists = {*starts, *ends, attribute_or_input(setup, "axes", 10, 3), std::nullopt};
  if (setup.opset() >= 10) lists.steps = attribute_or_input(setup, "steps", 10, 4);
  const size_t count = lists.starts.size();
  if (lists.ends.size() != count || (lists.axes && lists.axes->size() != count) ||
      (lists.steps && lists.steps->size() != count)) {
    setup.fail(fmt::format("starts, ends, axes and steps must be of one length, found {}, {}, {} and {}", count,
                           lists.ends.size(), lists.axes ? lists.axes->size() : count,
                           lists.steps ? lists.steps->size() : count));
  }
  return lists;
}

}  // namespace

std::unique_ptr<Kernel> make_slice(NodeSetup& setup) {
  setup.expect_inputs(setup.opset() < 10 ? 1 : 3, setup.opset() < 10 ? 1 : 5);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const size_t rank = dims.size();
  const Lists lists = read_lists(setup);
  if (lists.axes) {
    setup.axes(*lists.axes, rank);
  } else if (lists.starts.size() > rank) {
    setup.fail(fmt::format("it slices {} axes, but the input has {} dimension{}", lists.starts.size(), rank,
                           rank == 1 ? "" : "s"));
  }
  Shape result = dims;
  std::vector<int64_t> strides = row_major_strides(dims);
  int64_t offset = 0;
  for (size_t i = 0; i < lists.starts.size(); i++) {
    const size_t axis = lists.axes ? setup.axis((*lists.axes)[i], rank) : i;
    const int64_t step = lists.steps ? (*lists.steps)[i] : 1;
    if (step == 0) setup.fail(fmt::format("the step along axis {} must not be 0", axis));
    const SliceRange range = range_within(dims[axis], lists.starts[i], lists.ends[i], step);
    result[axis] = range.count;
    offset += range.start * strides[axis];
    strides[axis] *= range.step;
  }
  return make_box_copy(setup, result, strides, offset);
}

}  // namespace assay
