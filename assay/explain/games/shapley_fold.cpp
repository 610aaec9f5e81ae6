#include "assay/explain/games/shapley_fold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/shapley_fold.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

#ifndef ASSAY_SHAPLEY_FOLD_CONSTANTS
#define ASSAY_SHAPLEY_FOLD_CONSTANTS
namespace assay {
inline constexpr size_t kColumnBits = 6;
inline constexpr size_t kColumns = size_t{1} << kColumnBits;
}  // namespace assay
#endif

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// column_sums[a] += t and row_sum = sum of t, with t = weights[a] * (values[a] - empty), for one row of 64 columns.
HWY_INLINE double add_row(const float* HWY_RESTRICT values, const double* HWY_RESTRICT weights, double empty,
                          double* HWY_RESTRICT column_sums) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const size_t lanes = hn::Lanes(d);
  const auto constant = hn::Set(d, empty);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  for (size_t a = 0; a < kColumns; a += 2 * lanes) {
    const size_t b = a + lanes;
    const auto t0 =
        hn::Mul(hn::LoadU(d, weights + a), hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, values + a)), constant));
    const auto t1 =
        hn::Mul(hn::LoadU(d, weights + b), hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, values + b)), constant));
    hn::StoreU(hn::Add(hn::LoadU(d, column_sums + a), t0), d, column_sums + a);
    hn::StoreU(hn::Add(hn::LoadU(d, column_sums + b), t1), d, column_sums + b);
    sum0 = hn::Add(sum0, t0);
    sum1 = hn::Add(sum1, t1);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

// Row r of the values has the weights for `others` plus the bits of r.
void add_rows(const float* values, size_t rows, const double* weights, size_t others, double empty, double* row_sums,
              double* column_sums) {
  for (size_t r = 0; r < rows; r++) {
    const size_t size = others + hwy::PopCount(r);
    row_sums[r] = add_row(values + r * kColumns, weights + size * kColumns, empty, column_sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <bit>
#include <cassert>

#include "assay/explain/common.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

// Of float64 sums of 2^24 terms.
constexpr double kDust = 0x1p-44;

HWY_EXPORT(add_rows);

constexpr size_t kPartBits = 14;

// with[i] += sum of the entries whose index has bit i. Folds the halves onto each other, so the entries are lost.
void fold_halves(std::span<double> sums, double* with) {
  for (size_t half = sums.size() / 2; half > 0; half /= 2) {
    double upper = 0;
    for (size_t k = 0; k < half; k++) {
      upper += sums[half + k];
      sums[k] += sums[half + k];
    }
    with[std::countr_zero(half)] += upper;
  }
}

}  // namespace

ShapleyFold::ShapleyFold(size_t players)
    : players_(players), columns_(size_t{1} << std::min(players, kColumnBits)), weights_((players + 1) * columns_) {
  assert(players >= 1 && players <= kMostExactPlayers);
  std::vector<double> joining(players + 1);  // w, and 0 for the coalition that nobody can join
  double choose = 1;
  for (size_t s = 0; s < players; s++) {
    joining[s] = 1 / (static_cast<double>(players) * choose);
    choose = choose * static_cast<double>(players - 1 - s) / static_cast<double>(s + 1);
  }
  for (size_t others = 0; others <= players; others++) {
    for (size_t a = 0; a < columns_; a++) {
      const size_t size = others + static_cast<size_t>(std::popcount(a));
      if (size == 0 || size > players) continue;
      weights_[others * columns_ + a] = joining[size - 1] + joining[size];
    }
  }
  const size_t count = size_t{1} << std::min(players, kPartBits);
  for (uint64_t first = 0; first < uint64_t{1} << players; first += count) {
    design_.push_back(Coalitions::range(players, first, count));
  }
}

void ShapleyFold::add(Sums& sums, size_t part, std::span<const float> values) const {
  if (part == 0) sums = {.with = {}, .empty = static_cast<double>(values[0]), .full = 0};
  std::array<double, kColumns> column_sums = {};
  std::array<double, (size_t{1} << kPartBits) / kColumns> row_sums;
  const size_t rows = values.size() / columns_;
  if (columns_ == kColumns) {
    const auto others = static_cast<size_t>(std::popcount(design_[part].first()));
    HWY_DYNAMIC_DISPATCH(add_rows)
    (values.data(), rows, weights_.data(), others, sums.empty, row_sums.data(), column_sums.data());
  } else {
    row_sums[0] = 0;
    for (size_t a = 0; a < columns_; a++) {
      column_sums[a] = weights_[a] * (static_cast<double>(values[a]) - sums.empty);
    }
  }
  double total = 0;
  for (size_t r = 0; r < rows; r++) total += row_sums[r];
  const size_t column_bits = std::min(players_, kColumnBits);
  fold_halves(std::span(column_sums).first(columns_), sums.with.data());
  fold_halves(std::span(row_sums).first(rows), sums.with.data() + column_bits);
  for (size_t i = kPartBits; i < players_; i++) {
    if ((design_[part].first() >> i & 1) != 0) sums.with[i] += total;
  }
  if (part + 1 == design_.size()) sums.full = static_cast<double>(values.back()) - sums.empty;
}

void ShapleyFold::shapley_values(const Sums& sums, std::span<double> values) const {
  assert(values.size() == players_);
  double total = -sums.full;
  for (size_t i = 0; i < players_; i++) total += sums.with[i];
  const double common = total / static_cast<double>(players_);
  for (size_t i = 0; i < players_; i++) {
    values[i] = sums.with[i] - common;
    // What two such sums differ by from rounding alone is nothing: a player that takes no part gets 0, not dust that
    // would count as a feature. Values of float32 have long lost such digits.
    if (std::abs(values[i]) < kDust * std::max(std::abs(sums.with[i]), std::abs(common))) values[i] = 0;
  }
}

void play_all_coalitions(const Game& game, std::span<const size_t> rows, Attributions& out, const Context& context) {
  struct State {
    ShapleyFold::Sums sums;
    VectorMoments over_references;
  };
  const size_t players = game.players();
  const ShapleyFold fold(players);
  play(
      game, rows, fold.design(), context, "Shapley values",
      [&](size_t) { return State{{}, VectorMoments(players, game.strata())}; },
      [&](State& state, size_t, size_t, size_t part, std::span<const float> values) {
        fold.add(state.sums, part, values);
        if (part + 1 < fold.design().size()) return;
        std::array<double, kMostExactPlayers> phi;
        fold.shapley_values(state.sums, std::span(phi).first(players));
        state.over_references.add(std::span(phi).first(players));
      },
      [&](State& state, size_t row) {
        state.over_references.store(out.values.row(row),
                                    out.background_error.empty() ? std::span<float>() : out.background_error.row(row));
      });
  out.evaluations += (uint64_t{1} << players) * rows.size() * game.references();
}

}  // namespace assay
#endif
