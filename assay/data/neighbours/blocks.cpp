#include "assay/data/neighbours/blocks.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <tuple>

namespace assay {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPairsOfPool = 2048;

// How far apart rows of the pool are in each coordinate: a sum over pairs that depend on the pool's size alone.
std::vector<double> total_differences(const NeighbourSpace& space, MatrixView<const float> coordinates) {
  std::vector<double> totals(coordinates.cols(), 0.0);
  const size_t rows = coordinates.rows();
  const size_t pairs = std::min(rows / 2, kPairsOfPool);
  for (size_t i = 0; i < pairs; ++i) {
    const auto a = coordinates.row(i * rows / (2 * pairs));
    const auto b = coordinates.row(rows / 2 + i * 7919 % (rows - rows / 2));
    for (size_t c = 0; c < a.size(); ++c) totals[c] += space.difference(c, a[c], b[c]);
  }
  return totals;
}

}  // namespace

AlignedFloats::AlignedFloats(size_t size) {
  if (size > SIZE_MAX / sizeof(float) - kAlignment) throw std::bad_alloc();
  const size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes == 0) return;
  data_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
  if (data_ == nullptr) throw std::bad_alloc();
}

NeighbourBlocks::NeighbourBlocks(const NeighbourSpace& space, MatrixView<const float> pool,
                                 MatrixView<const float> coordinates, Norm norm, std::span<const uint32_t> rows)
    : rows_(rows.begin(), rows.end()), places_(coordinates.rows(), kNoPlace) {
  const size_t d = space.coordinates();
  layout_.norm = norm;
  layout_.position.resize(d);
  std::vector<uint32_t> order(d);
  std::iota(order.begin(), order.end(), 0u);
  // Coordinates that differ most come first: a block is dropped as soon as all its rows are beyond the limit.
  const auto differences = total_differences(space, coordinates);
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    return std::tuple(!space.mismatch(i), -differences[i], i) < std::tuple(!space.mismatch(j), -differences[j], j);
  });
  layout_.mismatches = std::count_if(order.begin(), order.end(), [&](uint32_t c) { return space.mismatch(c); });
  for (size_t i = 0; i < d; ++i) layout_.position[order[i]] = static_cast<uint32_t>(i);

  const size_t numbers = layout_.numbers();
  if (space.scaled()) {
    layout_.largest.assign(numbers, 0);
    for (size_t i = layout_.mismatches; i < d; ++i) layout_.deviation.push_back(space.deviation(order[i]));
    for (const double deviation : layout_.deviation) layout_.inverse.push_back(1 / deviation);
    cells_ = AlignedFloats(blocks() * kBlockRows * numbers);
  }
  values_ = AlignedFloats(blocks() * kBlockRows * d);
  for (size_t b = 0; b < blocks(); ++b) {
    const auto first = rows_.begin() + b * kBlockRows;
    std::sort(first, first + rows_in(b));
    float* values = values_.data() + b * kBlockRows * d;
    float* cells = cells_.data() + b * kBlockRows * numbers;
    for (size_t i = 0; i < kBlockRows; ++i) {
      const uint32_t row = first[std::min(i, rows_in(b) - 1)];
      const auto from = coordinates.row(row);
      for (size_t c = 0; c < d; ++c) {
        const size_t place = layout_.position[c];
        values[place * kBlockRows + i] = from[c];
        if (place < layout_.mismatches) continue;
        const size_t number = place - layout_.mismatches;
        const bool lost = from[c] == kMissingCoordinate;
        missing_ |= lost;
        if (!layout_.scaled()) continue;
        cells[number * kBlockRows + i] = space.cell(c, pool.row(row));
        if (!lost) layout_.largest[number] = std::max(layout_.largest[number], std::abs(static_cast<double>(from[c])));
      }
    }
  }
  for (size_t i = 0; i < rows_.size(); ++i) places_[rows_[i]] = static_cast<uint32_t>(i);
}

BlockQuery NeighbourBlocks::query(const NeighbourSpace& space, std::span<const float> row,
                                  std::span<const float> coordinates, float* room) const {
  const size_t mismatches = layout_.mismatches;
  float* cells = room + coordinates.size();
  BlockQuery query;
  query.values = room;
  query.cells = layout_.scaled() ? cells : room + mismatches;
  query.missing = missing_;
  for (size_t c = 0; c < coordinates.size(); ++c) {
    const size_t place = layout_.position[c];
    room[place] = coordinates[c];
    if (place < mismatches) continue;
    query.missing |= coordinates[c] == kMissingCoordinate;
    if (layout_.scaled()) cells[place - mismatches] = space.cell(c, row);
  }
  query.slack = rounding_slack(layout_, {room, coordinates.size()});
  query.mismatch = mismatch_estimate(layout_, query.slack);
  return query;
}

double NeighbourBlocks::distance(const BlockQuery& query, size_t row) const {
  const size_t place = places_[row];
  return exact_distance(layout_, block(place / kBlockRows), place % kBlockRows, query);
}

}  // namespace assay
