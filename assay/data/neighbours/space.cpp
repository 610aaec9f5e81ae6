#include "assay/data/neighbours/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"

namespace assay {
namespace {

// The position of the largest value; a row of no level (all zero) is a level of its own, beyond the others.
float one_hot_code(std::span<const float> values) {
  if (std::any_of(values.begin(), values.end(), [](float v) { return std::isnan(v); })) return kMissingCoordinate;
  const auto largest = std::max_element(values.begin(), values.end());
  return static_cast<float>(*largest > 0 ? largest - values.begin() : std::ssize(values));
}

// A sum that keeps beside it what rounding took from it, which four more operations tell exactly (Knuth's two-sum).
class Sum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    const double added = next - sum_;
    lost_ += (sum_ - (next - added)) + (value - added);
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace

std::string pool_name(const Dataset& pool) { return pool.source.empty() ? "the pool of neighbours" : pool.source; }

NeighbourSpace::NeighbourSpace(const Dataset& pool, Space space) : scaled_(space == Space::scaled) {
  column_names_.reserve(pool.x.cols());
  for (size_t j = 0; j < pool.x.cols(); ++j) {
    column_names_.push_back(j < pool.feature_names.size() ? pool.feature_names[j] : fmt::format("{}", j + 1));
  }
  const std::string where = pool_name(pool);
  // Before the statistics, in which an infinite value would spoil its whole column.
  for (size_t i = 0; i < pool.x.rows(); ++i) check(where, i, pool.x.row(i));
  if (space == Space::raw) {
    for (size_t j = 0; j < pool.x.cols(); ++j) coordinates_.push_back({Kind::number, j});
    return;
  }
  for (const FeatureGroup& group : pool.groups) {
    const Kind kind = group.count > 1                         ? Kind::one_hot
                      : group.kind == ColumnKind::categorical ? Kind::code
                                                              : Kind::number;
    coordinates_.push_back({kind, group.first, group.count});
  }
  scale(pool);
}

void NeighbourSpace::scale(const Dataset& pool) {
  struct Statistics {
    Sum sum;
    Sum squares;
    double mean = 0;
    size_t count = 0;
    float lowest = std::numeric_limits<float>::infinity();
    float highest = -std::numeric_limits<float>::infinity();
  };
  std::vector<Statistics> columns(pool.x.cols());
  std::vector<size_t> numbers;
  for (const Coordinate& c : coordinates_) {
    if (c.kind == Kind::number) numbers.push_back(c.first);
  }
  for (size_t i = 0; i < pool.x.rows(); ++i) {
    const auto row = pool.x.row(i);
    for (const size_t j : numbers) {
      if (std::isnan(row[j])) continue;
      Statistics& column = columns[j];
      column.sum.add(row[j]);
      ++column.count;
      column.lowest = std::min(column.lowest, row[j]);
      column.highest = std::max(column.highest, row[j]);
    }
  }
  // By range, not by deviation: the rounding of the mean can leave a constant column with a deviation above 0. A
  // constant that is missing in some rows tells those apart from the others.
  std::erase_if(coordinates_, [&](const Coordinate& c) {
    const Statistics& column = columns[c.first];
    const bool told_by_missing = column.count > 0 && column.count < pool.x.rows();
    return c.kind == Kind::number && !(column.lowest < column.highest) && !told_by_missing;
  });
  for (Statistics& column : columns) column.mean = column.sum.value() / static_cast<double>(column.count);
  for (size_t i = 0; i < pool.x.rows(); ++i) {
    const auto row = pool.x.row(i);
    for (const size_t j : numbers) {
      if (std::isnan(row[j])) continue;
      const double away = row[j] - columns[j].mean;
      columns[j].squares.add(away * away);
    }
  }
  for (Coordinate& c : coordinates_) {
    if (c.kind != Kind::number) continue;
    const Statistics& column = columns[c.first];
    c.mean = column.mean;
    c.deviation = std::sqrt(column.squares.value() / static_cast<double>(column.count));
    if (column.lowest == column.highest) {
      c.mean = column.lowest;
      c.deviation = 1;
    }
  }
}

Matrix NeighbourSpace::map(std::string_view where, MatrixView<const float> rows, size_t begin, size_t end) const {
  Matrix mapped(end - begin, coordinates());
  for (size_t i = begin; i < end; ++i) {
    const auto row = rows.row(i);
    check(where, i, row);
    const auto out = mapped.row(i - begin);
    for (size_t j = 0; j < coordinates_.size(); ++j) {
      const Coordinate& c = coordinates_[j];
      const float value = row[c.first];
      if (c.kind == Kind::one_hot) {
        out[j] = one_hot_code(row.subspan(c.first, c.count));
      } else if (std::isnan(value)) {
        out[j] = kMissingCoordinate;
      } else if (c.kind == Kind::code) {
        out[j] = value;
      } else {
        const double scaled = (value - c.mean) / c.deviation;
        if (!(std::abs(scaled) <= kLargestCoordinate)) refuse(where, i, c.first, value);
        out[j] = static_cast<float>(scaled);
      }
    }
  }
  return mapped;
}

void NeighbourSpace::check(std::string_view where, size_t number, std::span<const float> row) const {
  for (size_t j = 0; j < row.size(); ++j) {
    if (std::abs(row[j]) > kLargestCoordinate) refuse(where, number, j, row[j]);
  }
}

void NeighbourSpace::refuse(std::string_view where, size_t row, size_t column, float value) const {
  fail_input(fmt::format("{}, row {}, column {}", where, row + 1, in_quotes(column_names_[column])),
             std::isinf(value) ? "a finite value or NaN" : "a value whose distances fit into float32",
             fmt::format("{}", value));
}

}  // namespace assay
