#include <gtest/gtest.h>

#include "assay/evaluate/removal/curves.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// z = ln 3 x0: p = 3/4 at 1 and 1/2 at 0. Two players, the second without effect. Removing 0 first: the curve over
// 3/4 is 1, 2/3, 2/3, area (5/6 + 2/3) / 2 = 3/4, so 1/4. The other way round: 1, 1, 2/3: (1 + 5/6) / 2 = 11/12.
TEST(Irof, IsTheAreaOverTheRelativeCurve) {
  const std::vector<std::vector<float>> rows = {{1, 1}, {1, 1}};
  Trial trial = removal_trial(one_output({std::log(3.0), 0}), rows, {{0, 0}}, {{2, 1}, {1, 2}});
  const Scores found = scored("irof", "", trial);
  EXPECT_NEAR(found.values[0], 0.25, 1e-6);
  EXPECT_NEAR(found.values[1], 1.0 / 12, 1e-6);
  EXPECT_EQ(found.tables.at(0).columns[1], "relative probability");
  EXPECT_NEAR(found.tables.at(0).rows.at(0).at(1), 1, 1e-12);
}

TEST(Irof, IsWhatPlainLoopsFind) {
  RandomStream random(51, "irof_test");
  const Linear linear = random_linear(random, 5, 3);
  const auto rows = random_rows(random, 15, 5);
  const auto reference = random_rows(random, 3, 5);
  const auto phi = random_rows(random, 15, 5);
  Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, phi);
  const Scores found = scored("irof", "", made);
  for (size_t r = 0; r < rows.size(); r++) {
    const std::vector<double> at_row = plain_softmax(linear.margins({rows[r].begin(), rows[r].end()}));
    const auto y = static_cast<size_t>(std::max_element(at_row.begin(), at_row.end()) - at_row.begin());
    double area = 0;
    for (const auto& absent : reference) {
      for (size_t m = 0; m <= 5; m++) {
        const auto x = with_at_reference(rows[r], absent, first_of(by_value(phi[r]), m));
        area += plain_softmax(linear.margins(x))[y] / at_row[y] * (m == 0 || m == 5 ? 0.5 : 1) / 5 / 3;
      }
    }
    EXPECT_NEAR(found.values[r], 1 - area, 1e-6);
  }
}

TEST(Irof, DegenerateRows) {
  // A model that gives 0 for all classes at the first row: nothing is relative to that. A constant one otherwise.
  ModelInfo info;
  info.name = "holes";
  info.feature_names = {"x0"};
  info.output_names = info.class_names = {"a", "b"};
  info.unit = OutputUnit::probability;
  info.no_gradient = "it is a function";
  const auto holes = [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) {
      outputs(r, 0) = rows(r, 0) == -200 ? 0 : 0.75F;
      outputs(r, 1) = rows(r, 0) == -200 ? 0 : 0.25F;
    }
  };
  Trial trial = removal_trial(model_from_function(info, holes), {{-200}, {0.5F}, {1}}, {{0}}, {{1}, {1}, {0}}, "0");
  const Scores found = scored("irof", "", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_EQ(found.values[1], 0);
  EXPECT_TRUE(std::isnan(found.values[2]));
  ASSERT_EQ(found.undefined.size(), 2U);
  std::vector<std::string> reasons = {found.undefined[0].reason, found.undefined[1].reason};
  std::sort(reasons.begin(), reasons.end());
  EXPECT_EQ(reasons, (std::vector<std::string>{"all attributions are 0", "the class has probability 0 at the row"}));
  Trial regression = removal_trial(one_output({1}, OutputUnit::value), {{1}}, {{0}}, {{1}});
  EXPECT_EQ(refusal_of("irof", "", regression), "needs classes, and the model gives values of a regression");
  EXPECT_EQ(refusal_of("irof", "", trial), "");
}

// p(1) = 1 / (1 + e^9) = 1.2e-4 at the second row, of class 0: relative to that, the curve would go up to 4052, and one
// such row would make up the mean. Its curve is not even run: 2 rows, 1 reference row, 1 inner point of the first.
TEST(Irof, IsOfThePredictedClassAlone) {
  Trial trial = removal_trial(one_output({1, 0}), {{1, 1}, {-9, 1}}, {{0, 0}}, {{2, 1}, {2, 1}}, "1");
  const Scores found = scored("irof", "", trial);
  EXPECT_FALSE(std::isnan(found.values[0]));
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_EQ(found.undefined.at(0).reason, kNotPredicted);
  EXPECT_EQ(found.evaluations, 2U + 1 + 1);
  EXPECT_TRUE(found.notes.empty());
  Trial predicted = removal_trial(one_output({1, 0}), {{1, 1}, {-9, 1}}, {{0, 0}}, {{2, 1}, {2, 1}}, "predicted");
  const Scores all = scored("irof", "", predicted);
  EXPECT_EQ(all.coverage, 1);
  EXPECT_EQ(all.values[0], found.values[0]);
  // The information form is scored for the predicted class.
  trial.setting->targets = information_targets(*trial.setting->model, 2);
  EXPECT_EQ(scored("irof", "", trial).values, all.values);
}

TEST(Irof, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("irof", "", trial);
}

}  // namespace
}  // namespace assay::testing
