#include "assay/explain/games/triple_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "assay/explain/games/least_squares.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// How many triples a stage ends with, and of how many pairs each must be one.
constexpr std::array<size_t, 6> kStages = {4, 8, 16, 32, 64, 96};
constexpr size_t kPairsPerTriple = 4;
// How many must bring something, or there are no more stages.
constexpr size_t kTrialTriples = 8;
// Stages that may find nothing better before the search ends.
constexpr size_t kIdleStages = 2;
// How much wider the prior of these triples is than that of all others.
constexpr double kWider = 10000;
// With fewer pairs, what is left out of a selection says too little.
constexpr size_t kLeastPairsToSelect = 48;
// With more, a row's search takes longer than most models take for as many pairs again, which bring as much.
constexpr size_t kMostPairsToSelect = 512;
// As many pairs for each single player and each triple are no longer few.
constexpr double kPairsPerTerm = 2;
// Players whose triples are looked at, at most.
constexpr size_t kMostPlayersSeen = 32;
// Columns of B that are kept for other rows, in bytes.
constexpr size_t kMostBytesKept = size_t{64} << 20;

using Triple = std::array<uint16_t, 3>;

uint64_t key_of(const Triple& triple) {
  return uint64_t{triple[0]} << 32 | uint64_t{triple[1]} << 16 | uint64_t{triple[2]};
}

struct Candidate {
  Triple triple;
  float score = 0;
};

Eigen::Index index(size_t i) { return static_cast<Eigen::Index>(i); }

Eigen::Map<const Eigen::VectorXd> mapped(std::span<const double> vector) {
  return {vector.data(), index(vector.size())};
}

}  // namespace

bool TripleRegression::few_pairs(size_t players, size_t pairs) {
  const auto d = static_cast<double>(players);
  return static_cast<double>(pairs) < kPairsPerTerm * (d + d * (d - 1) * (d - 2) / 6);
}

bool TripleRegression::worthwhile(size_t players, size_t pairs) {
  return few_pairs(players, pairs) && pairs >= kLeastPairsToSelect && pairs <= kMostPairsToSelect &&
         players <= std::numeric_limits<uint16_t>::max();
}

// B's columns of triples that rows have used. All rows share them; which row found one first changes no bits.
class TripleRegression::Columns {
 public:
  // Writes columns of B as rows.
  void get(const CholeskySolver& solver, std::span<const Triple> triples, MatrixView<const double> products,
           MatrixView<double> to) {
    std::vector<size_t> missing;
    {
      const std::lock_guard lock(mutex_);
      for (size_t t = 0; t < triples.size(); t++) {
        const auto found = kept_.find(key_of(triples[t]));
        if (found == kept_.end()) {
          missing.push_back(t);
        } else {
          std::ranges::copy(found->second, to.row(t).begin());
        }
      }
    }
    if (missing.empty()) return;
    Matrix64 solved(missing.size(), to.cols());
    for (size_t m = 0; m < missing.size(); m++) {
      std::ranges::copy(products.row(missing[m]), solved.row(m).begin());
    }
    solver.solve(solved.view());
    const std::lock_guard lock(mutex_);
    for (size_t m = 0; m < missing.size(); m++) {
      std::ranges::copy(solved.row(m), to.row(missing[m]).begin());
      if ((kept_.size() + 1) * to.cols() * sizeof(double) > kMostBytesKept) continue;
      kept_.try_emplace(key_of(triples[missing[m]]), solved.row(m).begin(), solved.row(m).end());
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<double>> kept_;
};

// The search for one row.
class TripleRegression::Row {
 public:
  // `weights` are K^-1 y.
  Row(const TripleRegression& from, const Process& process, std::span<const double> sides,
      std::span<const double> weights, std::span<const uint8_t> counts)
      : from_(from),
        process_(process.solved),
        kept_(*process.columns),
        columns_(weights.size()),
        sides_(columns_),
        weights_(weights),
        counts_(counts),
        left_(weights.begin(), weights.end()) {
    std::ranges::copy(sides, sides_.begin() + 1);
    const size_t most = std::min(kStages.back(), sides.size() / kPairsPerTriple);
    products_ = Matrix64(most, columns_);
    solved_ = Matrix64(most, columns_);
    squares_ = Eigen::MatrixXd(index(most), index(most));
    const size_t probes = from.probes_.size();
    base_ = Eigen::MatrixXd(index(probes), index(probes));
    for (size_t a = 0; a < probes; a++) {
      for (size_t b = 0; b < probes; b++) base_(index(a), index(b)) = process_.probes(a, from.probes_[b]);
    }
    inverse_ = base_;
  }

  // The best of all stages.
  Fit search(std::span<const double> values, double bar) {
    look_at(values);
    Fit best;
    best.square = std::numeric_limits<double>::infinity();
    size_t idle = 0;
    for (const size_t stage : kStages) {
      if (stage > products_.rows() || idle == kIdleStages) break;
      if (triples_.size() >= kTrialTriples && !(best.square < bar)) break;
      const std::vector<Triple> found = largest(stage - triples_.size());
      if (triples_.size() + found.size() < stage) break;
      add(found);
      solve();
      idle++;
      if (!(square_ < best.square)) continue;
      idle = 0;
      best = found_fit();
    }
    return best;
  }
  Fit with(std::span<const Triple> triples) {
    add(triples);
    solve();
    return found_fit();
  }

 private:
  // Of many players, those with the largest values, in the order of their numbers.
  void look_at(std::span<const double> values) {
    seen_.resize(values.size());
    std::iota(seen_.begin(), seen_.end(), size_t{0});
    if (seen_.size() <= kMostPlayersSeen) return;
    std::ranges::stable_sort(seen_, [&](size_t a, size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    seen_.resize(kMostPlayersSeen);
    std::ranges::sort(seen_);
  }

  // u: what is left of y, times the inverse of its covariance, without the probes.
  std::vector<float> without_probes() const {
    const auto& probes = from_.probes_;
    Eigen::VectorXd at_probes(index(probes.size()));
    for (size_t k = 0; k < probes.size(); k++) at_probes[index(k)] = left_[probes[k]];
    const Eigen::VectorXd share = inverse_.ldlt().solve(at_probes);
    std::vector<double> made = left_;
    for (size_t k = 0; k < probes.size(); k++) {
      const auto row = process_.probes.row(k);
      const double factor = share[index(k)];
      for (size_t p = 0; p < columns_; p++) made[p] -= factor * row[p];
    }
    if (!triples_.empty()) {
      const Eigen::VectorXd through = factor_.solve(at_probes_ * share);
      for (size_t t = 0; t < triples_.size(); t++) {
        const auto row = solved_.row(t);
        const double factor = through[index(t)];
        for (size_t p = 0; p < columns_; p++) made[p] += factor * row[p];
      }
    }
    for (const size_t probe : probes) made[probe] = 0;
    return {made.begin(), made.end()};
  }

  std::vector<Candidate> candidates() const {
    const std::vector<float> u = without_probes();
    const size_t count = seen_.size();
    std::vector<Candidate> made;
    made.reserve(count * (count - 1) * (count - 2) / 6);
    Matrix left(count, columns_);
    Matrix right(count, columns_);
    for (size_t a = 0; a < count; a++) std::ranges::copy(from_.signs_.row(seen_[a]), right.row(a).begin());
    Matrix scores(count, count);
    for (size_t a = 0; a + 2 < count; a++) {
      const auto first = right.row(a);
      for (size_t b = a + 1; b + 1 < count; b++) {
        const auto second = right.row(b);
        const auto product = left.row(b);
        for (size_t p = 0; p < columns_; p++) product[p] = u[p] * first[p] * second[p];
      }
      const size_t from = a + 1;
      std::ranges::fill(scores.values(), 0.0F);
      product_of_rows({.m = count - from - 1,
                       .n = count - from,
                       .k = columns_,
                       .a = left.row(from).data(),
                       .a_row = columns_,
                       .b = right.row(from).data(),
                       .b_row = columns_,
                       .out = scores.data(),
                       .out_row = count});
      for (size_t b = from; b + 1 < count; b++) {
        for (size_t c = b + 1; c < count; c++) {
          const Triple triple = {static_cast<uint16_t>(seen_[a]), static_cast<uint16_t>(seen_[b]),
                                 static_cast<uint16_t>(seen_[c])};
          made.push_back({triple, std::abs(scores(b - from, c - from))});
        }
      }
    }
    return made;
  }

  std::vector<Triple> largest(size_t count) const {
    std::vector<Candidate> found = candidates();
    std::erase_if(found,
                  [&](const Candidate& each) { return std::ranges::find(triples_, each.triple) != triples_.end(); });
    count = std::min(count, found.size());
    std::ranges::partial_sort(found, found.begin() + static_cast<ptrdiff_t>(count),
                              [](const Candidate& a, const Candidate& b) {
                                return a.score != b.score ? a.score > b.score : a.triple < b.triple;
                              });
    std::vector<Triple> made;
    for (size_t t = 0; t < count; t++) made.push_back(found[t].triple);
    return made;
  }

  void add(std::span<const Triple> more) {
    const size_t count = more.size();
    const size_t first = triples_.size();
    for (size_t t = first; t < first + count; t++) {
      const Triple& triple = triples_.emplace_back(more[t - first]);
      const auto a = from_.signs_.row(triple[0]);
      const auto b = from_.signs_.row(triple[1]);
      const auto c = from_.signs_.row(triple[2]);
      for (size_t p = 0; p < columns_; p++) products_(t, p) = a[p] * b[p] * c[p];
    }
    kept_.get(process_.solver, more, products_.view().rows_between(first, first + count),
              solved_.view().rows_between(first, first + count));
    std::vector<double> column(first + count);
    for (size_t t = first; t < first + count; t++) {
      const auto before = std::span(column).first(t + 1);
      multiply(solved_.view().rows_between(0, t + 1), products_.row(t), before);
      for (size_t s = 0; s <= t; s++) {
        squares_(index(t), index(s)) = squares_(index(s), index(t)) = column[s];
      }
      squares_(index(t), index(t)) += 1 / (kWider * process_.triple);
    }
  }

  void solve() {
    const auto count = index(triples_.size());
    factor_ = squares_.topLeftCorner(count, count).llt();
    std::vector<double> right(triples_.size());
    multiply(solved_.view().rows_between(0, triples_.size()), sides_, right);
    const Eigen::VectorXd solution = factor_.solve(mapped(right));
    coefficients_.assign(solution.begin(), solution.end());
    left_.assign(weights_.begin(), weights_.end());
    for (size_t t = 0; t < triples_.size(); t++) {
      const auto row = solved_.row(t);
      for (size_t p = 0; p < columns_; p++) left_[p] -= coefficients_[t] * row[p];
    }
    const auto& probes = from_.probes_;
    at_probes_ = Eigen::MatrixXd(count, index(probes.size()));
    for (size_t t = 0; t < triples_.size(); t++) {
      for (size_t k = 0; k < probes.size(); k++) {
        at_probes_(index(t), index(k)) = solved_(t, probes[k]);
      }
    }
    const Eigen::MatrixXd half = factor_.matrixL().solve(at_probes_);
    inverse_ = base_ - half.transpose() * half;
    residuals_.resize(probes.size());
    scale_ = square_ = 0;
    for (size_t k = 0; k < probes.size(); k++) {
      const double own = inverse_(index(k), index(k));
      // Rounding may leave nothing of what is known of a pair from the others.
      residuals_[k] = own > 0 ? left_[probes[k]] / own : std::numeric_limits<double>::infinity();
      scale_ += residuals_[k] * residuals_[k] * own;
      if (counts_[k] != 0) square_ += residuals_[k] * residuals_[k];
    }
  }

  Fit found_fit() const {
    const size_t players = from_.players_;
    Fit fit;
    fit.triples = triples_;
    fit.residuals = residuals_;
    fit.square = square_;
    fit.scale = scale_;
    std::vector<double> rest = sides_;
    for (size_t t = 0; t < triples_.size(); t++) {
      for (size_t p = 0; p < columns_; p++) rest[p] -= coefficients_[t] * products_(t, p);
    }
    fit.values.resize(players);
    multiply(process_.values, rest, fit.values);
    Eigen::MatrixXd beside(index(triples_.size()), index(players));  // D'
    std::vector<double> column(players);
    for (size_t t = 0; t < triples_.size(); t++) {
      multiply(process_.values, products_.row(t), column);
      for (const uint16_t player : triples_[t]) {
        fit.values[player] += coefficients_[t] * 2 / 3;
        column[player] -= 2.0 / 3;
      }
      beside.row(index(t)) = mapped(column);
    }
    const Eigen::MatrixXd half = factor_.matrixL().solve(beside);
    fit.variances = process_.variances;
    for (size_t i = 0; i < players; i++) fit.variances[i] += half.col(index(i)).squaredNorm();
    fit.pair_residuals.resize(columns_ - 1);
    for (size_t p = 0; p + 1 < columns_; p++) {
      const Eigen::Index k = index(from_.nearest_[p]);
      fit.pair_residuals[p] = left_[1 + p] / inverse_(k, k);
    }
    return fit;
  }

  const TripleRegression& from_;
  const SolvedProcess& process_;
  Columns& kept_;
  size_t columns_;
  std::vector<double> sides_;
  std::span<const double> weights_;
  std::span<const uint8_t> counts_;
  std::vector<size_t> seen_;
  std::vector<Triple> triples_;
  Matrix64 products_;        // rows of Z'
  Matrix64 solved_;          // rows of B'
  Eigen::MatrixXd squares_;  // G
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::MatrixXd at_probes_;  // B' at the probes
  Eigen::MatrixXd base_;       // K^-1 at the probes
  Eigen::MatrixXd inverse_;    // the same with the triples
  std::vector<double> coefficients_;
  std::vector<double> left_;  // K^-1 (y - Z c)
  std::vector<double> residuals_;
  double scale_ = 0;
  double square_ = 0;
};

TripleRegression::TripleRegression(const PairDesign& design, std::span<const size_t> probes, SolvedProcess first,
                                   SolvedProcess second)
    : players_(design.coalitions.players()),
      nearest_(nearest_probes(design.pairs(), probes)),
      signs_(players_, design.pairs() + 1) {
  processes_[0] = {std::move(first), std::make_unique<Columns>()};
  processes_[1] = {std::move(second), std::make_unique<Columns>()};
  for (const size_t probe : probes) probes_.push_back(1 + probe);
  for (size_t i = 0; i < players_; i++) {
    for (size_t p = 0; p < signs_.cols(); p++) signs_(i, p) = design.coalitions.contains(1 + p, i) ? 1.0F : -1.0F;
  }
}

TripleRegression::TripleRegression(TripleRegression&&) noexcept = default;
TripleRegression& TripleRegression::operator=(TripleRegression&&) noexcept = default;
TripleRegression::~TripleRegression() = default;

std::vector<TripleRegression::Fit> TripleRegression::fit(MatrixView<const double> sides,
                                                         MatrixView<const double> values,
                                                         std::span<const uint8_t> counts,
                                                         std::span<const double> bars) const {
  std::vector<Fit> made(sides.rows());
  for (const Process& process : processes_) {
    const bool first = &process == processes_.data();
    Matrix64 weights(sides.rows(), signs_.cols());
    for (size_t r = 0; r < sides.rows(); r++) std::ranges::copy(sides.row(r), weights.row(r).begin() + 1);
    process.solved.solver.solve(weights.view());
    for (size_t r = 0; r < sides.rows(); r++) {
      Row row(*this, process, sides.row(r), weights.row(r), counts);
      if (first) {
        made[r] = row.search(values.row(r), bars[r]);
      } else if (made[r].square < bars[r]) {
        Fit other = row.with(made[r].triples);
        if (other.square < made[r].square) made[r] = std::move(other);
      }
    }
  }
  return made;
}

}  // namespace assay
