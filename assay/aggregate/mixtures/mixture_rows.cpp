#include "assay/aggregate/mixtures/mixture_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/aggregate/common.h"
#include "assay/aggregate/mixtures/simplex.h"
#include "assay/core/parallel.h"
#include "assay/evaluate/kernels/entropy.h"

namespace assay {
namespace {

// Numbers of mixtures that are made at once: the first cache or two.
constexpr size_t kNumbersAtOnce = 16384;
// Weights whose results are kept at once, at most.
constexpr size_t kResultsAtOnce = size_t{1} << 22;
constexpr size_t kPointsOfSegment = 16;
constexpr size_t kStarts = 4;
constexpr double kShortestStep = 1.0 / 1048576;

Matrix64 matrix_of_weights(const std::vector<std::vector<double>>& weights) {
  Matrix64 made(weights.size(), weights.empty() ? 0 : weights[0].size());
  for (size_t t = 0; t < weights.size(); t++) std::ranges::copy(weights[t], made.row(t).begin());
  return made;
}

std::vector<std::vector<double>> starting_weights(size_t members) {
  std::vector<std::vector<double>> made;
  for (size_t j = 0; j < members; j++) made.push_back(vertex_weights(members, j));
  if (members == 1) return made;
  made.push_back(representable_weights(std::vector<double>(members, 1 / static_cast<double>(members))));
  for (size_t j = 0; j < members; j++) {
    for (size_t k = j + 1; k < members; k++) {
      for (size_t i = 1; i < kPointsOfSegment; i++) {
        std::vector<double> weights(members, 0.0);
        weights[j] = static_cast<double>(i) / kPointsOfSegment;
        weights[k] = 1 - weights[j];
        made.push_back(std::move(weights));
      }
    }
  }
  return made;
}

}  // namespace

void mix_row(const Members& members, size_t row, std::span<const double> weights, std::span<double> scratch,
             std::span<float> out) {
  std::ranges::fill(scratch, 0.0);
  for (size_t j = 0; j < weights.size(); j++) {
    const float* values = members.of(j, row).data();
    for (size_t p = 0; p < scratch.size(); p++) scratch[p] += weights[j] * values[p];
  }
  store_row(scratch, out);
}

Explanations mixed_rows(const Members& members, std::span<const double> weights, const Context& context) {
  Explanations made;
  made.values = Matrix(members.rows(), members.players());
  const Context inner = context.quiet();
  parallel_blocks(inner, members.rows(), 64, [&](const Block& block) {
    std::vector<double> scratch(members.players());
    for (size_t r = block.begin; r < block.end; r++) {
      if (members.finite(r)) {
        mix_row(members, r, weights, scratch, made.values.row(r));
      } else {
        std::ranges::fill(made.values.row(r), std::numeric_limits<float>::quiet_NaN());
      }
    }
  });
  return made;
}

void mix_all(const Members& members, std::span<const double> weights, Combined& out, const Context& context,
             std::string_view task) {
  share_weights(weights, members.rows(), out);
  const Explanations mixed = mixed_rows(members, weights, context);
  each_row(members, out, context, task, [&](const MemberRow& row) {
    std::ranges::copy(mixed.values.row(row.row), out.values.row(row.row).begin());
    return std::string_view();
  });
}

std::vector<size_t> rows_of_nonzero_members(const Members& members) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < members.rows(); r++) {
    bool good = members.finite(r);
    for (size_t j = 0; j < members.size(); j++) good = good && !members.zero(j, r);
    if (good) rows.push_back(r);
  }
  return rows;
}

void each_mixture(const Members& members, std::span<const size_t> rows, MatrixView<const double> weights,
                  const std::function<void(size_t i, size_t first, MatrixView<const float> mixed)>& see,
                  const Context& context) {
  const size_t players = members.players();
  const size_t at_once = std::clamp<size_t>(kNumbersAtOnce / players, 1, weights.rows());
  const Context inner = context.quiet();
  const size_t at_a_time = std::max<size_t>(1, kNumbersAtOnce / (players * weights.rows()));
  parallel_blocks(inner, rows.size(), at_a_time, [&](const Block& block) {
    Matrix mixed(at_once, players);
    std::vector<double> scratch(players);
    for (size_t i = block.begin; i < block.end; i++) {
      for (size_t first = 0; first < weights.rows(); first += at_once) {
        const size_t here = std::min(at_once, weights.rows() - first);
        for (size_t t = 0; t < here; t++) mix_row(members, rows[i], weights.row(first + t), scratch, mixed.row(t));
        see(i, first, MatrixView<const float>(mixed.data(), here, players));
      }
    }
  });
}

std::vector<double> mean_complexities(const Members& members, std::span<const size_t> rows,
                                      MatrixView<const double> weights, double least_norm, const Context& context) {
  std::vector<double> made;
  const size_t at_once = std::max<size_t>(1, kResultsAtOnce / std::max<size_t>(1, rows.size()));
  for (size_t first = 0; first < weights.rows(); first += at_once) {
    const size_t here = std::min(at_once, weights.rows() - first);
    Matrix64 found(rows.size(), here);
    each_mixture(
        members, rows, weights.rows_between(first, first + here),
        [&](size_t i, size_t offset, MatrixView<const float> mixed) {
          row_entropies(mixed.data(), mixed.rows(), mixed.cols(), &found(i, offset));
          for (size_t t = 0; t < mixed.rows(); t++) {
            double square = 0;
            for (const float each : mixed.row(t)) square += static_cast<double>(each) * each;
            if (std::isnan(found(i, offset + t)) || square < least_norm * least_norm) {
              found(i, offset + t) = INFINITY;
            }
          }
        },
        context);
    std::vector<double> sums(here, 0.0);
    for (size_t i = 0; i < rows.size(); i++) {
      for (size_t t = 0; t < here; t++) sums[t] += found(i, t);
    }
    for (const double sum : sums) made.push_back(sum / static_cast<double>(rows.size()));
  }
  return made;
}

LeastComplexity search_least_complexity(const Members& members, std::span<const size_t> rows, double least_norm,
                                        const Context& context) {
  const auto values_of = [&](const std::vector<std::vector<double>>& weights) {
    return mean_complexities(members, rows, matrix_of_weights(weights).view(), least_norm, context);
  };
  const size_t m = members.size();
  const std::vector<std::vector<double>> starts = starting_weights(m);
  const std::vector<double> values = values_of(starts);
  std::vector<size_t> order(starts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t t) { return values[t]; });
  LeastComplexity best{starts[order[0]], values[order[0]]};
  for (size_t s = 0; s < std::min(kStarts, order.size()) && m > 1; s++) {
    LeastComplexity at{starts[order[s]], values[order[s]]};
    double step = 1.0 / (2 * kPointsOfSegment);
    while (step >= kShortestStep) {
      context.check_cancelled();
      std::vector<std::vector<double>> tried;
      for (size_t from = 0; from < m; from++) {
        if (at.weights[from] == 0) continue;
        for (size_t to = 0; to < m; to++) {
          if (to == from) continue;
          std::vector<double> weights = at.weights;
          const double moved = std::min(step, weights[from]);
          weights[from] -= moved;
          weights[to] += moved;
          tried.push_back(representable_weights(weights));
        }
      }
      const std::vector<double> found = values_of(tried);
      const auto least = static_cast<size_t>(std::ranges::min_element(found) - found.begin());
      if (found[least] < at.value) {
        at = {tried[least], found[least]};
      } else {
        step /= 2;
      }
    }
    if (at.value < best.value) best = at;
  }
  return best;
}

}  // namespace assay
