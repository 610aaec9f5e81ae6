// Brute force for operators that move elements: visit every index, and say where it lies.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {

using Index = std::vector<int64_t>;

// body(index) in row-major order.
template <class Body>
void for_each_index(const Shape& dims, const Body& body) {
  const size_t count = element_count(dims);
  for (size_t flat = 0; flat < count; flat++) {
    Index index(dims.size());
    auto rest = static_cast<int64_t>(flat);
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    body(index);
  }
}

inline size_t offset_of(const Shape& dims, const Index& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); d++) offset = offset * dims[d] + index[d];
  return static_cast<size_t>(offset);
}

// 0, 1, 2, ...: every element tells where it was.
template <class T>
std::vector<T> counting(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; i++) {
    if constexpr (std::is_same_v<T, std::string>)
      // Long enough that it does not fit into the string object itself, where a byte-wise copy would go unnoticed.
      values[i] = "the element at position " + std::to_string(i);
    else
      values[i] = static_cast<T>(i);
  }
  return values;
}
template <class T>
NodeInput counting_input(const Shape& dims) {
  return variable<T>(dims, counting<T>(element_count(dims)));
}

inline Shape random_shape(RandomStream& random, size_t least_rank, size_t most_rank, uint32_t most_size = 4) {
  Shape dims(least_rank + random.below(static_cast<uint32_t>(most_rank - least_rank + 1)));
  for (int64_t& dim : dims) dim = 1 + random.below(most_size);
  return dims;
}

inline NodeInput integers(const std::vector<int64_t>& values) {
  return constant<int64_t>({static_cast<int64_t>(values.size())}, values);
}

template <class T>
void expect_output(const SingleNode& node, const Shape& dims, const std::vector<T>& values, size_t output = 0) {
  ASSERT_TRUE(node.output_info(output).has_value());
  EXPECT_EQ(node.output_info(output)->dims, dims);
  ASSERT_EQ(node.output_info(output)->type, element_of<T>());
  const SingleNode::Run run = node.forward();
  const auto found = run.outputs[output].values<T>();
  EXPECT_EQ(std::vector<T>(found.begin(), found.end()), values);
}

// Every element of the output is that of the input at source(index of the output).
template <class T, class Source>
void expect_moved(const SingleNode& node, const Shape& dims, const Source& source) {
  const Tensor& input = *node.inputs()[0].tensor;
  std::vector<T> expected;
  for_each_index(
      dims, [&](const Index& index) { expected.push_back(input.data<T>()[offset_of(input.dims(), source(index))]); });
  expect_output<T>(node, dims, expected);
}

}  // namespace assay::testing
