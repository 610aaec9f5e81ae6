// Sensitivity over neighbourhoods against the definition, pair by pair, and what both criteria share.
#include "assay/evaluate/neighbourhoods/neighbourhoods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/evaluate/neighbourhoods/kernels.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// Three classes by the first number; a missing one is of the first class.
uint32_t class_of(std::span<const float> row) { return row[0] > 1 ? 2 : row[0] > 0 ? 1 : 0; }

std::shared_ptr<const Model> three_classes(size_t features) {
  ModelInfo info;
  info.name = "three classes";
  for (size_t j = 0; j < features; j++) info.feature_names.push_back(fmt::format("x{}", j));
  info.output_names = info.class_names = {"a", "b", "c"};
  info.unit = OutputUnit::margin;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t i = 0; i < rows.rows(); i++) {
      for (uint32_t c = 0; c < 3; c++) outputs(i, c) = class_of(rows.row(i)) == c ? 1.0F : 0.0F;
    }
  });
}

// Numbers with few and with many values, then `codes` categories; duplicates, and missing values.
Dataset random_data(size_t rows, size_t numbers, size_t codes, uint64_t seed) {
  RandomStream random(seed, "neighbourhoods_test");
  Matrix x(rows, numbers + codes);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < x.cols(); j++) {
      const bool whole = j == 1 || j >= numbers;
      x(i, j) = whole ? static_cast<float>(random.below(3)) : static_cast<float>(2 * random.normal());
      if (random.below(25) == 0) x(i, j) = kMissing;
    }
    if (i > 0 && random.below(6) == 0) {
      std::ranges::copy(x.row(random.below(static_cast<uint32_t>(i))), x.row(i).begin());
    }
  }
  Dataset made = dataset_of(std::move(x));
  for (size_t j = numbers; j < numbers + codes; j++) made.groups[j].kind = ColumnKind::categorical;
  return made;
}

// Explanations that share values (ties for l0 and kendall), some all zero, some not numbers.
Matrix random_explanations(size_t rows, size_t players, uint64_t seed) {
  RandomStream random(seed, "neighbourhoods_test", 1);
  Matrix made(rows, players);
  for (size_t i = 0; i < rows; i++) {
    const uint32_t kind = random.below(12);
    for (float& v : made.row(i)) {
      v = random.below(3) == 0 ? static_cast<float>(random.below(3)) : static_cast<float>(random.normal());
      if (kind == 0) v = 0;
    }
    if (kind == 1) made(i, random.below(static_cast<uint32_t>(players))) = random.below(2) == 0 ? kMissing : INFINITY;
  }
  return made;
}

Trial random_trial(size_t rows, size_t pool, size_t numbers, size_t codes, size_t players) {
  Dataset data = random_data(rows, numbers, codes, 1);
  Dataset others = random_data(pool, numbers, codes, 2);
  for (size_t i = 0; i < rows; i += 3) std::ranges::copy(others.x.row(i % pool), data.x.row(i).begin());
  Matrix copy = data.x;
  Trial made = trial_of(setting_of(three_classes(numbers + codes), std::move(copy), Matrix(1, numbers + codes)),
                        random_explanations(rows, players, 3));
  made.data = std::move(data);
  made.pool = std::move(others);
  made.pool_explanations.emplace(random_explanations(pool, players, 4));
  return made;
}

// rho as the reading has it: differences of cells over the deviation, categorical mismatch 1, missing as a level.
class Rho {
 public:
  Rho(const Dataset& pool, std::string norm, bool scaled) : pool_(pool), norm_(std::move(norm)), scaled_(scaled) {
    for (size_t j = 0; j < pool.x.cols(); j++) {
      std::vector<double> known;
      for (size_t i = 0; i < pool.rows(); i++) {
        if (!std::isnan(pool.x(i, j))) known.push_back(pool.x(i, j));
      }
      const auto n = static_cast<double>(known.size());
      mean_.push_back(std::accumulate(known.begin(), known.end(), 0.0) / n);
      double squares = 0;
      for (const double v : known) squares += (v - mean_[j]) * (v - mean_[j]);
      deviation_.push_back(std::sqrt(squares / n));
    }
  }
  double operator()(std::span<const float> a, std::span<const float> b) const {
    double total = 0;
    for (size_t j = 0; j < a.size(); j++) {
      double apart = 0;
      if (std::isnan(a[j]) || std::isnan(b[j])) {
        apart = std::isnan(a[j]) && std::isnan(b[j]) ? 0 : 1;
      } else if (scaled_ && pool_.groups[j].kind == ColumnKind::categorical) {
        apart = a[j] == b[j] ? 0 : 1;
      } else {
        apart = std::abs(static_cast<double>(a[j]) - b[j]) / (scaled_ ? deviation_[j] : 1);
      }
      if (norm_ == "linf") total = std::max(total, apart);
      if (norm_ == "l1") total += apart;
      if (norm_ == "l2") total += apart * apart;
    }
    return norm_ == "l2" ? std::sqrt(total) : total;
  }

 private:
  const Dataset& pool_;
  std::string norm_;
  bool scaled_;
  std::vector<double> mean_;
  std::vector<double> deviation_;
};

struct Expected {
  std::vector<double> max;
  std::vector<double> mean;
  std::vector<std::set<size_t>> neighbours;  // those that count
};

Expected by_definition(Trial& trial, const Rho& rho, double radius, const ComparisonOptions& comparison,
                       bool weighted) {
  const Matrix rows = prepared(trial.explanations.values.view(), comparison);
  const Matrix pool = prepared(trial.pool_explanations->values(), comparison);
  Expected made;
  for (size_t i = 0; i < rows.rows(); i++) {
    double sum = 0;
    double largest = -1;
    std::set<size_t> neighbours;
    const auto x = trial.data->x.row(i);
    for (size_t z = 0; z < pool.rows(); z++) {
      const auto other = trial.pool->x.row(z);
      const double away = rho(x, other);
      if (away == 0 || away > radius || class_of(x) != class_of(other)) continue;
      if (!all_finite(rows.row(i)) || !all_finite(pool.row(z))) continue;
      // Zeros have no direction.
      if (comparison.normalise == "unit" && (all_zero(rows.row(i)) || all_zero(pool.row(z)))) continue;
      double apart = distance_between(explanation_distance(comparison.distance), rows.row(i), pool.row(z));
      if (std::isnan(apart)) continue;
      if (weighted) apart /= away;
      sum += apart;
      largest = std::max(largest, apart);
      neighbours.insert(z);
    }
    made.max.push_back(neighbours.empty() ? NAN : largest);
    made.mean.push_back(neighbours.empty() ? NAN : sum / static_cast<double>(neighbours.size()));
    made.neighbours.push_back(std::move(neighbours));
  }
  return made;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); i++) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << what << ", row " << i;
    } else {
      ASSERT_NEAR(found[i], expected[i], 1e-6 * (1e-3 + std::abs(expected[i]))) << what << ", row " << i;
    }
  }
}

void expect_by_definition(Trial trial, const std::vector<double>& radii) {
  for (const std::string rho : {"linf", "l1", "l2"}) {
    for (const std::string space : {"scaled", "raw"}) {
      const Rho distance(*trial.pool, rho, space == "scaled");
      for (const std::string& d : explanation_distance_names()) {
        for (const std::string weighting : {"uniform", "inverse_distance"}) {
          for (const double radius : radii) {
            const std::string normalise = radius < 1 ? "unit" : "raw";
            const std::string options = fmt::format(":distance={}:normalise={}:rho={}:space={}:radius={}:weighting={}",
                                                    d, normalise, rho, space, radius, weighting);
            const Expected expected =
                by_definition(trial, distance, radius, {d, normalise}, weighting == "inverse_distance");
            expect_near(scored("max_sensitivity", options, trial).values, expected.max, options);
            expect_near(scored("avg_sensitivity", options, trial).values, expected.mean, options);
          }
        }
      }
    }
  }
}

TEST(Neighbourhoods, EqualTheDefinitionOnTables) { expect_by_definition(random_trial(60, 150, 4, 3, 5), {0.7, 2, 50}); }

TEST(Neighbourhoods, EqualTheDefinitionOnWideRows) { expect_by_definition(random_trial(40, 70, 40, 0, 33), {2.5, 60}); }

TEST(Neighbourhoods, EqualTheDefinitionWithOnePlayer) { expect_by_definition(random_trial(20, 64, 2, 1, 1), {1.5}); }

TEST(Neighbourhoods, SameOnAnyNumberOfThreadsAndEveryVectorTarget) {
  Trial trial = random_trial(150, 600, 4, 2, 7);
  const std::vector<std::string> targets = vector_targets();
  for (const std::string d : {"l1", "l2", "l0", "cosine"}) {
    for (const std::string weighting : {"uniform", "inverse_distance"}) {
      const std::string options = fmt::format(":distance={}:weighting={}:radius=3", d, weighting);
      for (const std::string name : {"max_sensitivity", "avg_sensitivity"}) {
        expect_same_scores_on_threads(name, options, trial);
        const Scores best = scored(name, options, trial);
        for (const std::string& target : targets) {
          pin_vector_target(target);
          const Scores here = scored(name, options, trial);
          EXPECT_EQ(std::memcmp(here.values.data(), best.values.data(), best.values.size() * sizeof(double)), 0)
              << target << options;
        }
        pin_vector_target(targets.front());
      }
    }
  }
}

// All distances of rows to other rows of their class, and the tenth of each row.
struct Reaches {
  std::vector<double> all;
  std::vector<double> tenth;
};

template <class ClassOf>
Reaches reaches_of(const Dataset& data, const Dataset& pool, const Rho& distance, const ClassOf& class_of_row) {
  Reaches made;
  for (size_t i = 0; i < data.rows(); i++) {
    std::vector<double> away;
    for (size_t z = 0; z < pool.rows(); z++) {
      if (class_of_row(data.x.row(i)) != class_of_row(pool.x.row(z))) continue;
      const double apart = distance(data.x.row(i), pool.x.row(z));
      if (apart > 0) away.push_back(apart);
    }
    EXPECT_GE(away.size(), 10U);
    std::ranges::sort(away);
    made.tenth.push_back(away[9]);
    made.all.insert(made.all.end(), away.begin(), away.end());
  }
  std::ranges::sort(made.tenth);
  std::ranges::sort(made.all);
  return made;
}

// The median over the rows of the distance to the tenth nearest of the class that is not at distance 0, plus 0.01 %;
// then the middle between the distances on either side.
double between_distances(const Reaches& reaches) {
  const size_t half = reaches.tenth.size() / 2;
  const double median =
      reaches.tenth.size() % 2 == 1 ? reaches.tenth[half] : (reaches.tenth[half - 1] + reaches.tenth[half]) / 2;
  const auto above = std::ranges::upper_bound(reaches.all, median * 1.0001);
  return above == reaches.all.end() ? median * 1.0001 : (*(above - 1) + *above) / 2;
}

TEST(Neighbourhoods, AutomaticRadiusByBruteForce) {
  for (const std::string rho : {"linf", "l1", "l2"}) {
    for (const std::string space : {"scaled", "raw"}) {
      for (const size_t numbers : {3U, 30U}) {  // searched by the tree and by the scan
        Trial trial = random_trial(61, 150, numbers, 2, 4);
        const Reaches reaches =
            reaches_of(*trial.data, *trial.pool, Rho(*trial.pool, rho, space == "scaled"), class_of);
        NeighbourhoodOptions options;
        options.rho = rho;
        options.space = space;
        const Neighbourhoods found(trial.task(), options, on_threads(1, 1));
        EXPECT_NEAR(found.radius(), between_distances(reaches), 1e-12 * found.radius());
        EXPECT_EQ(Neighbourhoods(trial.task(), options, on_threads(3, 1)).radius(), found.radius());
        EXPECT_TRUE(found.radius_chosen());
        EXPECT_EQ(found.evaluations(), 61U + 150U);
      }
    }
  }
}

// Whole numbers from 1 to 7 in four columns, all of one class.
Trial seven_point_scales(uint64_t seed) {
  RandomStream random(seed, "neighbourhoods_test", 2);
  Matrix x(300, 4);
  for (float& v : x.values()) v = static_cast<float>(1 + random.below(7));
  Matrix copy = x;
  ModelInfo info;
  info.name = "flat";
  info.feature_names = {"x0", "x1", "x2", "x3"};
  info.output_names = {"y"};
  std::shared_ptr<const Model> flat = model_from_function(info, [](MatrixView<const float> in, MatrixView<float> out) {
    for (size_t i = 0; i < in.rows(); i++) out(i, 0) = 0;
  });
  Matrix explanations(300, 4);
  for (float& v : explanations.values()) v = static_cast<float>(random.normal());
  Matrix same = explanations;
  Trial made = trial_of(setting_of(std::move(flat), std::move(copy), Matrix(1, 4)), std::move(explanations));
  made.pool = dataset_of(std::move(x));
  made.pool_explanations.emplace(std::move(same));
  return made;
}

// On scales of whole numbers the tenth neighbour of most rows is at the same distance as very many others. All of them
// count, whatever rounding does to them.
TEST(Neighbourhoods, SevenPointScalesEqualBruteForce) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    Trial trial = seven_point_scales(seed);
    const Matrix& x = trial.pool->x;
    // Squares of distances in one column are (a - b)^2 n^2 / (n t - s^2), with s the sum of values and t that of
    // squares.
    std::vector<int64_t> variances;
    for (size_t j = 0; j < 4; j++) {
      int64_t s = 0, t = 0;
      for (size_t i = 0; i < 300; i++) {
        const auto v = static_cast<int64_t>(x(i, j));
        s += v;
        t += v * v;
      }
      variances.push_back(300 * t - s * s);
    }
    // The column and the step of the largest quotient: (a - b)^2 / variance, compared crosswise.
    using Step = std::pair<int64_t, int64_t>;
    const auto shorter = [](const Step& a, const Step& b) { return a.first * b.second < b.first * a.second; };
    const auto step_between = [&](size_t i, size_t z) {
      Step largest = {0, 1};
      for (size_t j = 0; j < 4; j++) {
        const auto apart = static_cast<int64_t>(x(i, j) - x(z, j));
        largest = std::max(largest, Step(apart * apart, variances[j]), shorter);
      }
      return largest;
    };
    std::vector<Step> tenth;
    for (size_t i = 0; i < 300; i++) {
      std::vector<Step> away;
      for (size_t z = 0; z < 300; z++) {
        if (const Step step = step_between(i, z); step.first > 0) away.push_back(step);
      }
      std::ranges::sort(away, shorter);
      tenth.push_back(away[9]);
    }
    std::ranges::sort(tenth, shorter);
    const auto length = [](const Step& step) {
      return 300 * std::sqrt(static_cast<double>(step.first) / static_cast<double>(step.second));
    };
    const double edge = (length(tenth[149]) + length(tenth[150])) / 2 * 1.0001;
    const Scores scores = scored("avg_sensitivity", ":normalise=raw", trial);
    for (size_t i = 0; i < 300; i++) {
      double sum = 0;
      size_t count = 0;
      for (size_t z = 0; z < 300; z++) {
        const Step step = step_between(i, z);
        ASSERT_GT(std::abs(length(step) - edge), 1e-9) << "no step is so close that rounding decides in this test";
        if (step.first == 0 || length(step) > edge) continue;
        sum += distance_between(ExplanationDistance::l2, trial.explanations.values.row(i),
                                trial.pool_explanations->values().row(z));
        count++;
      }
      if (count == 0) {
        ASSERT_TRUE(std::isnan(scores.values[i])) << "seed " << seed << ", row " << i;
        continue;
      }
      ASSERT_NEAR(scores.values[i], sum / static_cast<double>(count), 1e-12) << "seed " << seed << ", row " << i;
    }
  }
}

// Lengths in tenths of a centimetre are rounded to float32, so equal steps differ in the seventh digit. A radius
// between steps does not see that.
TEST(Neighbourhoods, RoundingOfDecimalsDecidesNothing) {
  const Table table = load_dataset("iris");
  const Dataset iris = Encoder::fit(table, {}).apply(table);
  Matrix first(30, 4);
  Matrix explanations(30, 4);
  for (size_t i = 0; i < 30; i++) {
    std::ranges::copy(iris.x.row(i * 5), first.row(i).begin());
    std::ranges::copy(iris.x.row(i * 5), explanations.row(i).begin());
  }
  Trial trial = trial_of(setting_of(three_classes(4), std::move(first), Matrix(1, 4)), std::move(explanations));
  trial.pool = iris;
  trial.pool_explanations.emplace(iris.x);
  for (const std::string rho : {"linf", "l1", "l2"}) {
    NeighbourhoodOptions options;
    options.rho = rho;
    const double radius = Neighbourhoods(trial.task(), options, {}).radius();
    const std::vector<double> automatic = scored("avg_sensitivity", ":rho=" + rho, trial).values;
    for (const double factor : {1.0, 1 + 1e-5, 1 - 1e-5}) {
      const std::string at = fmt::format(":rho={}:radius={}", rho, radius * factor);
      const std::vector<double> given = scored("avg_sensitivity", at, trial).values;
      EXPECT_EQ(std::memcmp(given.data(), automatic.data(), given.size() * sizeof(double)), 0) << at;
    }
  }
}

// Classes with fewer than ten rows reach to their farthest; rows without any other row take no part.
TEST(Neighbourhoods, AutomaticRadiusOfFewRows) {
  Trial trial =
      trial_of(setting_of(three_classes(1), matrix_of({{-1}, {0.5F}, {2}}), Matrix(1, 1)), matrix_of({{1}, {2}, {3}}));
  // a: -1 is 1 and 4 from -2 and -5; b: 0.5 has itself alone; c: 2 has none. The median of {4} is 4.
  trial.pool = dataset_of(matrix_of({{-2}, {-5}, {0.5F}}));
  trial.pool_explanations.emplace(matrix_of({{1}, {5}, {0}}));
  const Scores scores = scored("avg_sensitivity", ":space=raw:normalise=raw", trial);
  EXPECT_EQ(scores.values[0], 2);  // (|1 - 1| + |1 - 5|) / 2
  EXPECT_TRUE(std::isnan(scores.values[1]) && std::isnan(scores.values[2]));
  EXPECT_EQ(scores.notes.at(0),
            "neighbourhoods: radius 4.0004 (chosen: between distances, just above the median over the rows of the "
            "distance to the tenth nearest row of the class, the farthest where there are fewer) under linf in raw "
            "space, explanations raw; 1 of 3 rows have neighbours, 2 on average");
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, "no neighbour of its class within the radius");
  EXPECT_EQ(scores.undefined[0].rows, 2U);

  trial.pool = dataset_of(matrix_of({{0.5F}}));
  trial.pool_explanations.emplace(matrix_of({{1}}));
  EXPECT_EQ(scored("avg_sensitivity", "", trial).coverage, 0);
}

// Only rows of the pool that are somebody's neighbour are explained, and those once.
TEST(Neighbourhoods, ExplainOnlyNeighbours) {
  for (const double radius : {0.4, 1.2, 6.0}) {
    Trial trial = random_trial(40, 300, 3, 2, 4);
    const Matrix all = random_explanations(300, 4, 9);
    const Rho distance(*trial.pool, "linf", true);
    std::set<size_t> expected;
    for (size_t i = 0; i < 40; i++) {
      if (!all_finite(trial.explanations.values.row(i))) continue;
      for (size_t z = 0; z < 300; z++) {
        const double away = distance(trial.data->x.row(i), trial.pool->x.row(z));
        const bool same = class_of(trial.data->x.row(i)) == class_of(trial.pool->x.row(z));
        if (same && away > 0 && away <= radius) expected.insert(z);
      }
    }
    ASSERT_FALSE(expected.empty());
    std::set<size_t> made;
    trial.pool_explanations.emplace(300, 4, [&](std::span<const size_t> rows, const Context&) {
      Matrix values(rows.size(), 4);
      for (size_t i = 0; i < rows.size(); i++) {
        EXPECT_TRUE(made.insert(rows[i]).second);
        std::ranges::copy(all.row(rows[i]), values.row(i).begin());
      }
      return values;
    });
    const std::string options = fmt::format(":radius={}", radius);
    const Scores lazy = scored("max_sensitivity", options, trial);
    EXPECT_EQ(made, expected);
    scored("avg_sensitivity", options, trial);
    EXPECT_EQ(made, expected);
    trial.pool_explanations.emplace(all);
    const Scores given = scored("max_sensitivity", options, trial);
    EXPECT_EQ(std::memcmp(lazy.values.data(), given.values.data(), 40 * sizeof(double)), 0);
    EXPECT_EQ(lazy.notes, given.notes);
  }
}

// One neighbour at a time and 32 at a time must have the same bits, since the radius decides which of them runs.
TEST(Neighbourhoods, TilesEqualPairs) {
  constexpr size_t kPlayers = 5;
  RandomStream random(6, "neighbourhoods_test");
  Matrix rows(kBlockRows, kPlayers);
  for (float& v : rows.values()) v = static_cast<float>(random.normal());
  alignas(64) float tile[kPlayers * kBlockRows];
  alignas(64) double wide[kPlayers * kBlockRows];
  double rho[kBlockRows];
  for (size_t i = 0; i < kBlockRows; i++) {
    rho[i] = 0.1 + random.uniform();
    for (size_t p = 0; p < kPlayers; p++) tile[p * kBlockRows + i] = rows(i, p);
  }
  const std::vector<float> query = {0.5F, rows(3, 1), 0, -1, 2};
  for (const auto distance : {ExplanationDistance::l1, ExplanationDistance::l2, ExplanationDistance::l0}) {
    for (const Fold fold : {Fold::mean, Fold::max}) {
      for (const double* weights : {static_cast<const double*>(nullptr), static_cast<const double*>(rho)}) {
        const uint32_t places = 0x9F0355A7;
        FoldLanes one, all;
        const TileQuery queries[] = {{query.data(), places, weights, &all}};
        fold_tile(distance, fold, tile, wide, kPlayers, queries);
        for (size_t i = 0; i < kBlockRows; i++) {
          if ((places >> i & 1) == 0) continue;
          const double apart = distance_between(distance, query, rows.row(i));
          fold_one(fold, i, weights != nullptr ? apart / weights[i] : apart, one);
        }
        EXPECT_EQ(std::memcmp(&one, &all, sizeof one), 0);
      }
    }
  }
}

}  // namespace
}  // namespace assay::testing
