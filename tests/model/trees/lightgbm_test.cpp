#include "assay/model/trees/lightgbm.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/message.h"
#include "tests/model/trees/lightgbm_text.h"
#include "tests/model/trees/tree_fixture.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace assay::testing;
using namespace assay::testing::lightgbm;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Lightgbm, TellsItsFilesByTheirBeginning) {
  EXPECT_TRUE(looks_like_lightgbm(kLightgbmModel));
  EXPECT_TRUE(looks_like_lightgbm("tree\r\nversion=v3"));
  EXPECT_FALSE(looks_like_lightgbm("trees\n"));
  EXPECT_FALSE(looks_like_lightgbm("tree"));
  EXPECT_FALSE(looks_like_lightgbm(""));
  EXPECT_FALSE(looks_like_lightgbm("{\"tree\": 1}"));
}

TEST(Lightgbm, AddsTheLeavesThatARowReaches) {
  EXPECT_THAT(scores(kLightgbmModel, {30, 2.5, 0}), ElementsAre(0.125));
  EXPECT_THAT(scores(kLightgbmModel, {30, 2.6, 0}), ElementsAre(-1.125));
  EXPECT_THAT(scores(kLightgbmModel, {30.5, 0, 34}), ElementsAre(7.875));
  EXPECT_THAT(scores(kLightgbmModel, {31, 0, 2}), ElementsAre(0.375));
  // Thresholds are doubles: the next number above is not below.
  EXPECT_THAT(scores(kLightgbmModel, {std::nextafter(30, 31), 0, 2}), ElementsAre(0.375));
}

TEST(Lightgbm, ReadsWindowsLineEnds) {
  std::string windows;
  for (const char c : kLightgbmModel) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_THAT(scores(windows, {31, 0, 1}), ElementsAre(7.875));
  EXPECT_THAT(read_lightgbm("m.txt", windows).feature_names, ElementsAre("age", "income", "sort"));
}

// Without a missing type NaN is 0; with Zero, zeros and NaN go to the default side; with NaN, NaN alone does.
TEST(Lightgbm, SendsMissingValuesWhereTheirTypeSays) {
  struct Case {
    int type;
    double threshold;
    double x;
    double expected;
  };
  const std::vector<Case> cases = {
      {0, 0.5, kNan, 1},   {2, 0.5, kNan, 1},   {0, -0.5, kNan, 2}, {2, -0.5, kNan, 2}, {0, 0, kNan, 1},
      {2, -0.5, 0, 2},     {0, 0.5, 1e-36, 1},  {4, 0.5, kNan, 2},  {6, 0.5, kNan, 1},  {6, -0.5, kNan, 1},
      {4, 0.5, 0, 2},      {4, 0.5, -1e-36, 2}, {4, 0.5, 1e-34, 1}, {6, -0.5, 0, 1},    {6, -0.5, 1e-36, 1},
      {6, -0.5, 1e-34, 2}, {4, -0.5, -1, 1},    {6, 0.5, 1, 2},     {8, 0.5, kNan, 2},  {10, 0.5, kNan, 1},
      {8, 0.5, 0, 1},      {10, -0.5, kNan, 1}, {10, -0.5, 0, 2},   {10, 0.5, kInf, 2}, {8, 0.5, -kInf, 1},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(scores(file_of(kOne, {stump(c.threshold, c.type)}), {c.x}), ElementsAre(c.expected))
        << c.type << " " << c.threshold << " " << c.x;
  }
}

// Sets {0, 31, 33} and {1}: words of 32 bits, 1 + 2^31 and 2, then 2.
TEST(Lightgbm, SendsCategoriesOfASetLeft) {
  for (const int type : {1, 3, 5, 9, 11}) {
    const auto text = [&](int set) {
      return file_of(kOne, {fmt::format("num_leaves=2\nnum_cat=2\nsplit_feature=0\nthreshold={}\ndecision_type={}\n"
                                        "left_child=-1\nright_child=-2\nleaf_value=1 2\n"
                                        "cat_boundaries=0 2 3\ncat_threshold=2147483649 2 2",
                                        set, type)});
    };
    const std::vector<std::pair<double, double>> first = {
        {0, 1},  {31, 1},   {33, 1},    {33.9, 1}, {-0.0, 1},         {1, 2},     {32, 2},  {64, 2},    {65, 2},
        {-1, 2}, {kNan, 2}, {1e300, 2}, {kInf, 2}, {4294967296.0, 2}, {-kInf, 2}, {-31, 2}, {1e-40, 1}, {30.99, 2}};
    for (const auto& [x, expected] : first) EXPECT_THAT(scores(text(0), {x}), ElementsAre(expected)) << x;
    EXPECT_THAT(scores(text(1), {1}), ElementsAre(1));
    EXPECT_THAT(scores(text(1), {0}), ElementsAre(2));
    EXPECT_THAT(scores(text(1), {33}), ElementsAre(2));
  }
}

TEST(Lightgbm, TakesTreesForClassesInTurn) {
  const std::string head = "num_class=3\nnum_tree_per_iteration=3\nobjective=multiclass num_class:3";
  const std::vector<std::string> trees = {constant(1),  constant(20), stump(0, 2),
                                          constant(10), constant(2),  constant(100)};
  EXPECT_THAT(scores(file_of(head, trees), {-1}), ElementsAre(11, 22, 101));
  EXPECT_THAT(scores(file_of(head, trees), {1}), ElementsAre(11, 22, 102));
  // Averages are of each class's trees.
  const Booster forest = read_lightgbm("m.txt", file_of(head + "\naverage_output", trees));
  EXPECT_THAT(scores(file_of(head + "\naverage_output", trees), {1}), ElementsAre(5.5, 11, 51));
  EXPECT_EQ(forest.note, "Raw scores are the means of the trees, where LightGBM's are their sums.");
  EXPECT_EQ(refusal(file_of(head, {constant(1), constant(2)})),
            "m.txt: expected a multiple of num_tree_per_iteration=3 trees, found 2");
}

TEST(Lightgbm, KnowsTheLinksOfObjectives) {
  struct Case {
    std::string objective;
    size_t targets;
    BoosterLink link;
    bool classification;
  };
  const std::vector<Case> cases = {{"regression", 1, BoosterLink::none, false},
                                   {"regression sqrt", 1, BoosterLink::signed_square, false},
                                   {"regression_l1", 1, BoosterLink::none, false},
                                   {"quantile sqrt", 1, BoosterLink::signed_square, false},
                                   {"huber", 1, BoosterLink::none, false},
                                   {"fair", 1, BoosterLink::none, false},
                                   {"mape", 1, BoosterLink::none, false},
                                   {"poisson", 1, BoosterLink::exponential, false},
                                   {"gamma", 1, BoosterLink::exponential, false},
                                   {"tweedie tweedie_variance_power:1.5", 1, BoosterLink::exponential, false},
                                   {"binary sigmoid:1", 1, BoosterLink::sigmoid, true},
                                   {"multiclass num_class:2", 2, BoosterLink::softmax, true},
                                   {"multiclassova num_class:2 sigmoid:1", 2, BoosterLink::sigmoid, true},
                                   {"cross_entropy", 1, BoosterLink::sigmoid, false},
                                   {"cross_entropy_lambda", 1, BoosterLink::softplus, false},
                                   {"lambdarank", 1, BoosterLink::none, false},
                                   {"rank_xendcg", 1, BoosterLink::none, false}};
  for (const Case& c : cases) {
    const std::string head = fmt::format("num_tree_per_iteration={}\nobjective={}", c.targets, c.objective);
    const Booster booster = read_lightgbm("m.txt", file_of(head, {constant(1), constant(2)}));
    EXPECT_EQ(booster.link, c.link) << c.objective;
    EXPECT_EQ(booster.classification, c.classification) << c.objective;
    EXPECT_EQ(booster.targets, c.targets) << c.objective;
    EXPECT_EQ(booster.note, "") << c.objective;
    const bool other = c.objective.find("rank") != std::string::npos || c.objective.starts_with("quantile");
    EXPECT_EQ(booster.only_scores, other) << c.objective;
    EXPECT_THAT(booster.class_names, IsEmpty());
    EXPECT_EQ(booster.producer, "LightGBM");
  }
}

TEST(Lightgbm, MakesScoresLogOdds) {
  for (const std::string objective : {"binary sigmoid:0.5", "multiclassova num_class:2 sigmoid:0.5"}) {
    const bool two = objective.starts_with("multi");
    const std::string text = file_of(fmt::format("num_tree_per_iteration={}\nobjective={}", two ? 2 : 1, objective),
                                     {constant(3), constant(4)});
    if (two) {
      EXPECT_THAT(scores(text, {0}), ElementsAre(1.5, 2));
    } else {
      EXPECT_THAT(scores(text, {0}), ElementsAre(3.5));
    }
    EXPECT_EQ(read_lightgbm("m.txt", text).note,
              "Raw scores are 0.5 times those of LightGBM, the slope of its sigmoid, so that they are log odds.");
  }
}

TEST(Lightgbm, SaysThatScoresOfOwnObjectivesAreRaw) {
  for (const std::string head : {"num_tree_per_iteration=2", "num_tree_per_iteration=2\nobjective=custom"}) {
    const Booster booster = read_lightgbm("m.txt", file_of(head, {constant(1), constant(2)}));
    EXPECT_EQ(booster.link, BoosterLink::none);
    EXPECT_FALSE(booster.classification);
    EXPECT_EQ(booster.targets, 2U);
    EXPECT_THAT(booster.note, HasSubstr("predictions are raw scores"));
  }
}

TEST(Lightgbm, KeepsTheCountsOfTrainingRows) {
  const TreeEnsemble trees = ensemble(read_lightgbm("m.txt", kLightgbmModel));
  // Root, its children, theirs, and the constant tree: children stand side by side, true ones first.
  EXPECT_THAT(std::vector(trees.covers().begin(), trees.covers().end()), ElementsAre(100, 30, 70, 10, 20, 30, 40, 100));
  // A constant tree without a count takes none away from the others; a branch without one does.
  EXPECT_EQ(ensemble(read_lightgbm("m.txt", with(kLightgbmModel, "leaf_count=100", "leaf_count="))).covers().size(),
            8U);
  EXPECT_THAT(ensemble(read_lightgbm("m.txt", with(kLightgbmModel, "internal_count", "x"))).covers(), IsEmpty());
  EXPECT_THAT(ensemble(read_lightgbm("m.txt", with(kLightgbmModel, "leaf_count", "x"))).covers(), IsEmpty());
}

TEST(Lightgbm, LeavesMadeUpNamesOut) {
  EXPECT_THAT(read_lightgbm("m.txt", file_of(kOne, {constant(1)})).feature_names, IsEmpty());
  const std::string swapped = with(kLightgbmModel, "age income sort", "Column_0 Column_2 Column_1");
  EXPECT_THAT(read_lightgbm("m.txt", swapped).feature_names, ElementsAre("Column_0", "Column_2", "Column_1"));
}

TEST(Lightgbm, ReadsNumbersOfAllForms) {
  EXPECT_THAT(scores(with(kLightgbmModel, "8 5e-1", "1e+308 -2.5E-3"), {31, 0, 1}), ElementsAre(1e308 - 0.125));
  EXPECT_THAT(scores(with(kLightgbmModel, "threshold=30", "threshold=inf"), {1e300, 9, 1}), ElementsAre(-1.125));
}

double linked(const Booster& booster, const std::vector<double>& all, size_t target) {
  const double score = all[target];
  switch (booster.link) {
    case BoosterLink::none: return score;
    case BoosterLink::exponential: return std::exp(score);
    case BoosterLink::signed_square: return score * std::abs(score);
    case BoosterLink::softplus: return std::log1p(std::exp(score));
    case BoosterLink::sigmoid: return 1 / (1 + std::exp(-score));
    case BoosterLink::softmax: break;
  }
  double sum = 0;
  for (const double each : all) sum += std::exp(each - score);
  return 1 / sum;
}

// Models that LightGBM trained, with its own scores and predictions.
TEST(Lightgbm, AgreesWithTheLibrary) {
  size_t models = 0;
  for (const TreeFixture& fixture : tree_fixtures()) {
    if (!fixture.name().starts_with("lightgbm_")) continue;
    models++;
    std::ifstream file(fixture.files.at(0), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(looks_like_lightgbm(text));
    const Booster booster = read_lightgbm(fixture.name(), text);
    EXPECT_EQ(ensemble(booster).covers().size(), ensemble(booster).nodes().size());
    const nlohmann::json& margins = fixture.golden.at("margins");
    const double tolerance = 1e-10 * golden_scale(margins);
    // LightGBM's raw scores of a forest are sums, of which its predictions take the mean.
    const bool forest = text.find("\naverage_output\n") != std::string::npos;
    for (size_t r = 0; r < fixture.rows(); r++) {
      std::vector<double> row;
      for (const nlohmann::json& value : fixture.golden.at("rows")[r]) row.push_back(golden_number(value));
      const std::vector<double> found = scores(text, row);
      ASSERT_EQ(found.size(), margins[r].size()) << fixture.name();
      for (size_t t = 0; t < found.size(); t++) {
        if (!forest) {
          EXPECT_NEAR(found[t], margins[r][t].get<double>(), tolerance) << fixture.name() << " " << r;
        }
        EXPECT_NEAR(linked(booster, found, t), fixture.golden.at("predictions")[r][t].get<double>(), tolerance)
            << fixture.name() << " " << r;
      }
    }
    if (!fixture.has("categories")) continue;
    for (const auto& [feature, texts] : fixture.golden.at("categories").items()) {
      EXPECT_EQ(booster.categories.at(std::stoul(feature)), texts.get<std::vector<std::string>>()) << fixture.name();
    }
  }
  EXPECT_GE(models, 11U);
}

// tree_sizes are places in the file, which line ends and editors change.
TEST(Lightgbm, IgnoresSizesOfTrees) {
  EXPECT_THAT(scores(with(kLightgbmModel, "tree_sizes=1 2", "tree_sizes=-7 99999999999999999999 x"), {31, 0, 1}),
              ElementsAre(7.875));
}

}  // namespace
}  // namespace assay
