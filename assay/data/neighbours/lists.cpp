#include "assay/data/neighbours/lists.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace assay {
namespace {

constexpr size_t kFewItems = 48;
constexpr size_t kItemsPerBucket = 4;
constexpr size_t kWordBits = 64;

void insertion_sort(std::span<Neighbour> items) {
  for (size_t i = 1; i < items.size(); ++i) {
    const Neighbour item = items[i];
    size_t place = i;
    for (; place > 0 && item.distance < items[place - 1].distance; --place) items[place] = items[place - 1];
    items[place] = item;
  }
}

// By setting a bit for each row and reading the bits back.
void sort_rows(std::span<const Neighbour> items, size_t last_row, std::span<Neighbour> sorted) {
  std::vector<uint64_t> present(last_row / kWordBits + 1, 0);
  const auto distance = std::make_unique_for_overwrite<double[]>(last_row + 1);
  for (const Neighbour& item : items) {
    present[item.row / kWordBits] |= uint64_t{1} << (item.row % kWordBits);
    distance[item.row] = item.distance;
  }
  size_t count = 0;
  for (size_t word = 0; word < present.size(); ++word) {
    for (uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
      const size_t row = word * kWordBits + static_cast<size_t>(std::countr_zero(bits));
      sorted[count++] = {row, distance[row]};
    }
  }
}

// From `items`, in the order of rows, to `sorted`, by equal steps of distance. The order of rows is kept among equal
// distances: a step of a single distance, which may be a large one (all rows that differ in a category), is done.
void sort_distances(std::span<Neighbour> items, std::span<Neighbour> sorted, int depth) {
  const auto by_distance = [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; };
  const auto [lowest, highest] = std::minmax_element(items.begin(), items.end(), by_distance);
  const double low = lowest->distance;
  const size_t steps = items.size() / kItemsPerBucket;
  const double scale = static_cast<double>(steps - 1) / (highest->distance - low);
  if (!std::isfinite(scale) || depth == 0) {
    std::copy(items.begin(), items.end(), sorted.begin());
    if (highest->distance > low) std::sort(sorted.begin(), sorted.end(), Closer());
    return;
  }
  const auto step_of = [&](const Neighbour& item) { return static_cast<size_t>((item.distance - low) * scale); };
  std::vector<uint32_t> ends(steps, 0);
  for (const Neighbour& item : items) ++ends[step_of(item)];
  uint32_t begin = 0;
  for (uint32_t& end : ends) begin += std::exchange(end, begin);
  for (const Neighbour& item : items) sorted[ends[step_of(item)]++] = item;

  begin = 0;
  for (const uint32_t end : ends) {
    const std::span step = sorted.subspan(begin, end - begin);
    if (step.size() <= kFewItems) {
      insertion_sort(step);
    } else {
      const std::span spare = items.subspan(begin, step.size());
      std::copy(step.begin(), step.end(), spare.begin());
      sort_distances(spare, step, depth - 1);
    }
    begin = end;
  }
}

}  // namespace

void sort_neighbours(std::span<Neighbour> items) {
  const auto by_row = [](const Neighbour& a, const Neighbour& b) { return a.row < b.row; };
  const size_t last_row = items.empty() ? 0 : std::max_element(items.begin(), items.end(), by_row)->row;
  if (items.size() <= kFewItems || last_row / kWordBits > 4 * items.size()) {
    return std::sort(items.begin(), items.end(), Closer());
  }
  const auto in_row_order = std::make_unique_for_overwrite<Neighbour[]>(items.size());
  const std::span ordered(in_row_order.get(), items.size());
  sort_rows(items, last_row, ordered);
  sort_distances(ordered, items, 4);
}

}  // namespace assay
