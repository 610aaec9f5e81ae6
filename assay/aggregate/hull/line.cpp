#include "assay/aggregate/hull/line.h"

#include <algorithm>
#include <cmath>

#include "assay/aggregate/complexity/segment.h"

namespace assay {
namespace {

// Below this a pivot is rounding noise: groups have entries of size 1.
constexpr double kSingular = 1e-13;
// Slack of the filter, far above the rounding of S and |phi|^2 that are carried along the line.
constexpr double kFilterSlack = 1e-9;
// The same near the origin, as shares of the parts that cancelled there: of S, of |phi|_2^2, and of an entropy.
constexpr double kNormNoise = 4e-15;
constexpr double kSquaresNoise = 1e-14;
constexpr double kEntropyNoise = 1e-13;
// So few vertices are sooner looked at than bounded.
constexpr size_t kFewLeft = 2;

}  // namespace

LineScan::LineScan(const HullProblem& problem) : problem_(problem), weights_(problem.size()) {
  breaks_.reserve(problem.group_count());
}

double LineScan::product(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (size_t i = 0; i < problem_.size(); i++) {
    for (size_t j = 0; j < problem_.size(); j++) sum += a[i] * b[j] * problem_.products(i, j);
  }
  return sum;
}

// Where all weights are at least 0.
bool LineScan::clip(const LineRequest& line) {
  low_ = 0;
  high_ = 1;
  // Where no other weight vanishes first, that of an end's own vector does.
  low_member_ = high_member_ = problem_.size();
  for (size_t i = 0; i < problem_.size(); i++) {
    const double a = line.a[i];
    const double b = line.b[i];
    if (a < 0 && b <= 0) return false;
    if (a <= 0 && b < 0) return false;
    if (a <= 0 && b > 0) {
      const double t = a / (a - b);
      if (t > low_ || (t == 0 && low_member_ == problem_.size())) {
        low_ = t;
        low_member_ = i;
      }
    } else if (a > 0 && b <= 0) {
      const double t = a / (a - b);
      if (t < high_ || (t == 1 && high_member_ == problem_.size())) {
        high_ = t;
        high_member_ = i;
      }
    }
  }
  return low_ < high_;
}

void LineScan::find_breaks(const LineRequest& line) {
  breaks_.clear();
  from_ = to_ = 0;
  const size_t n = problem_.size();
  for (size_t g = 0; g < problem_.group_count(); g++) {
    const double a = line.a[n + g];
    const double b = line.b[n + g];
    double sign = a + b < 0 ? -1 : 1;
    if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
      const double t = a / (a - b);
      // By t, not by the value: the walk flips the signs of exactly these groups.
      const double before = a < 0 ? -1 : 1;
      sign = t <= low_ ? -before : before;
      if (t > low_ && t < high_) breaks_.push_back({t, g});
    }
    from_ += sign * problem_.weight[g] * a;
    to_ += sign * problem_.weight[g] * b;
  }
}

LineScan::Place LineScan::place(const LineRequest& line, double t) const {
  const size_t n = problem_.size();
  Place made{t};
  for (size_t g = 0; g < problem_.group_count(); g++) {
    const double a = line.a[n + g] * (1 - t);
    const double b = line.b[n + g] * t;
    const double size = std::abs(a + b);
    made.parts += problem_.weight[g] * (std::abs(a) + std::abs(b));
    if (size <= kCancelledHull * (std::abs(a) + std::abs(b))) continue;
    made.norm += problem_.weight[g] * size;
    made.logs += size * (problem_.weight[g] * std::log(size) + problem_.spread[g]);
  }
  return made;
}

void LineScan::take(const LineRequest& line, const Place& place, const TightAt& tight, HullPoint& best) {
  const size_t n = problem_.size();
  const double t = place.t;
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    weights_[i] = std::max(0.0, line.a[i] * (1 - t) + line.b[i] * t);
    total += weights_[i];
  }
  const bool on_floor = tight.kind == TightAt::Kind::floor;
  if (!(place.norm > 0) || (!on_floor && place.norm < problem_.floor * total - kNormNoise * place.parts)) return;
  const double entropy = std::log(place.norm) - place.logs / place.norm;
  if (!(entropy <= best.entropy + kTiedEntropy)) return;
  if (!best.improves(entropy, std::sqrt(std::max(0.0, product(weights_, weights_))) / total)) return;
  for (size_t i = 0; i < n; i++) best.weights[i] = weights_[i] / total;
  found_ = tight;
}

// F / S at the place, F without the groups that vanish at the breaks from begin to before end.
double LineScan::bound_at(const LineRequest& line, const Place& place, size_t begin, size_t end) const {
  const size_t n = problem_.size();
  double norm = place.norm;
  double logs = place.logs;
  for (size_t i = begin; i < end; i++) {
    const size_t g = breaks_[i].group;
    const double size = std::abs(line.a[n + g] * (1 - place.t) + line.b[n + g] * place.t);
    if (size == 0) continue;
    norm -= problem_.weight[g] * size;
    logs -= size * (problem_.weight[g] * std::log(size) + problem_.spread[g]);
  }
  if (!(norm > kFilterSlack * place.norm)) return 0;
  return (norm * std::log(norm) - logs - kEntropyNoise * place.parts) / place.norm;
}

// The breaks `left` lie between low and high, places with the index of their break (of the break after it for the
// line's beginning, of the one before it for its end).
void LineScan::branch(const LineRequest& line, std::span<const size_t> left, const std::pair<Place, size_t>& low,
                      const std::pair<Place, size_t>& high, HullPoint& best) {
  if (left.empty()) return;
  if (left.size() > kFewLeft) {
    const double bound = std::min(bound_at(line, low.first, low.second, high.second),
                                  bound_at(line, high.first, low.second, high.second));
    if (bound * (1 - kFilterSlack) > best.entropy + kTiedEntropy) return;
  }
  const size_t half = left.size() / 2;
  const size_t middle = left[half];
  const Place found = place(line, breaks_[middle].t);
  take(line, found, {TightAt::Kind::group, breaks_[middle].group}, best);
  branch(line, left.first(half), low, {found, middle}, best);
  branch(line, left.subspan(half + 1), {found, middle + 1}, high, best);
}

void LineScan::walk(const LineRequest& line, HullPoint& best) {
  const size_t n = problem_.size();
  const double aa = product(line.a, line.a);
  const double ab = product(line.a, line.b);
  const double bb = product(line.b, line.b);
  double sum_a = 0;
  double sum_b = 0;
  double parts_a = 0;
  double parts_b = 0;
  for (size_t i = 0; i < n; i++) {
    sum_a += line.a[i];
    sum_b += line.b[i];
    parts_a += std::abs(line.a[i]);
    parts_b += std::abs(line.b[i]);
  }
  const double share = std::exp(-best.entropy);
  const auto ruled_out = [&](double t) {
    const double norm = from_ * (1 - t) + to_ * t;
    const double squares = aa * (1 - t) * (1 - t) + 2 * ab * t * (1 - t) + bb * t * t;
    const double parts = parts_a * (1 - t) + parts_b * t;
    return squares * (1 + kFilterSlack) + kSquaresNoise * parts * parts < share * norm * norm;
  };
  const auto above = [&](double t) {
    return from_ * (1 - t) + to_ * t - problem_.floor * (sum_a * (1 - t) + sum_b * t);
  };
  const auto cross_floor = [&](double left, double right) {
    const double at_left = above(left);
    const double at_right = above(right);
    if ((at_left < 0) == (at_right < 0)) return;
    const double t = left + (right - left) * at_left / (at_left - at_right);
    take(line, place(line, t), {TightAt::Kind::floor, 0}, best);
  };

  left_.clear();
  double before = low_;
  for (size_t i = 0; i < breaks_.size(); i++) {
    const Break& each = breaks_[i];
    if (problem_.floor_matters()) cross_floor(before, each.t);
    if (each.group >= line.first_group && !ruled_out(each.t)) left_.push_back(i);
    from_ -= 2 * problem_.weight[each.group] * std::abs(line.a[n + each.group]);
    to_ += 2 * problem_.weight[each.group] * std::abs(line.b[n + each.group]);
    before = each.t;
  }
  if (problem_.floor_matters()) cross_floor(before, high_);
  if (left_.empty() && !line.ends) return;
  const Place low = left_.size() > kFewLeft || line.ends ? place(line, low_) : Place{};
  const Place high = left_.size() > kFewLeft || line.ends ? place(line, high_) : Place{};
  if (line.ends) {
    take(line, low, {TightAt::Kind::weight, low_member_}, best);
    take(line, high, {TightAt::Kind::weight, high_member_}, best);
  }
  branch(line, left_, {low, 0}, {high, breaks_.size()}, best);
}

std::optional<TightAt> LineScan::lower(const LineRequest& line, HullPoint& best) {
  found_.reset();
  if (!clip(line)) return {};
  find_breaks(line);
  std::ranges::sort(breaks_,
                    [](const Break& x, const Break& y) { return x.t < y.t || (x.t == y.t && x.group < y.group); });
  walk(line, best);
  return found_;
}

bool eliminate(std::span<const double> basis, size_t count, size_t width, size_t at, std::span<double> out) {
  size_t pivot = 0;
  for (size_t v = 1; v < count; v++) {
    if (std::abs(basis[v * width + at]) > std::abs(basis[pivot * width + at])) pivot = v;
  }
  const double largest = basis[pivot * width + at];
  if (std::abs(largest) < kSingular) return false;
  const double* from = &basis[pivot * width];
  double* to = out.data();
  for (size_t v = 0; v < count; v++) {
    if (v == pivot) continue;
    const double* own = &basis[v * width];
    const double factor = own[at] / largest;
    for (size_t e = 0; e < width; e++) to[e] = own[e] - factor * from[e];
    to[at] = 0;
    to += width;
  }
  return true;
}

}  // namespace assay
