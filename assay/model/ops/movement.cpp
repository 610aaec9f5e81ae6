#include "assay/model/ops/movement.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

void copy_elements(OnnxElement type, size_t count, const void* from, void* to) {
  with_element(type, [&]<class T>() { std::copy_n(static_cast<const T*>(from), count, static_cast<T*>(to)); });
}

void add_elements(OnnxElement type, size_t count, const void* from, void* to) {
  with_floating_element(type, [&]<class T>() {
    const T* source = static_cast<const T*>(from);
    T* target = static_cast<T*>(to);
    for (size_t i = 0; i < count; i++) target[i] += source[i];
  });
}

void CopyKernel::forward(const Buffers& values) const {
  if (values.out<void>(0) != nullptr) copy_elements(type_, count_, values.in<void>(0), values.out<void>(0));
}

void CopyKernel::backward(const Buffers&, const Gradients& gradients) const {
  if (gradients.out<void>(0) == nullptr || gradients.in<void>(0) == nullptr) return;
  add_elements(type_, count_, gradients.out<void>(0), gradients.in<void>(0));
}

std::unique_ptr<Kernel> make_copy(NodeSetup& setup, Shape dims) {
  const ValueInfo& data = setup.input(0);
  setup.set_output(0, data.type, std::move(dims));
  return std::make_unique<CopyKernel>(data.type, data.count());
}

std::vector<int64_t> row_major_strides(const Shape& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

BoxCopy::BoxCopy(const Shape& dims, const std::vector<int64_t>& from_strides, int64_t from_offset,
                 const std::vector<int64_t>& to_strides, int64_t to_offset)
    : from_offset_(from_offset), to_offset_(to_offset) {
  std::vector<Loop> loops;
  for (size_t d = 0; d < dims.size(); d++) {
    if (dims[d] == 0) empty_ = true;
    if (dims[d] <= 1) continue;
    const Loop next = {static_cast<size_t>(dims[d]), from_strides[d], to_strides[d]};
    if (!loops.empty() && loops.back().from == next.from * dims[d] && loops.back().to == next.to * dims[d]) {
      loops.back() = {loops.back().count * next.count, next.from, next.to};
    } else {
      loops.push_back(next);
    }
  }
  if (!loops.empty()) {
    inner_ = loops.back();
    loops.pop_back();
  }
  if (!loops.empty()) {
    middle_ = loops.back();
    loops.pop_back();
  }
  outer_ = std::move(loops);
}

template <class Body>
void BoxCopy::for_each_start(const Body& body) const {
  if (empty_) return;
  size_t index[kMostRank] = {};
  int64_t from = from_offset_;
  int64_t to = to_offset_;
  while (true) {
    body(from, to);
    size_t d = outer_.size();
    for (; d > 0; d--) {
      const Loop& loop = outer_[d - 1];
      from += loop.from;
      to += loop.to;
      if (++index[d - 1] < loop.count) break;
      index[d - 1] = 0;
      from -= loop.from * static_cast<int64_t>(loop.count);
      to -= loop.to * static_cast<int64_t>(loop.count);
    }
    if (d == 0) return;
  }
}

void BoxCopy::copy(OnnxElement type, const void* from, void* to) const {
  // Locals, so that the compiler knows that writing elements does not change them.
  const auto middle = middle_;
  const auto inner = inner_;
  const auto rows = static_cast<int64_t>(middle.count);
  const auto count = static_cast<int64_t>(inner.count);
  with_element(type, [&]<class T>() {
    for_each_start([&](int64_t from_start, int64_t to_start) {
      for (int64_t i = 0; i < rows; i++) {
        const T* source = static_cast<const T*>(from) + from_start + i * middle.from;
        T* target = static_cast<T*>(to) + to_start + i * middle.to;
        if (inner.from == 1 && inner.to == 1) {
          std::copy_n(source, count, target);
        } else if (inner.to == 1) {
          for (int64_t j = 0; j < count; j++) target[j] = source[j * inner.from];
        } else {
          for (int64_t j = 0; j < count; j++) target[j * inner.to] = source[j * inner.from];
        }
      }
    });
  });
}

void BoxCopy::add_back(OnnxElement type, const void* to, void* from) const {
  const auto middle = middle_;
  const auto inner = inner_;
  const auto rows = static_cast<int64_t>(middle.count);
  const auto count = static_cast<int64_t>(inner.count);
  with_floating_element(type, [&]<class T>() {
    for_each_start([&](int64_t from_start, int64_t to_start) {
      for (int64_t i = 0; i < rows; i++) {
        T* target = static_cast<T*>(from) + from_start + i * middle.from;
        const T* source = static_cast<const T*>(to) + to_start + i * middle.to;
        if (inner.from == 0) {
          T sum = 0;
          for (int64_t j = 0; j < count; j++) sum += source[j * inner.to];
          *target += sum;
        } else if (inner.from == 1 && inner.to == 1) {
          for (int64_t j = 0; j < count; j++) target[j] += source[j];
        } else {
          for (int64_t j = 0; j < count; j++) target[j * inner.from] += source[j * inner.to];
        }
      }
    });
  });
}

void BoxCopyKernel::forward(const Buffers& values) const { box_.copy(type_, values.in<void>(0), values.out<void>(0)); }

void BoxCopyKernel::backward(const Buffers&, const Gradients& gradients) const {
  if (gradients.out<void>(0) == nullptr || gradients.in<void>(0) == nullptr) return;
  box_.add_back(type_, gradients.out<void>(0), gradients.in<void>(0));
}

std::unique_ptr<Kernel> make_box_copy(NodeSetup& setup, const Shape& dims, const std::vector<int64_t>& from_strides,
                                      int64_t from_offset) {
  const OnnxElement type = setup.input(0).type;
  setup.set_output(0, type, dims);
  return std::make_unique<BoxCopyKernel>(type, BoxCopy(dims, from_strides, from_offset, row_major_strides(dims), 0));
}

std::optional<std::vector<int64_t>> attribute_or_input(const NodeSetup& setup, std::string_view name, int64_t since,
                                                       size_t i) {
  if (setup.opset() < since) {
    if (!setup.has_attribute(name)) return std::nullopt;
    return setup.integers(name);
  }
  if (!setup.has_input(i)) return std::nullopt;
  return setup.constant_integers(i, name);
}

void expect_output_rank(const NodeSetup& setup, size_t rank) {
  if (rank > kMostRank) {
    setup.fail(fmt::format("its output would have {} dimensions; at most {} are allowed", rank, kMostRank));
  }
}

}  // namespace assay
