// Rows x columns, row-major: a view that owns nothing and a matrix that owns its memory.
//
// Storage is float32 (Matrix); sums, norms and statistics are float64 (Matrix64 where they need a matrix).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace assay {

template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, size_t rows, size_t cols, size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {
    assert(stride >= cols);
  }
  MatrixView(T* data, size_t rows, size_t cols) : MatrixView(data, rows, cols, cols) {}

  // A view of constants from a view of variables.
  operator MatrixView<const T>() const { return {data_, rows_, cols_, stride_}; }

  T* data() const { return data_; }
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t stride() const { return stride_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }

  std::span<T> row(size_t i) const {
    assert(i < rows_);
    return {data_ + i * stride_, cols_};
  }
  T& operator()(size_t i, size_t j) const {
    assert(i < rows_ && j < cols_);
    return data_[i * stride_ + j];
  }
  MatrixView rows_between(size_t begin, size_t end) const {
    assert(begin <= end && end <= rows_);
    return {data_ + begin * stride_, end - begin, cols_, stride_};
  }

 private:
  T* data_ = nullptr;
  size_t rows_ = 0;
  size_t cols_ = 0;
  size_t stride_ = 0;
};

// Owns rows x cols values, zero at first. Rows can be appended: the block grows by realloc, which moves the pages of
// a large block instead of copying them, so that reading a table never holds two copies of it.
template <class T>
class OwnedMatrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  OwnedMatrix() = default;
  explicit OwnedMatrix(size_t rows, size_t cols) : rows_(rows), cols_(cols), capacity_(rows) {
    if (const size_t bytes = byte_count(rows, cols); bytes > 0) {
      data_ = static_cast<T*>(std::calloc(bytes, 1));
      if (data_ == nullptr) throw std::bad_alloc();
    }
  }
  OwnedMatrix(OwnedMatrix&& other) noexcept { swap(other); }
  OwnedMatrix& operator=(OwnedMatrix&& other) noexcept {
    swap(other);
    return *this;
  }
  OwnedMatrix(const OwnedMatrix& other) : OwnedMatrix(other.rows_, other.cols_) {
    if (data_ != nullptr) std::memcpy(data_, other.data_, rows_ * cols_ * sizeof(T));
  }
  OwnedMatrix& operator=(const OwnedMatrix& other) {
    if (this != &other) *this = OwnedMatrix(other);
    return *this;
  }
  ~OwnedMatrix() { std::free(data_); }

  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::span<T> row(size_t i) { return view().row(i); }
  std::span<const T> row(size_t i) const { return view().row(i); }
  T& operator()(size_t i, size_t j) { return view()(i, j); }
  const T& operator()(size_t i, size_t j) const { return view()(i, j); }
  std::span<T> values() { return {data_, rows_ * cols_}; }
  std::span<const T> values() const { return {data_, rows_ * cols_}; }
  MatrixView<T> view() { return {data_, rows_, cols_}; }
  MatrixView<const T> view() const { return {data_, rows_, cols_}; }

  // A new last row whose values are not set yet.
  std::span<T> append_row() {
    if (rows_ == capacity_) reallocate(rows_ < 64 ? 128 : rows_ + rows_ / 2);
    return {data_ + rows_++ * cols_, cols_};
  }
  void shrink_to_fit() {
    if (capacity_ > rows_) reallocate(rows_);
  }

 private:
  static size_t byte_count(size_t rows, size_t cols) {
    if (cols != 0 && rows > std::numeric_limits<ptrdiff_t>::max() / sizeof(T) / cols) throw std::bad_alloc();
    return rows * cols * sizeof(T);
  }
  void reallocate(size_t rows) {
    const size_t bytes = byte_count(rows, cols_);
    if (bytes == 0) {
      std::free(std::exchange(data_, nullptr));
    } else {
      void* grown = std::realloc(data_, bytes);
      if (grown == nullptr) throw std::bad_alloc();
      data_ = static_cast<T*>(grown);
    }
    capacity_ = rows;
  }
  void swap(OwnedMatrix& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  size_t rows_ = 0;
  size_t cols_ = 0;
  size_t capacity_ = 0;
};

using Matrix = OwnedMatrix<float>;
using Matrix64 = OwnedMatrix<double>;

}  // namespace assay
