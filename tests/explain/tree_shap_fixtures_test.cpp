// tree_shap and tree_shap_path on models of XGBoost, LightGBM and ONNX (tests/fixtures/trees) against brute force over
// all coalitions, the libraries' own contributions, and shap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "assay/explain/methods.h"
#include "tests/explain/run_method.h"
#include "tests/message.h"
#include "tests/model/trees/tree_fixture.h"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A fixture's file with its rows and background, for one raw score.
Setting fixture_task(const TreeFixture& fixture, const std::string& file, size_t target) {
  Setting made;
  made.model = fixture_model(file);
  made.rows = golden_matrix(fixture, "rows");
  made.reference.rows = golden_matrix(fixture, "background");
  made.reference.description = "test";
  // One score is that of the second class of two, or of a regression.
  const size_t which = fixture.targets() > 1 ? target : target_names(made.model->info()).size() - 1;
  made.targets = freeze_targets(*made.model, made.rows.view(), {.which = which}, {});
  made.players = column_players(made.model->info().feature_names);
  return made;
}

Explanations explained_by(const char* method, const Setting& setting) {
  return explain(parse_spec("method", method), setting.task(), on_threads(2));
}

// values(row) are those expected of one target.
void expect_values(const Explanations& found, const std::function<const json&(size_t)>& values,
                   const std::function<double(size_t)>& base, double tolerance) {
  double scale = 0;
  for (size_t r = 0; r < found.rows(); r++) scale = std::max({scale, golden_scale(values(r)), std::abs(base(r))});
  for (size_t r = 0; r < found.rows(); r++) {
    const json& wanted = values(r);
    for (size_t f = 0; f < found.values.cols(); f++) {
      EXPECT_NEAR(found.values(r, f), wanted.at(f).get<double>(), tolerance * scale)
          << "row " << r << ", feature " << found.features[f];
    }
    EXPECT_NEAR(found.base.at(r), base(r), tolerance * scale) << "row " << r;
  }
}

// An object of golden.json with "values" and "base".
void expect_golden(const Explanations& found, const json& golden, size_t target, double tolerance) {
  expect_values(
      found, [&](size_t r) -> const json& { return golden.at("values").at(r).at(target); },
      [&](size_t) { return golden.at("base").at(target).get<double>(); }, tolerance);
}

// What each row's values leave unexplained, beside the output's scale: values are stored as float32.
void expect_complete(const Explanations& found) {
  double scale = 0;
  for (const double output : found.output) scale = std::max(scale, std::abs(output));
  for (const double gap : found.gap) EXPECT_LT(std::abs(gap), 2e-6 * scale);
}

template <class Check>
void for_all_targets(const Check& check) {
  const std::vector<TreeFixture> fixtures = tree_fixtures();
  ASSERT_GE(fixtures.size(), 25U);
  for (const TreeFixture& fixture : fixtures) {
    for (const std::string& file : fixture.files) {
      for (size_t target = 0; target < fixture.targets(); target++) {
        SCOPED_TRACE(fmt::format("{}, target {}", file, target));
        check(fixture, fixture_task(fixture, file, target), target);
      }
    }
  }
}

TEST(TreeShapFixtures, InterventionalValuesAreThoseOfBruteForceAndShap) {
  size_t by_shap = 0;
  for_all_targets([&](const TreeFixture& fixture, const Setting& setting, size_t target) {
    const Explanations found = explained_by("tree_shap", setting);
    // The library's raw scores are float32 sums.
    expect_golden(found, fixture.golden.at("exact_interventional"), target, 2e-6);
    expect_complete(found);
    if (!fixture.has("shap_interventional")) return;
    expect_golden(found, fixture.golden.at("shap_interventional"), target, 1e-5);
    by_shap++;
  });
  EXPECT_GE(by_shap, 20U);
}

TEST(TreeShapFixtures, InterventionalValuesAreThoseOfExactShapley) {
  for_all_targets([](const TreeFixture& /*fixture*/, const Setting& setting, size_t /*target*/) {
    const Explanations exact = explained_by("exact_shapley", setting);
    const Explanations found = explained_by("tree_shap", setting);
    double scale = 0;
    for (const float value : exact.values.values()) scale = std::max(scale, std::abs(double{value}));
    for (size_t i = 0; i < exact.values.values().size(); i++) {
      EXPECT_NEAR(found.values.values()[i], exact.values.values()[i], 1e-6 * scale) << "value " << i;
    }
  });
}

TEST(TreeShapFixtures, PathDependentValuesAreThoseOfTheLibraryAndShap) {
  size_t by_library = 0;
  size_t by_shap = 0;
  for_all_targets([&](const TreeFixture& fixture, Setting setting, size_t target) {
    setting.reference = {};
    if (!fixture.has("contribs")) {
      EXPECT_THAT(message_of([&] { explained_by("tree_shap_path", setting); }), HasSubstr("cover"));
      return;
    }
    const Explanations found = explained_by("tree_shap_path", setting);
    const json& contribs = fixture.golden.at("contribs");
    expect_values(
        found, [&](size_t r) -> const json& { return contribs.at(r).at(target); },
        [&](size_t r) { return contribs.at(r).at(target).back().get<double>(); }, 1e-5);
    expect_complete(found);
    by_library++;
    if (!fixture.has("shap_path")) return;
    expect_golden(found, fixture.golden.at("shap_path"), target, 1e-5);
    by_shap++;
  });
  EXPECT_GE(by_library, 22U);
  EXPECT_GE(by_shap, 15U);
}

}  // namespace
}  // namespace assay::testing
