// Model files of XGBoost, LightGBM and ONNX against what the libraries themselves say: scores and predictions.
#include <gtest/gtest.h>

#include "tests/model/trees/tree_fixture.h"

namespace assay::testing {
namespace {

using nlohmann::json;

// Libraries sum float32 in their own order: near to the rounding of the largest score.
void expect_scores(const json& expected, MatrixView<const float> found) {
  ASSERT_EQ(found.rows(), expected.size());
  ASSERT_EQ(found.cols(), expected.at(0).size());
  const double scale = golden_scale(expected);
  for (size_t r = 0; r < found.rows(); r++) {
    for (size_t c = 0; c < found.cols(); c++) {
      EXPECT_NEAR(found(r, c), expected[r][c].get<double>(), 1e-6 * scale) << "row " << r << ", output " << c;
    }
  }
}

template <class Check>
void for_all_files(const Check& check) {
  const std::vector<TreeFixture> fixtures = tree_fixtures();
  ASSERT_GE(fixtures.size(), 25U);
  for (const TreeFixture& fixture : fixtures) {
    ASSERT_FALSE(fixture.files.empty()) << fixture.name();
    for (const std::string& file : fixture.files) {
      SCOPED_TRACE(file);
      check(fixture, file);
    }
  }
}

TEST(TreeFixtures, RawScoresAreThoseOfTheLibrary) {
  for_all_files([](const TreeFixture& fixture, const std::string& file) {
    const std::unique_ptr<EngineModel> model = fixture_model(file);
    const bool chance = fixture.golden.at("unit") == "probability";
    const OutputUnit of_scores = model->info().class_names.empty() ? OutputUnit::value : OutputUnit::margin;
    EXPECT_EQ(model->info().unit, chance ? OutputUnit::probability : of_scores);
    const Matrix rows = golden_matrix(fixture, "rows");
    Matrix outputs(rows.rows(), model->info().outputs());
    model->predict(rows.view(), outputs.view(), {});
    expect_scores(fixture.golden.at("margins"), outputs.view());
  });
}

// A score that only says an order has no error against a label. Poisson's value is the logarithm of the prediction.
TEST(TreeFixtures, ScoresOfARankingAreNoPredictions) {
  for_all_files([](const TreeFixture& fixture, const std::string& file) {
    const std::string name = fixture.name();
    const bool other = name.ends_with("_ranking") || name.ends_with("_poisson");
    EXPECT_EQ(fixture_model(file)->info().value_is_prediction, !other) << name;
  });
}

TEST(TreeFixtures, PredictionsAreThoseOfTheLibrary) {
  for_all_files([](const TreeFixture& fixture, const std::string& file) {
    const std::unique_ptr<EngineModel> model = fixture_model(file);
    const Matrix rows = golden_matrix(fixture, "rows");
    const Table outputs = model->own_outputs(rows.view(), {});
    // Files of classifiers have a label first.
    const size_t width = fixture.golden.at("predictions").at(0).size();
    ASSERT_GE(outputs.values.cols(), width);
    const size_t first = outputs.values.cols() - width;
    const MatrixView<const float> all = outputs.values.view();
    expect_scores(fixture.golden.at("predictions"), {all.data() + first, all.rows(), width, all.stride()});
  });
}

TEST(TreeFixtures, ProbabilitiesAreThoseOfTheLibrary) {
  size_t checked = 0;
  for_all_files([&](const TreeFixture& fixture, const std::string& file) {
    if (fixture_model(file)->info().class_names.empty()) return;
    const std::unique_ptr<EngineModel> model = fixture_model(file, {.unit = OutputUnit::probability});
    const Matrix rows = golden_matrix(fixture, "rows");
    Matrix outputs(rows.rows(), model->info().outputs());
    model->predict(rows.view(), outputs.view(), {});
    json expected = fixture.golden.at("predictions");
    // Of two classes one output is enough: the second.
    if (outputs.cols() == 1 && expected.at(0).size() == 2) {
      for (json& row : expected) row.erase(0);
    }
    expect_scores(expected, outputs.view());
    checked++;
  });
  EXPECT_GE(checked, 14U);
}

// Texts of categories become the codes that the library gave them.
TEST(TreeFixtures, TablesGiveTheSameRows) {
  for_all_files([](const TreeFixture& fixture, const std::string& file) {
    const std::unique_ptr<EngineModel> model = fixture_model(file);
    for (const char* key : {"rows", "background"}) {
      const Table table = read_table((fixture.folder / key).string() + ".csv");
      const Dataset data = model->features_of(table);
      const Matrix expected = golden_matrix(fixture, key);
      ASSERT_EQ(data.x.rows(), expected.rows());
      ASSERT_EQ(data.x.cols(), expected.cols());
      for (size_t i = 0; i < expected.values().size(); i++) {
        const float wanted = expected.values()[i];
        const float found = data.x.values()[i];
        EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted))) << found << " for " << wanted;
      }
      if (!fixture.has("categories")) continue;
      for (const auto& [feature, texts] : fixture.golden.at("categories").items()) {
        const FeatureGroup& group = data.groups.at(std::stoul(feature));
        EXPECT_EQ(group.kind, ColumnKind::categorical);
        EXPECT_EQ(group.levels, texts.get<std::vector<std::string>>());
      }
    }
  });
}

}  // namespace
}  // namespace assay::testing
