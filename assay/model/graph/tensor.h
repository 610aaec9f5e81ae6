// The values that flow through a graph: a type, dimensions, and elements in row-major order.
//
// While a graph runs, elements are stored as one of: float32, float64, the integers of 8 to 64 bits, booleans and text.
// float16 and bfloat16 are kept as float32, which holds every one of their values. Other types are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/model/graph/onnx.h"

namespace assay {

using Shape = std::vector<int64_t>;

// The number of elements of a shape that was checked before.
size_t element_count(const Shape& dims);
// The product of dims[begin..end).
size_t element_count(const Shape& dims, size_t begin, size_t end);

template <class T>
constexpr OnnxElement element_of() {
  if constexpr (std::is_same_v<T, float>) return OnnxElement::float32;
  if constexpr (std::is_same_v<T, double>) return OnnxElement::float64;
  if constexpr (std::is_same_v<T, int8_t>) return OnnxElement::int8;
  if constexpr (std::is_same_v<T, int16_t>) return OnnxElement::int16;
  if constexpr (std::is_same_v<T, int32_t>) return OnnxElement::int32;
  if constexpr (std::is_same_v<T, int64_t>) return OnnxElement::int64;
  if constexpr (std::is_same_v<T, uint8_t>) return OnnxElement::uint8;
  if constexpr (std::is_same_v<T, uint16_t>) return OnnxElement::uint16;
  if constexpr (std::is_same_v<T, uint32_t>) return OnnxElement::uint32;
  if constexpr (std::is_same_v<T, uint64_t>) return OnnxElement::uint64;
  if constexpr (std::is_same_v<T, bool>) return OnnxElement::boolean;
  if constexpr (std::is_same_v<T, std::string>) return OnnxElement::string;
  return OnnxElement::undefined;
}

// The type that elements of this type are stored as; undefined when they cannot be.
OnnxElement stored_element(OnnxElement type);
// Bytes of one stored element, text included.
size_t element_size(OnnxElement stored);
inline bool is_floating(OnnxElement type) { return type == OnnxElement::float32 || type == OnnxElement::float64; }

// Calls body.template operator()<T>() for the C++ type of a stored element. The caller has refused other types.
template <class Body>
decltype(auto) with_element(OnnxElement type, const Body& body) {
  switch (type) {
    case OnnxElement::float64: return body.template operator()<double>();
    case OnnxElement::int8: return body.template operator()<int8_t>();
    case OnnxElement::int16: return body.template operator()<int16_t>();
    case OnnxElement::int32: return body.template operator()<int32_t>();
    case OnnxElement::int64: return body.template operator()<int64_t>();
    case OnnxElement::uint8: return body.template operator()<uint8_t>();
    case OnnxElement::uint16: return body.template operator()<uint16_t>();
    case OnnxElement::uint32: return body.template operator()<uint32_t>();
    case OnnxElement::uint64: return body.template operator()<uint64_t>();
    case OnnxElement::boolean: return body.template operator()<bool>();
    case OnnxElement::string: return body.template operator()<std::string>();
    default: return body.template operator()<float>();
  }
}

// Likewise for is_floating types.
template <class Body>
void with_floating_element(OnnxElement type, const Body& body) {
  if (type == OnnxElement::float64) return body.template operator()<double>();
  body.template operator()<float>();
}

// Owns its elements: zeros, false or empty text at first. Those of a file may lie among the file's bytes, which are
// owned together.
class Tensor {
 public:
  Tensor() = default;
  Tensor(OnnxElement stored, Shape dims);
  // Converts an ONNX tensor; an input error that starts with `where` when its type cannot be stored.
  static Tensor from_onnx(std::string_view where, const OnnxTensor& tensor);
  template <class T>
  static Tensor of(Shape dims, const std::vector<T>& values) {
    Tensor tensor(element_of<T>(), std::move(dims));
    for (size_t i = 0; i < values.size(); i++) tensor.template data<T>()[i] = values[i];
    return tensor;
  }
  template <class T>
  static Tensor list_of(const std::vector<T>& values) {
    return of<T>({static_cast<int64_t>(values.size())}, values);
  }

  OnnxElement type() const { return type_; }
  const Shape& dims() const { return dims_; }
  size_t count() const { return count_; }
  void* raw() { return data_.get(); }
  const void* raw() const { return data_.get(); }
  template <class T>
  T* data() {
    return static_cast<T*>(raw());
  }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(raw());
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), count_};
  }
  // The same elements with other dimensions, of the same product.
  Tensor reshaped(Shape dims) &&;

 private:
  OnnxElement type_ = OnnxElement::float32;
  Shape dims_ = {0};
  size_t count_ = 0;
  // Aligned for vectors, unless it lies in a file's bytes, which `keeper_` owns. The deleter knows whether it holds
  // text.
  std::unique_ptr<void, void (*)(void*)> data_ = {nullptr, +[](void*) {}};
  std::shared_ptr<const void> keeper_;
};

}  // namespace assay
