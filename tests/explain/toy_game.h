// Games given as functions, for tests of what sees only a game, and what the Shapley estimators' tests share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/random.h"
#include "assay/explain/games/game.h"

namespace assay::testing {

// v(row, reference, coalition), the coalition as words of 64 players. It must be safe to call from several threads.
using ToyValue = std::function<double(size_t row, size_t reference, std::span<const uint64_t> coalition)>;
// v(bits) of at most 64 players.
using MaskValue = std::function<double(uint64_t)>;

struct ToyShape {
  size_t players = 1;
  size_t rows = 1;
  size_t references = 1;
  bool concurrent = true;
};

class ToyGame final : public Game {
 public:
  ToyGame(ToyShape shape, ToyValue value) : shape_(shape), value_(std::move(value)) {}
  // One row, one reference row.
  ToyGame(size_t players, MaskValue value)
      : ToyGame({.players = players}, [value = std::move(value)](size_t, size_t, std::span<const uint64_t> coalition) {
          return value(coalition[0]);
        }) {}

  size_t players() const override { return shape_.players; }
  size_t rows() const override { return shape_.rows; }
  size_t references() const override { return shape_.references; }
  bool concurrent() const override { return shape_.concurrent; }
  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context&) const override {
    if (std::this_thread::get_id() != home_) asked_from_elsewhere_ = true;
    evaluations_ += rows.size() * coalitions.size();
    std::vector<uint64_t> words(coalitions.words());
    for (size_t c = 0; c < coalitions.size(); c++) {
      for (size_t w = 0; w < words.size(); w++) words[w] = coalitions.word(c, w);
      for (size_t i = 0; i < rows.size(); i++) values(i, c) = static_cast<float>(value_(rows[i], reference, words));
    }
  }

  // Values that were asked for.
  uint64_t evaluations() const { return evaluations_; }
  // Whether any thread asked but the one that made the game.
  bool asked_from_elsewhere() const { return asked_from_elsewhere_; }

 private:
  ToyShape shape_;
  ToyValue value_;
  std::thread::id home_ = std::this_thread::get_id();
  mutable std::atomic<uint64_t> evaluations_ = 0;
  mutable std::atomic<bool> asked_from_elsewhere_ = false;
};

// A method's answer to a game.
struct Played {
  Matrix values;
  Attributions out;
};

// method(game, attributions, context)
template <class Method>
Played play_toy(const Game& game, const Method& method, unsigned threads = 1, uint64_t seed = 0) {
  Played made{Matrix(game.rows(), game.players()), {}};
  made.out.values = made.values.view();
  Context context;
  context.threads = threads;
  context.seed = seed;
  method(game, made.out, context);
  return made;
}

inline void expect_near(std::span<const float> values, const std::vector<double>& expected, double relative = 1e-6) {
  ASSERT_EQ(values.size(), expected.size());
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < expected.size(); i++) {
    EXPECT_NEAR(values[i], expected[i], relative * std::max(scale, 1.0)) << "player " << i;
  }
}

// A value for each coalition, independent of each other. Multiples of 1/64, so that sums of two are exact.
inline std::vector<double> random_table(size_t players, uint64_t seed) {
  std::vector<double> values(size_t{1} << players);
  RandomStream random(seed, "toy table");
  for (double& value : values) value = static_cast<double>(random.below(1025)) / 64 - 8;
  return values;
}

inline MaskValue table_value(std::vector<double> values) {
  return [values = std::make_shared<std::vector<double>>(std::move(values))](uint64_t mask) { return (*values)[mask]; };
}

// A network of `hidden` leaky ReLUs whose inputs are the players that are there, each row and reference row another.
inline ToyValue network_value(size_t players, size_t hidden, uint64_t seed) {
  return [=](size_t row, size_t reference, std::span<const uint64_t> coalition) {
    double value = 0;
    RandomStream random(seed, "toy network", row, static_cast<uint32_t>(reference));
    for (size_t h = 0; h < hidden; h++) {
      double sum = 0.3 * random.normal();
      for (size_t i = 0; i < players; i++) {
        const double weight = random.normal();
        if ((coalition[i / 64] >> i % 64 & 1) != 0) sum += 1.5 * weight / std::sqrt(static_cast<double>(players));
      }
      value += random.normal() * (sum > 0 ? sum : 0.01 * sum);
    }
    return value;
  };
}

// Shapley values by their definition: the mean over all orders of the players of what each adds.
inline std::vector<double> brute_force_shapley(size_t players, const MaskValue& value) {
  std::vector<size_t> order(players);
  for (size_t i = 0; i < players; i++) order[i] = i;
  std::vector<double> sums(players);
  double orders = 0;
  do {
    uint64_t before = 0;
    for (const size_t player : order) {
      sums[player] += value(before | uint64_t{1} << player) - value(before);
      before |= uint64_t{1} << player;
    }
    orders++;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& sum : sums) sum /= orders;
  return sums;
}

inline bool equal_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.values().size() * sizeof(float)) == 0);
}

// The same bits on any number of threads, from concurrent games and others, and when a row is played alone; other games
// are asked from the calling thread alone; and evaluations are counted.
template <class Method>
void expect_one_answer(size_t players, size_t rows, size_t references, const Method& method) {
  const ToyValue value = network_value(players, 4, 11);
  const ToyGame game({players, rows, references, true}, value);
  const Played one = play_toy(game, method, 1, 3);
  EXPECT_EQ(one.out.evaluations, game.evaluations());
  for (const bool concurrent : {true, false}) {
    for (const unsigned threads : {1U, 2U, 7U}) {
      const ToyGame other({players, rows, references, concurrent}, value);
      const Played again = play_toy(other, method, threads, 3);
      EXPECT_TRUE(equal_bits(one.values, again.values)) << threads << " threads, concurrent " << concurrent;
      EXPECT_TRUE(equal_bits(one.out.standard_error, again.out.standard_error)) << threads << " threads";
      EXPECT_TRUE(equal_bits(one.out.background_error, again.out.background_error)) << threads << " threads";
      EXPECT_EQ(one.out.evaluations, again.out.evaluations);
      EXPECT_FALSE(!concurrent && other.asked_from_elsewhere());
    }
  }
  for (size_t row = 0; row < rows; row += 3) {
    const ToyGame alone({players, 1, references, true},
                        [&](size_t, size_t reference, std::span<const uint64_t> coalition) {
                          return value(row, reference, coalition);
                        });
    const Played part = play_toy(alone, method, 2, 3);
    const size_t bytes = players * sizeof(float);
    EXPECT_EQ(std::memcmp(part.values.data(), one.values.row(row).data(), bytes), 0) << "row " << row;
    if (!part.out.standard_error.empty()) {
      EXPECT_EQ(std::memcmp(part.out.standard_error.data(), one.out.standard_error.row(row).data(), bytes), 0);
    }
  }
}

}  // namespace assay::testing
