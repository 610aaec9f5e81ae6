// Products of matrices of any element type, for Gemm, MatMul and Conv.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "assay/model/graph/tensor.h"

namespace assay {

class NodeSetup;

// A matrix inside a buffer: element (i, j) is data[i * row + j * col]. One of row and col is 1.
template <class T>
struct MatrixPart {
  const T* data = nullptr;
  size_t row = 0;
  size_t col = 0;

  MatrixPart transposed() const { return {data, col, row}; }
};

// A whole row-major matrix. One column counts as stored by columns: sums over it are then dot products.
template <class T>
MatrixPart<T> whole_matrix(const T* data, size_t rows, size_t cols) {
  return cols == 1 ? MatrixPart<T>{data, 1, rows} : MatrixPart<T>{data, cols, 1};
}

// out[i * n + j] += sum over l of a(i, l) * b(l, j) for i < m, j < n, l < k.
// In float32 the order of a sum depends on k and on the strides of the operands alone.
void add_product(size_t m, size_t n, size_t k, MatrixPart<float> a, MatrixPart<float> b, float* out);

// Integers wrap around, as ONNX Runtime's and NumPy's do.
template <class T>
T multiply_add(T x, T y, T sum) {
  if constexpr (std::is_integral_v<T>) {
    using Wrapping = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Wrapping>(sum) + static_cast<Wrapping>(x) * static_cast<Wrapping>(y));
  } else {
    return sum + x * y;
  }
}

template <class T>
void add_product(size_t m, size_t n, size_t k, MatrixPart<T> a, MatrixPart<T> b, T* out) {
  if (a.data == nullptr || b.data == nullptr) return;  // an empty matrix may have no memory
  for (size_t i = 0; i < m; i++) {
    for (size_t l = 0; l < k; l++) {
      const T left = a.data[i * a.row + l * a.col];
      for (size_t j = 0; j < n; j++) {
        out[i * n + j] = multiply_add(left, b.data[l * b.row + j * b.col], out[i * n + j]);
      }
    }
  }
}

// Refuses inputs 0 and 1 unless both are of one type that ONNX multiplies matrices of; returns the type.
OnnxElement product_type(const NodeSetup& setup);

// Calls body.template operator()<T>() for a type that product_type lets through.
template <class Body>
void with_product_element(OnnxElement type, const Body& body) {
  switch (type) {
    case OnnxElement::float64: return body.template operator()<double>();
    case OnnxElement::int32: return body.template operator()<int32_t>();
    case OnnxElement::int64: return body.template operator()<int64_t>();
    case OnnxElement::uint32: return body.template operator()<uint32_t>();
    case OnnxElement::uint64: return body.template operator()<uint64_t>();
    default: return body.template operator()<float>();
  }
}

// half[i] = (x[i] + y[i]) / 2: a factor's average with its reference. It is DeepLift's multiplier of the other factor
// of a product in which both change: u v - u' v' = (u - u') (v + v') / 2 + (v - v') (u + u') / 2.
// Returns half. If half is null, returns x: the rule for a factor beside one that does not change.
template <class T>
const T* average(const T* x, const T* y, T* half, size_t count) {
  if (half == nullptr) return x;
  for (size_t i = 0; i < count; i++) half[i] = x[i] + (y[i] - x[i]) / 2;
  return half;
}

}  // namespace assay
