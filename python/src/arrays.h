// NumPy arrays as arguments and results. Results are read-only views, without a copy, of memory that an owner keeps.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay::python {

// Arrays must have the exact dtype and layout. The Python package converts them first, with better error messages.
using FloatMatrix = nanobind::ndarray<const float, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using FloatVector = nanobind::ndarray<const float, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using DoubleMatrix = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using DoubleVector = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using IndexVector = nanobind::ndarray<const uint32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using RowVector = nanobind::ndarray<const int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using NumpyView = nanobind::ndarray<nanobind::numpy, const T, nanobind::c_contig>;

inline MatrixView<const float> view_of(const FloatMatrix& array) {
  return {array.data(), array.shape(0), array.shape(1)};
}

inline Matrix copy_of(const FloatMatrix& array) {
  Matrix copy(array.shape(0), array.shape(1));
  if (!copy.empty()) std::copy_n(array.data(), array.size(), copy.data());
  return copy;
}

template <class Array>
auto values_of(const Array& array) {
  return std::vector<std::remove_cv_t<typename Array::Scalar>>(array.data(), array.data() + array.size());
}

template <class T>
NumpyView<T> matrix_view(const OwnedMatrix<T>& matrix, nanobind::handle owner) {
  return NumpyView<T>(matrix.data(), {matrix.rows(), matrix.cols()}, owner);
}

template <class T>
NumpyView<T> vector_view(const std::vector<T>& values, nanobind::handle owner) {
  return NumpyView<T>(values.data(), {values.size()}, owner);
}

// An array that owns its memory and can be written to.
template <class T>
nanobind::ndarray<nanobind::numpy, T> owned_array(OwnedMatrix<T> matrix) {
  auto* kept = new OwnedMatrix<T>(std::move(matrix));
  const nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<OwnedMatrix<T>*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(kept->data(), {kept->rows(), kept->cols()}, owner);
}

}  // namespace assay::python
