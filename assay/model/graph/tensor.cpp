#include "assay/model/graph/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "assay/core/aligned_memory.h"
#include "assay/core/error.h"

namespace assay {
size_t element_count(const Shape& dims) { return element_count(dims, 0, dims.size()); }

size_t element_count(const Shape& dims, size_t begin, size_t end) {
  size_t count = 1;
  for (size_t i = begin; i < end; i++) count *= static_cast<size_t>(dims[i]);
  return count;
}

OnnxElement stored_element(OnnxElement type) {
  switch (type) {
    case OnnxElement::float16:
    case OnnxElement::bfloat16: return OnnxElement::float32;
    case OnnxElement::float32:
    case OnnxElement::float64:
    case OnnxElement::int8:
    case OnnxElement::int16:
    case OnnxElement::int32:
    case OnnxElement::int64:
    case OnnxElement::uint8:
    case OnnxElement::uint16:
    case OnnxElement::uint32:
    case OnnxElement::uint64:
    case OnnxElement::boolean:
    case OnnxElement::string: return type;
    default: return OnnxElement::undefined;
  }
}

size_t element_size(OnnxElement stored) {
  return with_element(stored, []<class T>() { return sizeof(T); });
}

Tensor::Tensor(OnnxElement stored, Shape dims) : type_(stored), dims_(std::move(dims)), count_(element_count(dims_)) {
  if (type_ == OnnxElement::string) {
    data_ = {new std::string[count_], +[](void* at) { delete[] static_cast<std::string*>(at); }};
    return;
  }
  const size_t bytes = (count_ * element_size(type_) + kVectorAlignment - 1) / kVectorAlignment * kVectorAlignment;
  void* memory = aligned_memory(std::max(bytes, kVectorAlignment));
  data_ = {memory, +[](void* at) { std::free(at); }};
  std::memset(memory, 0, bytes);
}

Tensor Tensor::from_onnx(std::string_view where, const OnnxTensor& source) {
  const OnnxElement stored = stored_element(source.type);
  if (stored == OnnxElement::undefined) {
    fail_input(fmt::format("{}: tensor '{}' is of type {}, which the engine does not compute with", where, source.name,
                           onnx_type_name(source.type)));
  }
  if (stored == source.type && stored != OnnxElement::string && stored != OnnxElement::boolean) {
    // Not set to zero first: weights may be gigabytes.
    Tensor tensor;
    tensor.type_ = stored;
    tensor.dims_ = source.dims;
    tensor.count_ = element_count(source.dims);
    assert(source.raw.size() == tensor.count_ * element_size(stored));
    if (source.raw.keeper() != nullptr && reinterpret_cast<uintptr_t>(source.raw.data()) % element_size(stored) == 0) {
      // Nobody changes the elements of what comes from a file.
      tensor.data_ = {const_cast<char*>(source.raw.data()), +[](void*) {}};
      tensor.keeper_ = source.raw.keeper();
      return tensor;
    }
    tensor.data_ = {aligned_memory(std::max(source.raw.size(), kVectorAlignment)), +[](void* at) { std::free(at); }};
    if (!source.raw.empty()) std::memcpy(tensor.raw(), source.raw.data(), source.raw.size());
    return tensor;
  }
  Tensor tensor(stored, source.dims);
  if (stored == OnnxElement::string) {
    assert(source.strings.size() == tensor.count_);
    std::copy(source.strings.begin(), source.strings.end(), tensor.data<std::string>());
  } else if (stored != source.type) {
    const std::vector<float> values = to_floats(where, source);
    std::copy(values.begin(), values.end(), tensor.data<float>());
  } else {
    for (size_t i = 0; i < tensor.count_; i++) tensor.data<bool>()[i] = source.raw[i] != 0;
  }
  return tensor;
}

Tensor Tensor::reshaped(Shape dims) && {
  assert(element_count(dims) == count_);
  dims_ = std::move(dims);
  return std::move(*this);
}

}  // namespace assay
