#include "assay/aggregate/hull/bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "assay/aggregate/complexity/segment.h"

namespace assay {
namespace {

// Of the largest l1 norm of a member: what rounding leaves, over many cuts, of a norm near 0.
constexpr double kCutNormNoise = 1e-14;
constexpr size_t kCutsAtATime = 64;

struct Vertex {
  std::vector<double> weights = {};
  std::vector<double> phi = {};
  std::vector<double> log_part = {};  // |phi| ln |phi|
  double norm = 0;                    // l1
  double squares = 0;
};

struct Simplex {
  double bound = 0;
  size_t made = 0;  // which one, to decide between equal bounds
  std::vector<size_t> vertices = {};

  bool operator<(const Simplex& other) const {
    return bound > other.bound || (bound == other.bound && made > other.made);
  }
};

// Where to cut: coordinate `at`, or the floor, on the edge between two of the simplex's vertices.
struct SimplexCut {
  bool floor = false;
  size_t at = 0;
  size_t from = 0;  // positions in the simplex
  size_t to = 0;
};

class Bounding {
 public:
  Bounding(const HullProblem& problem, HullPoint& best) : problem_(problem), best_(best) {}

  double run(size_t cuts, const Context& context) {
    Simplex all;
    for (size_t i = 0; i < problem_.size(); i++) {
      all.vertices.push_back(all_.size());
      all_.push_back(member(i));
    }
    double squares = 0;
    for (const Vertex& each : all_) {
      squares = std::max(squares, each.squares);
      noise_ = std::max(noise_, kCutNormNoise * each.norm);
    }
    push(std::move(all), std::max(0.0, collision_bound(problem_.least_norm, squares)));
    for (size_t cut = 0; cut < cuts && !open_.empty(); cut++) {
      if (cut % kCutsAtATime == 0) context.check_cancelled();
      const Simplex next = open_.top();
      open_.pop();
      // Nothing that is left can be lower.
      if (next.bound >= best_.entropy - kTiedEntropy) return best_.entropy;
      split(next);
    }
    return open_.empty() ? best_.entropy : std::min(best_.entropy, open_.top().bound);
  }

 private:
  Vertex member(size_t i) const {
    Vertex made;
    made.weights.assign(problem_.size(), 0.0);
    made.weights[i] = 1;
    made.phi.assign(problem_.values.row(i).begin(), problem_.values.row(i).end());
    finish(made);
    return made;
  }

  void finish(Vertex& vertex) const {
    vertex.log_part.resize(vertex.phi.size());
    for (size_t k = 0; k < vertex.phi.size(); k++) {
      const double size = std::abs(vertex.phi[k]);
      vertex.log_part[k] = size > 0 ? size * std::log(size) : 0;
      vertex.norm += size;
      vertex.squares += size * size;
    }
  }

  double collision_bound(double norm, double squares) const {
    norm = std::max(norm, problem_.floor);
    return norm > 0 ? 2 * std::log(norm) - std::log(squares) : 0.0;
  }

  bool below_floor(const Vertex& vertex) const { return vertex.norm < problem_.floor - noise_; }
  bool above_floor(const Vertex& vertex) const { return vertex.norm > problem_.floor + noise_; }

  void consider(const Vertex& vertex) {
    if (below_floor(vertex) || !(vertex.norm > 0)) return;
    const double entropy = entropy_of(vertex.phi);
    if (best_.improves(entropy, std::sqrt(vertex.squares))) best_.weights = vertex.weights;
  }

  void push(Simplex simplex, double at_least) {
    // The part of a simplex above the floor is in the hull of its vertices above it and what cuts find later.
    if (std::ranges::none_of(simplex.vertices, [&](size_t v) { return above_floor(all_[v]); })) return;
    simplex.bound = std::max(at_least, bound_of(simplex));
    simplex.made = made_++;
    if (simplex.bound < best_.entropy - kTiedEntropy) open_.push(std::move(simplex));
  }

  double bound_of(const Simplex& simplex) {
    const size_t columns = problem_.values.cols();
    varying_.clear();
    centre_.assign(columns, 0.0);
    changes_.assign(columns, false);
    for (size_t k = 0; k < columns; k++) {
      double least = 0;
      double most = 0;
      for (const size_t v : simplex.vertices) {
        least = std::min(least, all_[v].phi[k]);
        most = std::max(most, all_[v].phi[k]);
        centre_[k] += all_[v].phi[k];
      }
      if (least < 0 && most > 0) {
        changes_[k] = true;
        varying_.push_back(std::max(most, -least));
      }
    }
    std::ranges::sort(varying_, std::greater<>());
    logs_.clear();
    for (const double each : varying_) logs_.push_back(each * std::log(each));

    double found = std::numeric_limits<double>::infinity();
    double least_norm = found;
    double squares = 0;
    for (const size_t v : simplex.vertices) {
      found = std::min(found, bound_at(all_[v]));
      double along = 0;
      for (size_t k = 0; k < columns; k++) along += centre_[k] < 0 ? -all_[v].phi[k] : all_[v].phi[k];
      least_norm = std::min(least_norm, along);
      squares = std::max(squares, all_[v].squares);
    }
    return std::max(found, collision_bound(least_norm, squares));
  }

  double bound_at(const Vertex& vertex) const {
    double norm = 0;
    double logs = 0;
    for (size_t k = 0; k < vertex.phi.size(); k++) {
      if (changes_[k]) continue;
      norm += std::abs(vertex.phi[k]);
      logs += vertex.log_part[k];
    }
    if (norm == 0) return varying_.empty() ? std::numeric_limits<double>::infinity() : 0.0;
    double least = std::log(norm) - logs / norm;
    for (size_t r = 0; r < varying_.size(); r++) {
      norm += varying_[r];
      logs += logs_[r];
      least = std::min(least, std::log(norm) - logs / norm);
    }
    return least;
  }

  // The coordinate that reaches farthest on both sides of 0, on the edge between its extremes; else the floor.
  bool find_cut(const Simplex& simplex, SimplexCut& cut) const {
    double reach = 0;
    for (size_t k = 0; k < problem_.values.cols(); k++) {
      size_t least = 0;
      size_t most = 0;
      for (size_t p = 1; p < simplex.vertices.size(); p++) {
        const double value = all_[simplex.vertices[p]].phi[k];
        if (value < all_[simplex.vertices[least]].phi[k]) least = p;
        if (value > all_[simplex.vertices[most]].phi[k]) most = p;
      }
      const double own = std::min(-all_[simplex.vertices[least]].phi[k], all_[simplex.vertices[most]].phi[k]);
      if (own > reach) {
        reach = own;
        cut = {false, k, least, most};
      }
    }
    if (reach > 0) return true;
    for (size_t p = 0; p < simplex.vertices.size(); p++) {
      if (below_floor(all_[simplex.vertices[p]])) cut.from = p;
      if (above_floor(all_[simplex.vertices[p]])) cut.to = p;
    }
    cut.floor = true;
    return below_floor(all_[simplex.vertices[cut.from]]) && above_floor(all_[simplex.vertices[cut.to]]);
  }

  Vertex vertex_on(const Vertex& a, const Vertex& b, const SimplexCut& cut) const {
    const double at_a = cut.floor ? a.norm - problem_.floor : a.phi[cut.at];
    const double at_b = cut.floor ? b.norm - problem_.floor : b.phi[cut.at];
    const double t = at_a / (at_a - at_b);
    Vertex made;
    for (size_t i = 0; i < a.weights.size(); i++) made.weights.push_back((1 - t) * a.weights[i] + t * b.weights[i]);
    for (size_t k = 0; k < a.phi.size(); k++) {
      const double x = (1 - t) * a.phi[k];
      const double y = t * b.phi[k];
      made.phi.push_back(std::abs(x + y) <= kCancelledHull * (std::abs(x) + std::abs(y)) ? 0.0 : x + y);
    }
    if (!cut.floor) made.phi[cut.at] = 0;
    finish(made);
    return made;
  }

  void split(const Simplex& simplex) {
    SimplexCut cut;
    // Without a cut the signs are fixed and all vertices count: they were looked at when they were made.
    if (!find_cut(simplex, cut)) return;
    all_.push_back(vertex_on(all_[simplex.vertices[cut.from]], all_[simplex.vertices[cut.to]], cut));
    consider(all_.back());
    for (const size_t replaced : {cut.from, cut.to}) {
      Simplex half{0, 0, simplex.vertices};
      half.vertices[replaced] = all_.size() - 1;
      push(std::move(half), simplex.bound);
    }
  }

  const HullProblem& problem_;
  HullPoint& best_;
  std::vector<Vertex> all_;
  std::priority_queue<Simplex> open_;
  size_t made_ = 0;
  double noise_ = 0;
  std::vector<double> varying_;  // u, descending
  std::vector<double> logs_;
  std::vector<double> centre_;
  std::vector<char> changes_;
};

}  // namespace

double lower_by_bounding(const HullProblem& problem, size_t cuts, HullPoint& best, const Context& context) {
  return Bounding(problem, best).run(cuts, context);
}

}  // namespace assay
