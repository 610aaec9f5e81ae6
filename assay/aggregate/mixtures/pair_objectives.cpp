#include "assay/aggregate/mixtures/pair_objectives.h"

#include <algorithm>
#include <cmath>

#include "assay/aggregate/mixtures/unit_distances.h"
#include "assay/core/parallel.h"

namespace assay {
namespace {

// A norm this small beside 1, and a mixed difference this small beside those of the members that are mixed, is
// rounding.
constexpr double kCancelledNorm = 1e-7;
constexpr double kCancelledDifference = 3e-8;
// What rounding does to the square of a mixed difference, beside those of the members, with some room.
constexpr double kSquareRounding = 1e-15;
// Squares above this, beside those of the members, have digits enough.
constexpr double kNearCancelled = 1e-6;

// What one row has gathered: value, gradient, second derivatives (packed) one after another.
class RowSums {
 public:
  RowSums(size_t members, Fold fold, double* state) : members_(members), fold_(fold), state_(state) {}
  static size_t size(size_t members, Fold fold) {
    return 1 + members + (fold == Fold::mean ? packed_size(members) : 0);
  }

  void add(const PairSpan& pairs, std::span<const double> weights, std::vector<double>& scratch) {
    const size_t packed = packed_size(members_);
    scratch.resize(members_);
    for (size_t i = 0; i < pairs.count; i++) {
      const double* gram = pairs.grams + i * packed;
      const double square = multiply(gram, weights, scratch);
      const double length = std::sqrt(std::max(0.0, square));
      const bool smooth = length > kCancelledDifference * std::sqrt(members_square_);
      // A slope that is divided by too short a length would promise too much elsewhere.
      const double by = smooth ? pairs.factors[i] / std::sqrt(square + kSquareRounding * members_square_) : 0.0;
      if (by > 0 && square < kNearCancelled * members_square_) lower(gram, scratch);
      fold_ == Fold::mean ? add_one(gram, pairs.factors[i] * length, by, scratch)
                          : keep_larger(pairs.factors[i] * length, by, scratch);
    }
  }

 private:
  // out = G w; w' G w.
  double multiply(const double* gram, std::span<const double> weights, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    members_square_ = 0;
    for (size_t j = 0; j < members_; j++) {
      members_square_ += weights[j] * *gram;
      out[j] += *gram++ * weights[j];
      for (size_t k = j + 1; k < members_; k++, gram++) {
        out[j] += *gram * weights[k];
        out[k] += *gram * weights[j];
      }
    }
    double square = 0;
    for (size_t j = 0; j < members_; j++) square += weights[j] * out[j];
    return square;
  }

  // Takes off what rounding may have added to G w: |G_jk| is at most the product of both members' lengths.
  void lower(const double* gram, std::span<double> slope) const {
    const double share = kSquareRounding * std::sqrt(members_square_);
    for (size_t j = 0; j < members_; gram += members_ - j, j++) slope[j] -= share * std::sqrt(std::max(0.0, *gram));
  }

  // by: factor / length; 0 where there is a kink.
  void add_one(const double* gram, double value, double by, std::span<const double> slope) {
    state_[0] += value;
    if (by == 0) return;
    const double curve = by * by / value;
    double* second = state_ + 1 + members_;
    for (size_t j = 0; j < members_; j++) {
      state_[1 + j] += by * slope[j];
      const double share = curve * slope[j];
      for (size_t k = j; k < members_; k++) *second++ += by * *gram++ - share * slope[k];
    }
  }

  void keep_larger(double value, double by, std::span<const double> slope) {
    if (!(value > state_[0])) return;
    state_[0] = value;
    for (size_t j = 0; j < members_; j++) state_[1 + j] = by * slope[j];
  }

  size_t members_;
  Fold fold_;
  double* state_;
  double members_square_ = 0;  // of the last matrix: the weighted mean of its diagonal
};

SublinearPoint point_of(size_t members, Fold fold, std::span<const double> state) {
  SublinearPoint made;
  made.value = state[0];
  made.gradient.assign(state.begin() + 1, state.begin() + 1 + static_cast<std::ptrdiff_t>(members));
  if (fold != Fold::mean) return made;
  made.hessian = Matrix64(members, members);
  const double* second = state.data() + 1 + members;
  for (size_t j = 0; j < members; j++) {
    for (size_t k = j; k < members; k++) made.hessian(j, k) = made.hessian(k, j) = *second++;
  }
  return made;
}

double norm_of_square(double square) {
  const double norm = std::sqrt(std::max(0.0, square));
  return norm > kCancelledNorm ? norm : 0.0;
}

double unit_distance(double square, double norm_a, double norm_b) {
  if (norm_a == 0 || norm_b == 0) return norm_a == norm_b ? 0.0 : 1.0;
  const double apart = norm_a - norm_b;
  return std::sqrt(std::clamp((square - apart * apart) / (norm_a * norm_b), 0.0, 4.0));
}

}  // namespace

SublinearPoint mixture_sensitivity(const PairGrams& grams, Fold fold, std::span<const double> weights,
                                   const Context& context) {
  const size_t members = weights.size();
  Matrix64 states(grams.rows().size(), RowSums::size(members, fold));
  grams.each_pair(
      false,
      [&](size_t i, const PairSpan& pairs) {
        std::vector<double> scratch;
        RowSums(members, fold, states.row(i).data()).add(pairs, weights, scratch);
      },
      context);
  std::vector<double> total(states.cols(), 0.0);
  const auto rows = static_cast<double>(states.rows());
  for (size_t i = 0; i < states.rows(); i++) {
    const double by = fold == Fold::mean ? 1 / static_cast<double>(grams.counts()[i]) : 1.0;
    for (size_t k = 0; k < total.size(); k++) total[k] += by * states(i, k);
  }
  for (double& each : total) each /= rows;
  return point_of(members, fold, total);
}

SublinearPoint mixture_sensitivity(const PairSpan& pairs, Fold fold, std::span<const double> weights) {
  std::vector<double> state(RowSums::size(weights.size(), fold), 0.0);
  std::vector<double> scratch;
  RowSums(weights.size(), fold, state.data()).add(pairs, weights, scratch);
  if (fold == Fold::mean) {
    for (double& each : state) each /= static_cast<double>(pairs.count);
  }
  return point_of(weights.size(), fold, state);
}

std::vector<double> UnitSensitivity::means(MatrixView<const double> weights, const Context& context) const {
  const WeightBlocks blocked = block_weights(weights);
  const auto norms_of = [&](const Matrix64& of) {
    Matrix64 norms(of.rows(), blocked.width());
    const Context inner = context.quiet();
    parallel_blocks(inner, of.rows(), 64, [&](const Block& block) {
      for (size_t r = block.begin; r < block.end; r++) {
        double* squares = norms.row(r).data();
        for (const WeightBlock& each : blocked.blocks) {
          const double* by = each.products.data();
          for (const uint32_t entry : each.entries) {
            for (size_t t = 0; t < kUnitWidth; t++) squares[t] += of(r, entry) * by[t];
            by += kUnitWidth;
          }
          squares += kUnitWidth;
        }
        for (double& each : norms.row(r)) each = norm_of_square(each);
      }
    });
    return norms;
  };
  const Matrix64 row_norms = norms_of(row_grams_);
  const Matrix64 pool_norms = norms_of(pool_grams_);
  const size_t packed = packed_size(grams_.members());
  Matrix64 sums(grams_.rows().size(), blocked.width());
  grams_.each_pair(
      false,
      [&](size_t i, const PairSpan& pairs) {
        add_unit_distances(pairs, packed, {blocked, row_norms.row(i).data(), pool_norms.data()}, sums.row(i).data());
      },
      context);
  std::vector<double> made(weights.rows(), 0.0);
  for (size_t i = 0; i < sums.rows(); i++) {
    for (size_t t = 0; t < made.size(); t++) {
      made[blocked.order[t]] += sums(i, t) / static_cast<double>(grams_.counts()[i]);
    }
  }
  for (double& each : made) each /= static_cast<double>(sums.rows());
  return made;
}

double UnitSensitivity::scale(const Context& context) const {
  if (!grams_.weighted()) return 1;
  std::vector<double> sums(grams_.rows().size(), 0.0);
  grams_.each_pair(
      false,
      [&](size_t i, const PairSpan& pairs) {
        for (size_t z = 0; z < pairs.count; z++) sums[i] += pairs.factors[z];
      },
      context);
  double made = 0;
  for (size_t i = 0; i < sums.size(); i++) made += sums[i] / static_cast<double>(grams_.counts()[i]);
  return made / static_cast<double>(sums.size());
}

double UnitSensitivity::of_row(size_t i, const PairSpan& pairs, Fold fold, std::span<const double> weights) const {
  const std::vector<double> products = packed_products(weights);
  const double norm = norm_of_square(packed_sum(row_grams_.row(i), products));
  double found = 0;
  for (size_t z = 0; z < pairs.count; z++) {
    const std::span<const double> gram(pairs.grams + z * products.size(), products.size());
    const double other = norm_of_square(packed_sum(pool_grams_.row(pairs.others[z]), products));
    const double apart = pairs.factors[z] * unit_distance(packed_sum(gram, products), norm, other);
    found = fold == Fold::mean ? found + apart / static_cast<double>(pairs.count) : std::max(found, apart);
  }
  return found;
}

}  // namespace assay
