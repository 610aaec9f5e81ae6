#include "assay/explain/replicates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/explain/explainer.h"
#include "assay/explain/reasons/reasons.h"
#include "assay/explain/spread_background.h"
#include "tests/explain/run_method.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

constexpr size_t kFeatures = 4;

std::shared_ptr<const Model> model_of(float (*value)(std::span<const float>)) {
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"a", "b", "c", "d"};
  info.output_names = {"y"};
  return model_from_function(info, [value](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = value(rows.row(i));
  });
}

// y = a b + 2 c + d^2: features interact, and one is linear.
std::shared_ptr<const Model> curved_model() {
  return model_of([](std::span<const float> x) { return x[0] * x[1] + 2 * x[2] + x[3] * x[3]; });
}

Dataset random_rows(size_t rows, uint64_t seed) {
  Dataset made;
  made.source = "train.csv";
  made.feature_names = {"a", "b", "c", "d"};
  for (size_t c = 0; c < kFeatures; c++) made.groups.push_back({made.feature_names[c], c, 1});
  made.x = Matrix(rows, kFeatures);
  for (size_t i = 0; i < rows; i++) {
    RandomStream stream(seed, "rows of a test", i);
    const double shared = stream.normal();
    for (size_t c = 0; c < kFeatures; c++) made.x(i, c) = static_cast<float>(shared + stream.normal());
  }
  return made;
}

OwnedSubject subject_of(const Dataset& rows, const Dataset& pool) {
  OwnedSubject made;
  made.model = curved_model();
  made.rows = std::make_shared<Dataset>(rows);
  made.pool = std::make_shared<Dataset>(pool);
  made.players = column_players(rows.feature_names);
  made.targets = freeze_targets(*made.model, rows.x.view(), {false, 0}, {});
  return made;
}

Explanations with_replicates(const OwnedSubject& subject, const std::string& method, size_t count,
                             const Context& context = {}) {
  return explain_with_replicates(parse_spec("method", method), subject.view(), count, context);
}

// Of two features of a row, over its replicates.
double covariance(const Explanations& made, size_t row, size_t a, size_t b) {
  RunningMoments first;
  RunningMoments second;
  for (size_t c = 0; c < made.replicate_count(); c++) {
    first.add(made.replicate(row, c)[a]);
    second.add(made.replicate(row, c)[b]);
  }
  double sum = 0;
  for (size_t c = 0; c < made.replicate_count(); c++) {
    sum += (made.replicate(row, c)[a] - first.mean()) * (made.replicate(row, c)[b] - second.mean());
  }
  return sum / static_cast<double>(made.replicate_count() - 1);
}

double deviation(const Explanations& made, size_t row, size_t player) {
  return std::sqrt(covariance(made, row, player, player));
}

// Values against each row of the background alone, which an exact method's values are the means of.
std::vector<Matrix> against_each(const OwnedSubject& subject, const std::string& method) {
  std::vector<Matrix> made;
  for (size_t b = 0; b < subject.reference.rows.rows(); b++) {
    OwnedSubject alone = subject;
    alone.reference = Reference();
    alone.reference.rows = Matrix(1, kFeatures);
    std::ranges::copy(subject.reference.rows.row(b), alone.reference.rows.row(0).begin());
    made.push_back(explain(parse_spec("method", method), alone.view(), {}).values);
  }
  return made;
}

TEST(Replicates, SpreadAsTheErrorsOfAPlainDrawDoJointly) {
  OwnedSubject subject = subject_of(random_rows(3, 1), random_rows(400, 2));
  subject.reference = pool_background(*subject.pool, 80, *subject.model, {});
  ASSERT_EQ(subject.reference.drawn_from, 400U);
  const Explanations made = with_replicates(subject, "exact_shapley", 8000);
  ASSERT_EQ(made.replicate_count(), 8000U);
  ASSERT_EQ(made.provenance.draw, kDrawnBackground);
  // 80 of 400 rows are known: a fifth of the variance is gone.
  const double finite = std::sqrt(1 - 80.0 / 400);
  const std::vector<Matrix> each = against_each(subject, "exact_shapley");
  for (size_t r = 0; r < 3; r++) {
    for (size_t p = 0; p < kFeatures; p++) {
      EXPECT_NEAR(deviation(made, r, p) / (finite * made.background_error(r, p)), 1, 0.03) << r << " " << p;
    }
    // Covariance of a and b: of their values over the rows of the background, over the number of rows.
    RunningMoments a;
    RunningMoments b;
    for (const Matrix& one : each) {
      a.add(one(r, 0));
      b.add(one(r, 1));
    }
    double sum = 0;
    for (const Matrix& one : each) sum += (one(r, 0) - a.mean()) * (one(r, 1) - b.mean());
    const double expected = 0.8 * sum / (80.0 * 79.0);
    const double scale = 0.8 * made.background_error(r, 0) * made.background_error(r, 1);
    EXPECT_NEAR(covariance(made, r, 0, 1) / scale, expected / scale, 0.04);
  }
}

TEST(Replicates, SpreadAsTheErrorsOfStrataDo) {
  OwnedSubject subject = subject_of(random_rows(2, 3), random_rows(1000, 4));
  const Targets targets = freeze_targets(*subject.model, subject.pool->x.view(), {false, 0}, {});
  const ScoredPool scored = score_pool(*subject.pool, *subject.model, {});
  for (const size_t rows : {90U, 5U}) {
    subject.reference = spread_background(*subject.pool, scored, targets, rows, *subject.model, {});
    ASSERT_TRUE(subject.reference.strata);
    ASSERT_EQ(subject.reference.drawn_from, 1000U);
    const Explanations made = with_replicates(subject, "exact_shapley", 8000);
    const double finite = std::sqrt(1 - static_cast<double>(rows) / 1000);
    for (size_t r = 0; r < 2; r++) {
      for (size_t p = 0; p < kFeatures; p++) {
        EXPECT_NEAR(deviation(made, r, p) / (finite * made.background_error(r, p)), 1, 0.03) << rows << " rows";
      }
    }
  }
}

// 250 rows make 100 groups of two or three rows. Their variance, on average over draws, is that of the rows.
TEST(Replicates, GroupsOfUnequalSizesHaveTheRightSpread) {
  const OwnedSubject whole = subject_of(random_rows(1, 5), random_rows(100000, 6));
  for (const bool strata : {false, true}) {
    double ratio = 0;
    constexpr size_t kDraws = 30;
    for (uint64_t seed = 0; seed < kDraws; seed++) {
      OwnedSubject subject = whole;
      Context context;
      context.seed = seed;
      subject.reference = pool_background(*subject.pool, 250, *subject.model, context);
      subject.reference.strata = strata;  // rows in no order: both rules estimate the same
      const Explanations made = with_replicates(subject, "occlusion", 1000, context);
      for (size_t p = 0; p < kFeatures; p++) {
        const double error = made.background_error(0, p);
        ratio += covariance(made, 0, p, p) / (error * error) / (kDraws * kFeatures);
      }
    }
    EXPECT_NEAR(ratio, 0.9975, 0.06) << strata;
  }
}

// The seeds' own deviations have 15 degrees of freedom each, so their mean over many runs is compared.
TEST(Replicates, SpreadAsTheErrorsOfSamplingDo) {
  OwnedSubject subject = subject_of(random_rows(3, 7), random_rows(50, 8));
  // Of three at once: what two features do together, pairs of permutations find exactly.
  subject.model = model_of([](std::span<const float> x) { return x[0] * x[1] * x[2] + x[3]; });
  subject.reference = named_baseline("mean", subject.pool.get(), *subject.model, nullptr, {});
  double found = 0;
  double told = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    Context context;
    context.seed = seed;
    const Explanations made = with_replicates(subject, "shapley_sampling:permutations=8", 400, context);
    ASSERT_EQ(made.replicate_count(), 400U);
    EXPECT_EQ(made.provenance.draw, kNothingDrawn);
    for (size_t r = 0; r < 3; r++) {
      found += covariance(made, r, 0, 0);
      told += std::pow(made.standard_error(r, 0), 2);
    }
  }
  EXPECT_NEAR(found / told, 1, 0.15);
}

// All 70 backgrounds of 4 of 8 rows, by brute force. The variance that replicates have is unbiased over them, and
// reasons are right, against all 8 rows, as often as certainty says.
TEST(Replicates, AgreeWithAllBackgroundsOfASmallPool) {
  const Dataset pool = random_rows(8, 9);
  const OwnedSubject subject = subject_of(random_rows(150, 10), pool);
  OwnedSubject whole = subject;
  whole.reference = given_background(pool, nullptr, *subject.model);
  const Explanations truth = with_replicates(whole, "exact_shapley", 100);
  EXPECT_TRUE(truth.replicates.empty()) << "nothing was drawn";
  EXPECT_EQ(truth.provenance.draw, kNothingDrawn);
  const size_t rows = subject.rows->rows();
  Matrix64 variance(rows, kFeatures);
  Matrix64 squares(rows, kFeatures);
  const ReasonOptions options{.top = 2};
  const Reasons right = find_reasons(truth, {}, options, {});
  const auto is_right = [&](const Reason& reason) {
    return std::ranges::any_of(
        right.list, [&](const Reason& each) { return each.row == reason.row && each.player == reason.player; });
  };
  double certainty = 0;
  double correct = 0;
  double named = 0;
  for (unsigned bits = 0; bits < 256; bits++) {
    if (std::popcount(bits) != 4) continue;
    OwnedSubject drawn = subject;
    drawn.reference.rows = Matrix(4, kFeatures);
    drawn.reference.drawn_from = 8;
    size_t at = 0;
    for (size_t i = 0; i < 8; i++) {
      if ((bits >> i & 1U) != 0) std::ranges::copy(pool.x.row(i), drawn.reference.rows.row(at++).begin());
    }
    Context context;
    context.seed = bits;
    const Explanations made = with_replicates(drawn, "exact_shapley", 200, context);
    for (size_t r = 0; r < rows; r++) {
      for (size_t p = 0; p < kFeatures; p++) {
        variance(r, p) += covariance(made, r, p, p) / 70;
        squares(r, p) += std::pow(static_cast<double>(made.values(r, p)) - truth.values(r, p), 2) / 70;
      }
    }
    for (const Reason& reason : find_reasons(made, {}, options, {}).list) {
      certainty += reason.certainty;
      correct += is_right(reason) ? 1 : 0;
      named += 1;
    }
  }
  double told = 0;
  double found = 0;
  for (size_t i = 0; i < rows * kFeatures; i++) {
    told += variance.values()[i];
    found += squares.values()[i];
  }
  EXPECT_NEAR(told / found, 1, 0.03);
  EXPECT_GT(named, 10000);
  EXPECT_NEAR(certainty / named, correct / named, 0.03) << "of " << named;
  EXPECT_LT(correct / named, 0.95) << "some must be wrong for this to say anything";
}

TEST(Replicates, HaveTheSameBitsOnAnyThreadsAndForPartsOfTheRows) {
  OwnedSubject subject = subject_of(random_rows(7, 11), random_rows(60, 12));
  subject.reference = pool_background(*subject.pool, 9, *subject.model, {});
  for (const std::string method : {"exact_shapley", "shapley_sampling:permutations=6"}) {
    const Explanations one = with_replicates(subject, method, 50, on_threads(1, 5));
    for (const unsigned threads : {2U, 5U}) {
      EXPECT_TRUE(same_bits(one.replicates, with_replicates(subject, method, 50, on_threads(threads, 5)).replicates));
    }
    const std::vector<size_t> chosen = {2, 5, 6};
    OwnedSubject part = subject;
    part.rows = std::make_shared<Dataset>(select_rows(*subject.rows, chosen));
    part.targets = select_targets(subject.targets, chosen);
    const Explanations some = with_replicates(part, method, 50, on_threads(3, 5));
    for (size_t i = 0; i < chosen.size(); i++) {
      EXPECT_TRUE(std::ranges::equal(some.replicates.row(i), one.replicates.row(chosen[i]))) << method << " " << i;
    }
    EXPECT_FALSE(same_bits(one.replicates, with_replicates(subject, method, 50, on_threads(1, 6)).replicates));
    // The first of many replicates are the same as the only ones of few.
    const Explanations few = with_replicates(subject, method, 10, on_threads(1, 5));
    EXPECT_TRUE(std::ranges::equal(few.replicates.row(3), one.replicates.row(3).first(10 * kFeatures)));
  }
}

TEST(Replicates, AreNoneWhereNothingIsDrawn) {
  OwnedSubject subject = subject_of(random_rows(2, 13), random_rows(20, 14));
  const auto draw_of = [&](const Reference& reference, const std::string& method = "exact_shapley") {
    subject.reference = reference;
    const Explanations made = with_replicates(subject, method, 10);
    EXPECT_TRUE(made.replicates.empty()) << reference.description;
    EXPECT_TRUE(made.notes.empty());
    return made.provenance.draw;
  };
  EXPECT_EQ(draw_of(named_baseline("mean", subject.pool.get(), *subject.model, nullptr, {})), kNothingDrawn);
  EXPECT_EQ(draw_of(pool_background(*subject.pool, 20, *subject.model, {})), kNothingDrawn);
  EXPECT_EQ(draw_of(given_background(random_rows(5, 15), nullptr, *subject.model)), kNothingDrawn);
  subject.reference = pool_background(*subject.pool, 5, *subject.model, {});
  EXPECT_TRUE(with_replicates(subject, "exact_shapley", 0).replicates.empty());
}

TEST(Replicates, NeedThreeRowsOfABackground) {
  OwnedSubject subject = subject_of(random_rows(2, 16), random_rows(20, 17));
  subject.reference = pool_background(*subject.pool, 2, *subject.model, {});
  const Explanations made = with_replicates(subject, "exact_shapley", 10);
  EXPECT_TRUE(made.replicates.empty());
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(made.notes[0],
            "no replicates: a background of 2 rows that were drawn does not show how far another draw would differ; 3 "
            "rows do");
}

TEST(Replicates, AreRefusedBeforeAnyWorkIfTheyDoNotFit) {
  OwnedSubject subject = subject_of(random_rows(2000, 18), random_rows(20, 19));
  subject.model = model_of([](std::span<const float>) {
    ADD_FAILURE() << "the model must not run";
    return 0.0F;
  });
  subject.reference = Reference();
  subject.reference.rows = Matrix(3, kFeatures);
  subject.reference.drawn_from = 20;
  EXPECT_EQ(sentence([&] { with_replicates(subject, "exact_shapley", 8389); }),
            "replicates: expected at most 8,388 for 2,000 rows and 4 features, so that they take at most 256 MB of "
            "memory, found 8,389");
}

}  // namespace
}  // namespace assay::testing
