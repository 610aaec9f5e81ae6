#include "assay/study/study_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "assay/explain/spread_background.h"
#include "assay/study/reference_facts.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Outputs are the first columns of a row.
std::shared_ptr<const Model> first_columns(OutputUnit unit, size_t outputs, size_t classes,
                                           MarginLink link = MarginLink::softmax) {
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"a", "b", "c"};
  for (size_t j = 0; j < outputs; j++) info.output_names.push_back(fmt::format("o{}", j));
  for (size_t j = 0; j < classes; j++) info.class_names.push_back(fmt::format("c{}", j));
  info.unit = unit;
  info.margin_link = link;
  return model_from_function(info, [outputs](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) std::copy_n(rows.row(i).begin(), outputs, out.row(i).begin());
  });
}

OwnedSubject subject_of(std::shared_ptr<const Model> model, Matrix rows, Matrix pool, const TargetChoice& choice) {
  OwnedSubject made;
  made.targets = freeze_targets(*model, rows.view(), choice, {});
  made.pool_targets = freeze_targets(*model, pool.view(), choice, {});
  made.model = std::move(model);
  made.rows = std::make_shared<Dataset>(dataset_of(std::move(rows)));
  made.pool = std::make_shared<Dataset>(dataset_of(std::move(pool)));
  return made;
}

Matrix numbered(size_t rows) {
  Matrix made(rows, 3);
  for (size_t i = 0; i < rows; i++) made(i, 0) = static_cast<float>(i);
  return made;
}

ReferenceFacts chosen(OwnedSubject& subject, StudyReferenceOptions options = {}) {
  return choose_study_reference(subject, *subject.pool_targets, options, {});
}

TEST(StudyReference, IsABackgroundUnlessTheUserSaysAnother) {
  OwnedSubject subject = subject_of(first_columns(OutputUnit::value, 1, 0), numbered(4), numbered(500), {});
  const ReferenceFacts facts = chosen(subject);
  ASSERT_EQ(subject.reference.rows.rows(), 100U);
  EXPECT_EQ(subject.reference.description, "100 rows of test rows, spread over its scores");
  double sum = 0;
  for (size_t i = 0; i < 100; i++) {
    const float score = subject.reference.rows(i, 0);
    EXPECT_EQ(static_cast<size_t>(score) / 5, i);
    sum += score;
  }
  EXPECT_EQ(facts.rows, 100U);
  EXPECT_TRUE(facts.background());
  EXPECT_NEAR(facts.value, sum / 100, 1e-9);
  EXPECT_NEAR(facts.pool_value, 499.0 / 2, 1e-9);
  EXPECT_TRUE(std::isnan(facts.probability) && std::isnan(facts.pool_probability));
  ASSERT_EQ(subject.other_references.size(), 1U);
  EXPECT_THAT(subject.other_references[0].rows.values(), ElementsAre(249.5F, 0, 0));
  EXPECT_EQ(subject.other_references[0].description, "mean of test rows");

  // What the user says stays.
  subject.reference = named_baseline("mean", subject.pool.get(), *subject.model, nullptr, {});
  const ReferenceFacts of_mean = chosen(subject, {.said = true});
  EXPECT_THAT(subject.reference.rows.values(), ElementsAre(249.5F, 0, 0));
  EXPECT_FALSE(of_mean.background());
  EXPECT_EQ(of_mean.value, 249.5);
  ASSERT_EQ(subject.other_references.size(), 1U);
  EXPECT_EQ(subject.other_references[0].rows.rows(), 100U);
  chosen(subject, {.said = true, .background = 7});
  EXPECT_EQ(subject.other_references[0].rows.rows(), 7U);

  subject.other_references.clear();
  chosen(subject, {.variations = false});
  EXPECT_THAT(subject.other_references, IsEmpty());
}

// A front end's own mean, which may have more digits than float32 rows tell, is kept for the variation.
TEST(StudyReference, TheMeanOfTheFrontEndIsWhatItIsComparedWith) {
  OwnedSubject subject = subject_of(first_columns(OutputUnit::value, 1, 0), numbered(4), numbered(20), {});
  subject.reference.rows = Matrix(1, 3);
  subject.reference.rows(0, 1) = 42;
  subject.reference.description = "mean of X";
  chosen(subject);
  EXPECT_EQ(subject.reference.rows.rows(), 20U);
  ASSERT_EQ(subject.other_references.size(), 1U);
  EXPECT_EQ(subject.other_references[0].description, "mean of X");
  EXPECT_THAT(subject.other_references[0].rows.values(), ElementsAre(0, 42, 0));
}

ReferenceFacts facts_at(OwnedSubject& subject, Matrix reference) {
  subject.reference.rows = std::move(reference);
  return reference_facts(subject.view(), score_pool(*subject.pool, *subject.model, {}), {});
}

// Rows of class 0 and class 1, margins (2, 0) and (0, 1). Softmax at (1, 0): e / (1 + e) for class 0. The pool is (0,
// 0) and (ln 3, 0): class 0 has 1/2 and 3/4.
TEST(ReferenceFacts, OfTheStudiedRowsOwnTargets) {
  const auto model = first_columns(OutputUnit::margin, 2, 2);
  const auto explaining = [&](const TargetChoice& choice) {
    return subject_of(model, matrix_of({{2, 0, 0}, {0, 1, 0}, {3, 0, 0}}),
                      matrix_of({{0, 0, 0}, {std::log(3.0F), 0, 0}}), choice);
  };
  OwnedSubject subject = explaining({true, 0});
  const ReferenceFacts facts = facts_at(subject, matrix_of({{1, 0, 0}}));
  EXPECT_EQ(facts.rows, 1U);
  EXPECT_NEAR(facts.value, (1 + 0 + 1) / 3.0, 1e-7);  // two rows of class 0, one of class 1
  EXPECT_NEAR(facts.pool_value, 2 * (std::log(3.0) / 2) / 3, 1e-7);
  // A mean over the probabilities of different classes says nothing about the reference.
  EXPECT_TRUE(std::isnan(facts.probability) && std::isnan(facts.pool_probability));
  // In the pool the mean of both margins is 0 and ln(3) / 2; either margin less that mean is 0 and +-ln(3) / 2.
  EXPECT_NEAR(facts.common_share, 0.5, 1e-7);

  OwnedSubject of_one = explaining({false, 0});
  const ReferenceFacts one = facts_at(of_one, matrix_of({{1, 0, 0}}));
  const double e = std::exp(1.0);
  EXPECT_NEAR(one.probability, e / (1 + e), 1e-7);
  EXPECT_NEAR(one.pool_probability, 0.625, 1e-7);
}

// Margins (3, 1), (1, -1), (2, 2): their means 2, 0, 2 have variance 4/3; the first less its mean is 1, 1, 0: 1/3.
TEST(ReferenceFacts, WhatAllMarginsHaveInCommon) {
  const Matrix pool = matrix_of({{3, 1, 0}, {1, -1, 0}, {2, 2, 0}});
  const auto share = [&](OutputUnit unit, size_t outputs, MarginLink link) {
    OwnedSubject subject = subject_of(first_columns(unit, outputs, 2, link), numbered(2), Matrix(pool), {false, 0});
    return facts_at(subject, matrix_of({{1, 0, 0}})).common_share;
  };
  EXPECT_NEAR(share(OutputUnit::margin, 2, MarginLink::softmax), (4.0 / 3) / (4.0 / 3 + 1.0 / 3), 1e-12);
  EXPECT_TRUE(std::isnan(share(OutputUnit::margin, 1, MarginLink::softmax)));
  EXPECT_TRUE(std::isnan(share(OutputUnit::margin, 2, MarginLink::sigmoid)));
  EXPECT_TRUE(std::isnan(share(OutputUnit::log_odds, 2, MarginLink::softmax)));
}

// Margins whose link is not known say nothing about probabilities: the model's own count, or there are none.
TEST(ReferenceFacts, OfMarginsThatAreNoLogits) {
  for (const size_t outputs : {size_t{1}, size_t{3}}) {
    const size_t classes = outputs == 1 ? 2 : 3;
    OwnedSubject subject = subject_of(first_columns(OutputUnit::margin, outputs, classes, MarginLink::unknown),
                                      numbered(2), matrix_of({{0.5F, 0.25F, 0.25F}, {0.25F, 0.5F, 0.25F}}), {false, 0});
    const ReferenceFacts none = facts_at(subject, matrix_of({{0.125F, 0.5F, 0.375F}}));
    EXPECT_TRUE(std::isnan(none.probability) && std::isnan(none.pool_probability));
    subject.probabilities = first_columns(OutputUnit::probability, outputs, classes);
    const ReferenceFacts own = facts_at(subject, matrix_of({{0.125F, 0.5F, 0.375F}}));
    // One output is the probability of class 1.
    EXPECT_EQ(own.probability, outputs == 1 ? 0.875 : 0.125);
    EXPECT_EQ(own.pool_probability, outputs == 1 ? 0.625 : 0.375);
  }
}

// Sigmoids of two outputs are no softmax.
TEST(ReferenceFacts, OfTwoSigmoids) {
  OwnedSubject subject = subject_of(first_columns(OutputUnit::margin, 2, 2, MarginLink::sigmoid), numbered(2),
                                    matrix_of({{0, 0, 0}}), {false, 1});
  EXPECT_NEAR(facts_at(subject, matrix_of({{5, std::log(3.0F), 0}})).probability, 0.75, 1e-7);
}

// One margin z: class 1 has 1 / (1 + exp(-z)), and class 0 is explained by -z.
TEST(ReferenceFacts, OfOneMarginAndOfProbabilities) {
  const Matrix rows = numbered(2);
  const auto facts_of = [&](OutputUnit unit, size_t which) {
    const auto model = first_columns(unit, 1, 2);
    OwnedSubject subject = subject_of(model, rows, matrix_of({{0.25F, 0, 0}}), {false, which});
    return facts_at(subject, matrix_of({{std::log(3.0F), 0, 0}, {0, 0, 0}}));
  };
  for (const OutputUnit unit : {OutputUnit::margin, OutputUnit::log_odds}) {
    EXPECT_NEAR(facts_of(unit, 1).value, std::log(3.0) / 2, 1e-7);
    EXPECT_NEAR(facts_of(unit, 1).probability, (0.75 + 0.5) / 2, 1e-7);
    EXPECT_NEAR(facts_of(unit, 0).value, -std::log(3.0) / 2, 1e-7);
    EXPECT_NEAR(facts_of(unit, 0).probability, (0.25 + 0.5) / 2, 1e-7);
  }
  const ReferenceFacts plain = facts_of(OutputUnit::probability, 0);
  EXPECT_NEAR(plain.pool_value, 0.75, 1e-7);
  EXPECT_TRUE(std::isnan(plain.probability));
}

TEST(ReferenceFacts, AreNotKnownWhereTheModelGivesNoNumber) {
  const auto model = first_columns(OutputUnit::value, 1, 0);
  OwnedSubject subject = subject_of(model, numbered(2), matrix_of({{NAN, 0, 0}}), {});
  const ReferenceFacts facts = facts_at(subject, matrix_of({{NAN, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(facts.rows, 2U);
  EXPECT_TRUE(std::isnan(facts.value) && std::isnan(facts.pool_value));
}

}  // namespace
}  // namespace assay::testing
