#include "assay/explain/reasons/standing.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace assay {

void Standing::look_at(std::span<const double> strengths) {
  strengths_ = strengths;
  speaking_.clear();
  for (size_t i = 0; i < strengths.size(); i++) {
    if (speaks(i)) speaking_.push_back(strengths[i]);
  }
  above_ = 0;
  tied_ = 0;
  if (speaking_.size() <= top_) return;
  const auto last = speaking_.begin() + static_cast<ptrdiff_t>(top_ - 1);
  std::ranges::nth_element(speaking_, last, std::greater<>());
  last_ = *last;
  std::tie(above_, tied_) = above_and_tied(last_);
}

std::pair<size_t, size_t> Standing::above_and_tied(double strength) const {
  size_t above = 0;
  size_t tied = 0;
  for (const double each : speaking_) {
    above += each > strength + rounding_ ? 1 : 0;
    tied += each <= strength + rounding_ && each >= strength - rounding_ ? 1 : 0;
  }
  return {above, tied};
}

double Standing::among(size_t feature) const {
  if (!speaks(feature)) return 0;
  const double strength = strengths_[feature];
  if (tied_ == 0 || strength > last_ + rounding_) return 1;
  if (strength < last_ - rounding_) return 0;
  // `above_` may be more than top - 1 only if ties are not transitive; there is a place for one at least.
  const size_t places = top_ > above_ ? top_ - above_ : 1;
  return places >= tied_ ? 1 : static_cast<double>(places) / static_cast<double>(tied_);
}

double Standing::at_rank(size_t feature, size_t rank) const {
  if (!speaks(feature)) return 0;
  const auto [above, tied] = above_and_tied(strengths_[feature]);
  const bool within = rank > above && rank <= above + tied;
  return within ? 1 / static_cast<double>(tied) : 0;
}

std::vector<size_t> Standing::strongest() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < strengths_.size(); i++) {
    if (speaks(i)) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return strengths_[i]; });
  order.resize(std::min(order.size(), top_));
  return order;
}

}  // namespace assay
