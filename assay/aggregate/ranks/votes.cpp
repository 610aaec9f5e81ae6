#include "assay/aggregate/ranks/votes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {

Votes::Votes(const AggregateTask& task, size_t row, bool signed_values)
    : members_(task.members.size()), players_(task.members[0]->players()), liking_(members_ * players_) {
  for (size_t v = 0; v < members_; v++) {
    const auto values = task.members[v]->values.row(row);
    for (size_t p = 0; p < players_; p++) {
      liking_[p * members_ + v] = signed_values ? values[p] : std::abs(values[p]);
    }
  }
}

void store_ranks(std::span<const int64_t> points, std::span<float> out) {
  std::vector<uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return points[a] > points[b]; });
  for (size_t at = 0; at < order.size(); at++) out[order[at]] = static_cast<float>(at + 1);
}

}  // namespace assay
