#include "assay/aggregate/hull/enumerate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/aggregate/hull/line.h"

namespace assay {
namespace {

// Lines, and what leads to them, between two looks at whether the user gave up.
constexpr size_t kLinesAtATime = 512;
// Steps of one descent; each lowers the entropy, so that it ends by itself long before.
constexpr size_t kMostDescentSteps = 1000;

// A member as the first basis vector of its own: weight 1, then its group values.
void write_member(const HullProblem& problem, size_t member, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  out[member] = 1;
  std::ranges::copy(problem.groups.row(member), out.begin() + static_cast<ptrdiff_t>(problem.size()));
}

class Enumeration {
 public:
  Enumeration(const HullProblem& problem, HullPoint& best, const Context& context)
      : problem_(problem),
        best_(best),
        context_(context),
        width_(problem.size() + problem.group_count()),
        scan_(problem),
        levels_(problem.size() + 1) {
    for (size_t count = 2; count < levels_.size(); count++) levels_[count].resize(count * width_);
  }

  void run() {
    std::vector<size_t> support;
    choose(0, support);
  }

 private:
  void choose(size_t next, std::vector<size_t>& support) {
    if (next == problem_.size()) {
      if (support.size() < 2) return;
      for (size_t v = 0; v < support.size(); v++) {
        write_member(problem_, support[v], std::span(levels_[support.size()]).subspan(v * width_, width_));
      }
      descend(support.size(), 0);
      return;
    }
    choose(next + 1, support);
    // Of more members than groups that could vanish, and one, none is the support of a vertex.
    if (support.size() > problem_.group_count()) return;
    support.push_back(next);
    choose(next + 1, support);
    support.pop_back();
  }

  // Whether some combination of the basis with factors above 0 makes entry `at` zero, and not all do.
  bool can_vanish(std::span<const double> basis, size_t count, size_t at) const {
    bool above = false;
    bool below = false;
    for (size_t v = 0; v < count; v++) {
      above = above || basis[v * width_ + at] > 0;
      below = below || basis[v * width_ + at] < 0;
    }
    return above && below;
  }

  bool has_weights(std::span<const double> basis, size_t count) const {
    for (size_t i = 0; i < problem_.size(); i++) {
      bool above = false;
      bool none = true;
      for (size_t v = 0; v < count; v++) {
        above = above || basis[v * width_ + i] > 0;
        none = none && basis[v * width_ + i] == 0;
      }
      if (!above && !none) return false;
    }
    return true;
  }

  void descend(size_t count, size_t first) {
    // Before anything may end here: of many members most supports come to no line.
    if (++looked_ % kLinesAtATime == 0) context_.check_cancelled();
    const std::span<const double> basis = levels_[count];
    if (!has_weights(basis, count)) return;
    if (count == 2) {
      if (first == problem_.group_count() && !problem_.floor_matters()) return;
      scan_.lower({basis.subspan(0, width_), basis.subspan(width_, width_), first}, best_);
      return;
    }
    const std::span<double> next = levels_[count - 1];
    for (size_t g = first; g < problem_.group_count(); g++) {
      const size_t at = problem_.size() + g;
      if (!can_vanish(basis, count, at) || !eliminate(basis, count, width_, at, next)) continue;
      descend(count - 1, g + 1);
    }
  }

  const HullProblem& problem_;
  HullPoint& best_;
  const Context& context_;
  size_t width_;
  LineScan scan_;
  std::vector<std::vector<double>> levels_;  // by the number of basis vectors
  size_t looked_ = 0;
};

void offer(const HullPoint& point, HullPoint& best) {
  if (best.improves(point.entropy, point.length)) best.weights = point.weights;
}

// A vertex with what is tight there: as many as there are members, less one.
struct Corner {
  HullPoint point = {};
  std::vector<TightAt> tight = {};
};

class Descent {
 public:
  explicit Descent(const HullProblem& problem)
      : problem_(problem),
        width_(problem.size() + problem.group_count()),
        scan_(problem),
        basis_(problem.size() * width_),
        next_(problem.size() * width_) {}

  // Follows lines down from the corner until none leads lower.
  void run(Corner corner, HullPoint& best) {
    for (size_t step = 0; step < kMostDescentSteps; step++) {
      Corner lowest = corner;
      for (size_t dropped = 0; dropped < corner.tight.size(); dropped++) {
        if (!line_without(corner, dropped)) continue;
        const auto found = scan_.lower(line_, lowest.point);
        if (!found) continue;
        lowest.tight = corner.tight;
        lowest.tight[dropped] = *found;
      }
      offer(lowest.point, best);
      if (!(lowest.point.entropy < corner.point.entropy)) return;
      // A point at the floor is no vertex of the arrangement: good, but no place to go on from.
      if (std::ranges::any_of(lowest.tight, [](const TightAt& t) { return t.kind == TightAt::Kind::floor; })) return;
      corner = std::move(lowest);
    }
  }

 private:
  bool line_without(const Corner& corner, size_t dropped) {
    size_t count = 0;
    for (size_t i = 0; i < problem_.size(); i++) {
      bool vanishes = false;
      for (size_t c = 0; c < corner.tight.size(); c++) {
        vanishes =
            vanishes || (c != dropped && corner.tight[c].kind == TightAt::Kind::weight && corner.tight[c].index == i);
      }
      if (!vanishes) write_member(problem_, i, std::span(basis_).subspan(count++ * width_, width_));
    }
    for (size_t c = 0; c < corner.tight.size(); c++) {
      if (c == dropped || corner.tight[c].kind != TightAt::Kind::group) continue;
      if (count < 2 || !eliminate(basis_, count, width_, problem_.size() + corner.tight[c].index, next_)) return false;
      std::swap(basis_, next_);
      count--;
    }
    if (count != 2) return false;
    const std::span<const double> both = basis_;
    line_ = {both.subspan(0, width_), both.subspan(width_, width_), 0, true};
    return true;
  }

  const HullProblem& problem_;
  size_t width_;
  LineScan scan_;
  std::vector<double> basis_;
  std::vector<double> next_;
  LineRequest line_ = {};
};

Corner member_corner(const HullProblem& problem, size_t member) {
  Corner made{problem.vertex(member)};
  for (size_t i = 0; i < problem.size(); i++) {
    if (i != member) made.tight.push_back({TightAt::Kind::weight, i});
  }
  return made;
}

}  // namespace

void lower_by_enumeration(const HullProblem& problem, HullPoint& best, const Context& context) {
  Enumeration(problem, best, context).run();
}

void lower_by_descent(const HullProblem& problem, size_t edges, HullPoint& best, const Context& context) {
  Descent descent(problem);
  LineScan scan(problem);
  const size_t width = problem.size() + problem.group_count();
  std::vector<double> a(width);
  std::vector<double> b(width);
  std::vector<Corner> starts;
  for (size_t i = 0; i < problem.size(); i++) {
    context.check_cancelled();
    for (size_t j = 0; j < i; j++) {
      write_member(problem, i, a);
      write_member(problem, j, b);
      Corner corner = member_corner(problem, i);
      // Also vertices that are more complex than the members: they may lead lower.
      corner.point.entropy = std::numeric_limits<double>::infinity();
      const auto found = scan.lower({a, b, 0, false}, corner.point);
      if (!found) continue;
      offer(corner.point, best);
      if (found->kind != TightAt::Kind::group) continue;
      *std::ranges::find(corner.tight, j, &TightAt::index) = *found;
      starts.push_back(std::move(corner));
    }
  }
  std::ranges::stable_sort(starts, {}, [](const Corner& corner) { return corner.point.entropy; });
  starts.resize(std::min(starts.size(), edges));
  for (size_t i = 0; i < problem.size(); i++) starts.push_back(member_corner(problem, i));
  for (Corner& start : starts) {
    context.check_cancelled();
    descent.run(std::move(start), best);
  }
}

}  // namespace assay
