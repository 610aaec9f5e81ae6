#include "assay/aggregate/mixtures/pair_objectives.h"

#include <algorithm>
#include <cmath>

#include "assay/core/parallel.h"

namespace assay {
namespace {

// A mixed difference this small beside the members' differences, and a norm this small beside 1, is rounding.
constexpr double kCancelled = 1e-7;

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
      const bool smooth = length > kCancelled * std::sqrt(largest_);
      fold_ == Fold::mean ? add_one(gram, pairs.factors[i], length, smooth, scratch)
                          : keep_larger(pairs.factors[i], length, smooth, scratch);
    }
  }

 private:
  // out = G w; w' G w.
  double multiply(const double* gram, std::span<const double> weights, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    largest_ = 0;
    for (size_t j = 0; j < members_; j++) {
      largest_ = std::max(largest_, *gram);
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

  void add_one(const double* gram, double factor, double length, bool smooth, std::span<const double> slope) {
    state_[0] += factor * length;
    if (!smooth) return;
    const double by = factor / length;
    const double curve = by / length / length;
    double* second = state_ + 1 + members_;
    for (size_t j = 0; j < members_; j++) {
      state_[1 + j] += by * slope[j];
      const double share = curve * slope[j];
      for (size_t k = j; k < members_; k++) *second++ += by * *gram++ - share * slope[k];
    }
  }

  void keep_larger(double factor, double length, bool smooth, std::span<const double> slope) {
    if (!(factor * length > state_[0])) return;
    state_[0] = factor * length;
    for (size_t j = 0; j < members_; j++) state_[1 + j] = smooth ? factor / length * slope[j] : 0.0;
  }

  size_t members_;
  Fold fold_;
  double* state_;
  double largest_ = 0;  // diagonal entry of the last matrix
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

double norm_of(std::span<const double> gram, std::span<const double> products) {
  const double norm = std::sqrt(std::max(0.0, packed_sum(gram, products)));
  return norm > kCancelled ? norm : 0.0;
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
  const size_t tried = weights.rows();
  const size_t packed = packed_size(grams_.members());
  // By weights, so that the loop over them is the inner one.
  Matrix64 products(packed, tried);
  std::vector<std::vector<double>> of_weights;
  for (size_t t = 0; t < tried; t++) {
    of_weights.push_back(packed_products(weights.row(t)));
    for (size_t k = 0; k < packed; k++) products(k, t) = of_weights[t][k];
  }
  const auto norms_of = [&](const Matrix64& of) {
    Matrix64 norms(of.rows(), tried);
    Context inner = context;
    inner.progress = nullptr;
    parallel_blocks(inner, of.rows(), 64, [&](const Block& block) {
      for (size_t r = block.begin; r < block.end; r++) {
        for (size_t t = 0; t < tried; t++) norms(r, t) = norm_of(of.row(r), of_weights[t]);
      }
    });
    return norms;
  };
  const Matrix64 row_norms = norms_of(row_grams_);
  const Matrix64 pool_norms = norms_of(pool_grams_);
  Matrix64 sums(grams_.rows().size(), tried);
  grams_.each_pair(
      false,
      [&](size_t i, const PairSpan& pairs) {
        std::vector<double> squares(tried);
        const std::span<double> sum = sums.row(i);
        for (size_t z = 0; z < pairs.count; z++) {
          std::ranges::fill(squares, 0.0);
          for (size_t k = 0; k < packed; k++) {
            const double entry = pairs.grams[z * packed + k];
            const double* by = products.row(k).data();
            for (size_t t = 0; t < tried; t++) squares[t] += entry * by[t];
          }
          const std::span<const double> norms = pool_norms.row(pairs.others[z]);
          for (size_t t = 0; t < tried; t++) {
            sum[t] += pairs.factors[z] * unit_distance(squares[t], row_norms(i, t), norms[t]);
          }
        }
      },
      context);
  std::vector<double> made(tried, 0.0);
  for (size_t i = 0; i < sums.rows(); i++) {
    for (size_t t = 0; t < tried; t++) made[t] += sums(i, t) / static_cast<double>(grams_.counts()[i]);
  }
  for (double& each : made) each /= static_cast<double>(sums.rows());
  return made;
}

double UnitSensitivity::of_row(size_t i, const PairSpan& pairs, Fold fold, std::span<const double> weights) const {
  const std::vector<double> products = packed_products(weights);
  const double norm = norm_of(row_grams_.row(i), products);
  double found = 0;
  for (size_t z = 0; z < pairs.count; z++) {
    const std::span<const double> gram(pairs.grams + z * products.size(), products.size());
    const double other = norm_of(pool_grams_.row(pairs.others[z]), products);
    const double apart = pairs.factors[z] * unit_distance(packed_sum(gram, products), norm, other);
    found = fold == Fold::mean ? found + apart / static_cast<double>(pairs.count) : std::max(found, apart);
  }
  return found;
}

}  // namespace assay
