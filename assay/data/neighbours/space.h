// The coordinates in which neighbours are searched: one float32 number per feature group (scaled) or column (raw).
//
// Two values of a coordinate differ by |a - b|, with two exceptions that make it 1: different values of a category, and
// a value against a missing one. Missing is stored as kMissingCoordinate, so far from every allowed value that the
// difference alone shows it. Two missing values are 0 apart without a special case.
//
// Scaled coordinates are rounded to float32, so they only give estimates: equal steps come out a little unequal, and
// beside an outlier different values may come out equal. Distances are decided by the cells, in float64.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/data/neighbours.h"

namespace assay {

inline constexpr float kMissingCoordinate = std::numeric_limits<float>::max();
inline constexpr float kLargestCoordinate = 1e38f;  // values beyond it, infinities among them, are refused
inline constexpr float kMissingGap = 2.2e38f;       // above all differences of values, below those from missing

// How messages name the pool.
std::string pool_name(const Dataset& pool);

class NeighbourSpace {
 public:
  // Reads every row of the pool twice (mean, then deviation), in float64. Scaled coordinates are (value - mean) /
  // deviation rounded to float32: the mean cancels from differences, but taking it off first keeps the digits of
  // features that are far from 0, such as years and timestamps. Sums are corrected for rounding, so that features with
  // the same values in another order have the same deviation.
  NeighbourSpace(const Dataset& pool, Space space);

  size_t columns() const { return column_names_.size(); }
  size_t coordinates() const { return coordinates_.size(); }
  // Whether two values of this coordinate are only equal or not.
  bool mismatch(size_t coordinate) const { return coordinates_[coordinate].kind != Kind::number; }

  // Whether cells are divided by a deviation; else coordinates are cells.
  bool scaled() const { return scaled_; }
  double deviation(size_t coordinate) const { return coordinates_[coordinate].deviation; }
  // The cell of a row of the table behind a coordinate that is a number; kMissingCoordinate for NaN.
  float cell(size_t coordinate, std::span<const float> row) const {
    const float value = row[coordinates_[coordinate].first];
    return std::isnan(value) ? kMissingCoordinate : value;
  }

  // An estimate of the distance of two values of one coordinate.
  double difference(size_t coordinate, float a, float b) const {
    const double apart = std::abs(static_cast<double>(a) - b);
    return (mismatch(coordinate) ? apart > 0 : apart >= kMissingGap) ? 1 : apart;
  }

  // The coordinates of rows begin .. end - 1. An input error "<where>, row i, column '...': ..." for an infinite value,
  // or one so large that its distances overflow float32.
  Matrix map(std::string_view where, MatrixView<const float> rows, size_t begin, size_t end) const;

 private:
  enum class Kind { number, code, one_hot };
  struct Coordinate {
    Kind kind;
    size_t first;
    size_t count = 1;
    double mean = 0;
    double deviation = 1;
  };

  void scale(const Dataset& pool);
  void check(std::string_view where, size_t number, std::span<const float> row) const;
  [[noreturn]] void refuse(std::string_view where, size_t row, size_t column, float value) const;

  bool scaled_;
  std::vector<std::string> column_names_;
  std::vector<Coordinate> coordinates_;
};

}  // namespace assay
