#include "assay/report/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace assay {
namespace {

class RankVectors {
 public:
  explicit RankVectors(size_t entries, size_t players)
      : ranks_(entries, players), defined_(entries), sorted_(players) {}

  // The ranks of |values|, centred and scaled to length 1: the correlation is then a dot product.
  void set(size_t entry, std::span<const float> values) {
    defined_[entry] = std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
    if (!defined_[entry]) return;
    const size_t count = values.size();
    for (size_t i = 0; i < count; i++) sorted_[i] = {std::fabs(values[i]), i};
    std::ranges::sort(sorted_);
    const std::span<double> ranks = ranks_.row(entry);
    const double middle = (static_cast<double>(count) - 1) / 2;
    double squares = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
      while (end < count && sorted_[end].first == sorted_[begin].first) end++;
      const double rank = static_cast<double>(begin + end - 1) / 2 - middle;
      for (size_t i = begin; i < end; i++) ranks[sorted_[i].second] = rank;
      squares += rank * rank * static_cast<double>(end - begin);
    }
    defined_[entry] = squares > 0;
    const double length = std::sqrt(squares);
    for (double& rank : ranks) rank /= length;
  }

  bool defined(size_t entry) const { return defined_[entry]; }
  double product(size_t a, size_t b) const {
    const std::span<const double> x = ranks_.row(a);
    return std::inner_product(x.begin(), x.end(), ranks_.row(b).begin(), 0.0);
  }

 private:
  Matrix64 ranks_;
  std::vector<bool> defined_;
  std::vector<std::pair<float, size_t>> sorted_;
};

}  // namespace

Matrix64 mean_rank_agreement(std::span<const Matrix* const> entries, std::span<const size_t> rows) {
  const size_t count = entries.size();
  Matrix64 mean(count, count);
  if (count == 0) return mean;
  std::vector<double> sums(count * count);
  std::vector<size_t> defined(count * count);
  RankVectors ranks(count, entries[0]->cols());
  for (const size_t row : rows) {
    for (size_t a = 0; a < count; a++) {
      ranks.set(a, entries[a]->row(row));
      for (size_t b = 0; b <= a; b++) {
        if (!ranks.defined(a) || !ranks.defined(b)) continue;
        sums[a * count + b] += std::clamp(ranks.product(a, b), -1.0, 1.0);
        defined[a * count + b]++;
      }
    }
  }
  const std::span<double> out = mean.values();
  for (size_t a = 0; a < count; a++) {
    for (size_t b = 0; b < count; b++) {
      const size_t pair = std::max(a, b) * count + std::min(a, b);
      out[a * count + b] = defined[pair] > 0 ? sums[pair] / static_cast<double>(defined[pair])
                                             : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return mean;
}

}  // namespace assay
