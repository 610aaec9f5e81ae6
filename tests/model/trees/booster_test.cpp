#include "assay/model/trees/booster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/model/engine_model.h"
#include "tests/message.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TreeSource::Node leaf(size_t weight, double cover, size_t count = 1) {
  TreeSource::Node made;
  made.first_weight = weight;
  made.weight_count = count;
  made.cover = cover;
  return made;
}

TreeSource::Node branch(TreeMode mode, int64_t feature, double threshold, size_t true_child, size_t false_child,
                        double cover, bool missing_true = false) {
  TreeSource::Node made;
  made.mode = mode;
  made.feature = feature;
  made.threshold = threshold;
  made.true_child = true_child;
  made.false_child = false_child;
  made.cover = cover;
  made.missing_goes_true = missing_true;
  return made;
}

// x0 < 0.5 ? 1 : (category x1 in {1, 2} ? 2 : 4), and a second tree of one leaf, 8.
Booster two_trees() {
  Booster made;
  made.producer = "a test";
  made.features = 2;
  made.source.nodes = {branch(TreeMode::less, 0, 0.5, 1, 2, 10, true),
                       leaf(0, 4),
                       branch(TreeMode::member_whole, 1, 0, 3, 4, 6),
                       leaf(1, 5),
                       leaf(2, 1),
                       leaf(3, 10)};
  made.source.roots = {0, 5};
  made.source.weights = {{0, 1}, {0, 2}, {0, 4}, {0, 8}};
  made.source.sets = {{2, 1}};
  made.base = {0.25};
  return made;
}

std::vector<float> predicted(const Model& model, const std::vector<std::vector<float>>& rows) {
  Matrix x(rows.size(), rows[0].size());
  for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(rows[r], x.row(r).begin());
  Matrix y(x.rows(), model.info().outputs());
  model.predict(x.view(), y.view(), {});
  return {y.values().begin(), y.values().end()};
}

std::unique_ptr<EngineModel> model_of(const Booster& booster, std::optional<OutputUnit> unit = {}) {
  return EngineModel::from_onnx("m", booster_graph("m", booster), {unit});
}

Table table_of(std::vector<Column> columns, const std::vector<std::vector<float>>& rows) {
  Table made;
  made.source = "t.csv";
  made.columns = std::move(columns);
  made.values = Matrix(rows.size(), made.columns.size());
  for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(rows[r], made.values.row(r).begin());
  return made;
}

TEST(Booster, RegressionExplainsRawScores) {
  Booster booster = two_trees();
  const auto model = model_of(booster);
  EXPECT_EQ(model->info().unit, OutputUnit::value);
  EXPECT_THAT(predicted(*model, {{0, 0}, {1, 1}, {1, 2.7F}, {1, 3}, {1, -1}, {1, kNan}, {kNan, 0}}),
              ElementsAre(9.25F, 10.25F, 10.25F, 12.25F, 12.25F, 12.25F, 9.25F));
  EXPECT_EQ(model->differentiable(), nullptr);
  EXPECT_THAT(model->info().no_gradient, HasSubstr("Trees"));
}

TEST(Booster, LinksLeadToTheLibrarysPredictionsAndRawScoresAreExplained) {
  struct Case {
    BoosterLink link;
    double expected;
  };
  for (const Case& each : {Case{BoosterLink::none, 9.25}, Case{BoosterLink::exponential, std::exp(9.25)},
                           Case{BoosterLink::signed_square, 9.25 * 9.25}, Case{BoosterLink::softplus, 9.25009609},
                           Case{BoosterLink::sigmoid, 1 / (1 + std::exp(-9.25))}}) {
    Booster booster = two_trees();
    booster.link = each.link;
    booster.note = "a note";
    const auto model = model_of(booster);
    Matrix x(1, 2);
    const Table own = model->own_outputs(x.view(), {});
    EXPECT_EQ(own.columns[0].name, "value");
    EXPECT_NEAR(own.values(0, 0), each.expected, 1e-6 * each.expected);
    EXPECT_THAT(predicted(*model, {{0, 0}}), ElementsAre(9.25F));
    EXPECT_THAT(model->info().note, EndsWith("a note"));
    EXPECT_EQ(model->info().note == "a note", each.link == BoosterLink::none);
    EXPECT_TRUE(model->info().class_names.empty());
    ASSERT_NE(model->tree_scores(), nullptr);
    EXPECT_TRUE(model->tree_scores()->are_outputs());
  }
  Booster negative = two_trees();
  negative.link = BoosterLink::signed_square;
  negative.base = {-20};
  Matrix x(1, 2);
  EXPECT_FLOAT_EQ(model_of(negative)->own_outputs(x.view(), {}).values(0, 0), -121);
}

TEST(Booster, ARegressionOfProbabilitiesHasThem) {
  Booster booster = two_trees();
  booster.base = {-9};
  booster.link = BoosterLink::sigmoid;
  const auto probabilities = model_of(booster, OutputUnit::probability);
  EXPECT_EQ(probabilities->info().unit, OutputUnit::probability);
  EXPECT_TRUE(probabilities->info().class_names.empty());
  EXPECT_THAT(probabilities->info().output_names, ElementsAre("value"));
  EXPECT_THAT(predicted(*probabilities, {{0, 0}, {1, 1}}), ElementsAre(0.5F, FloatEq(0.7310586F)));
  const auto log_odds = model_of(booster, OutputUnit::log_odds);
  EXPECT_EQ(log_odds->info().unit, OutputUnit::log_odds);
  EXPECT_THAT(predicted(*log_odds, {{0, 0}, {1, 1}}), ElementsAre(0.0F, 1.0F));
  EXPECT_EQ(model_of(booster, OutputUnit::margin)->info().unit, OutputUnit::value);
  booster.link = BoosterLink::exponential;
  EXPECT_THAT(message_of([&] { model_of(booster, OutputUnit::probability); }),
              HasSubstr("output probability is not available"));
}

// 0.5 and the next double above it are one float32 number; x0 < 0.5 tells 0.5 from the one below.
TEST(Booster, CellsKeepTheirSideWhereTheLibraryComparesDoubles) {
  Booster booster = two_trees();
  const double below = std::nextafter(0.5, 0);
  const Table table = table_of({{"a"}, {"b"}}, {{0.5F, 3}, {0.5F, 3}, {kNan, 3}});
  KeptDoubles doubles;
  doubles.set("a", {0.5, below, std::nan("")});
  // Rounded, as XGBoost does it.
  EXPECT_FALSE(model_of(booster)->compares_doubles());
  EXPECT_EQ(model_of(booster)->features_of(table, &doubles).x(1, 0), 0.5F);
  booster.compares_doubles = true;
  const auto model = model_of(booster);
  EXPECT_TRUE(model->compares_doubles());
  const Dataset data = model->features_of(table, &doubles);
  EXPECT_EQ(data.x(0, 0), 0.5F);
  EXPECT_EQ(data.x(1, 0), std::nextafter(0.5F, 0.0F));
  EXPECT_TRUE(std::isnan(data.x(2, 0)));
  EXPECT_EQ(data.x(1, 1), 3);
  const double rows[] = {below, 3};
  const Matrix narrowed = model->narrowed("rows", {"a", "b"}, {rows, 1, 2});
  EXPECT_EQ(narrowed(0, 0), std::nextafter(0.5F, 0.0F));
  // It is written with the model.
  const auto again = EngineModel::from_onnx("m", parse_onnx("m", serialise_onnx(booster_graph("m", booster)), ""), {});
  EXPECT_TRUE(again->compares_doubles());
}

TEST(Booster, ACellWithoutANumberIsRefused) {
  Booster booster = two_trees();
  booster.compares_doubles = true;
  booster.source.nodes = {branch(TreeMode::less_equal, 0, 100000000.5, 1, 2, 10), leaf(0, 4),
                          branch(TreeMode::less_equal, 0, 100000001.5, 3, 4, 6), leaf(1, 5), leaf(2, 1)};
  booster.source.roots = {0};
  booster.source.weights = {{0, 1}, {0, 2}, {0, 4}};
  const Table table = table_of({{"a"}, {"b"}}, {{100000000, 0}, {100000000, 0}});
  KeptDoubles doubles;
  doubles.set("a", {100000000, 100000001});
  const auto model = model_of(booster);
  EXPECT_THAT(
      message_of([&] { model->features_of(table, &doubles); }),
      HasSubstr("row 2: column 'a': no float32 number, which cells are kept as, lies with 100000001 between the "
                "model's thresholds 100000000.5 and 100000001.5 (m); "));
  const double rows[] = {100000001, 3};
  EXPECT_THAT(message_of([&] { model->narrowed("rows", {"a", "b"}, {rows, 1, 2}); }),
              HasSubstr("rows, row 0 (counted from 0), column 'a': no float32 number"));
}

// Spaces of names are underscores in LightGBM's files, and nobody else's.
TEST(Booster, NamesOfLightgbmHaveUnderscoresForSpaces) {
  Booster booster = two_trees();
  booster.feature_names = {"some_name", "b"};
  const Table table = table_of({{"b"}, {"some name"}}, {{3, 0}});
  EXPECT_THAT(message_of([&] { model_of(booster)->features_of(table); }), HasSubstr("column 'some_name' is missing"));
  booster.producer = "LightGBM";
  EXPECT_EQ(model_of(booster)->features_of(table).x(0, 1), 3);
  const Table both = table_of({{"b"}, {"some name"}, {"some_name"}}, {{3, 0, 7}});
  EXPECT_EQ(model_of(booster)->features_of(both).x(0, 0), 7);
}

TEST(Booster, ClassificationHasMarginsAndProbabilities) {
  Booster booster = two_trees();
  booster.base = {-9};
  booster.classification = true;
  booster.link = BoosterLink::sigmoid;
  booster.class_names = {"no", "yes"};
  const auto margins = model_of(booster);
  EXPECT_EQ(margins->info().unit, OutputUnit::margin);
  EXPECT_THAT(margins->info().output_names, ElementsAre("yes"));
  EXPECT_THAT(predicted(*margins, {{0, 0}, {1, 1}}), ElementsAre(0.0F, 1.0F));
  const auto probabilities = model_of(booster, OutputUnit::probability);
  EXPECT_THAT(predicted(*probabilities, {{0, 0}, {1, 1}}), ElementsAre(0.5F, FloatEq(0.7310586F)));
  ASSERT_NE(probabilities->tree_scores(), nullptr);
  EXPECT_FALSE(probabilities->tree_scores()->are_outputs());
  Matrix scores(2, 1), outputs(2, 1);
  scores(1, 0) = 1;
  probabilities->tree_scores()->outputs_of(scores.view(), outputs.view(), {});
  EXPECT_FLOAT_EQ(outputs(0, 0), 0.5F);
  EXPECT_FLOAT_EQ(outputs(1, 0), 0.7310586F);
}

TEST(Booster, LeavesMayHoldProbabilitiesOfSeveralClasses) {
  Booster booster = two_trees();
  booster.classification = true;
  booster.targets = 3;
  booster.base = {};
  booster.aggregate = TreeAggregate::average;
  booster.source.nodes = {branch(TreeMode::less_equal, 0, 0.5, 1, 2, 3), leaf(0, 1, 2), leaf(2, 2, 1)};
  booster.source.roots = {0, 0 + 1};
  booster.source.weights = {{0, 0.25}, {2, 0.75}, {1, 1}};
  const auto model = model_of(booster);
  EXPECT_EQ(model->info().unit, OutputUnit::probability);
  EXPECT_THAT(model->info().class_names, ElementsAre("0", "1", "2"));
  EXPECT_THAT(predicted(*model, {{0, 0}, {1, 0}}), ElementsAre(0.25F, 0, 0.75F, 0.125F, 0.5F, 0.375F));
  ASSERT_NE(model->tree_scores(), nullptr);
  EXPECT_TRUE(model->tree_scores()->are_outputs());
  EXPECT_EQ(model->tree_scores()->trees().tree_share(), 0.5);
}

TEST(Booster, TreesComeBackAsTheyWere) {
  const auto model = model_of(two_trees());
  const TreeEnsemble& trees = model->tree_scores()->trees();
  EXPECT_EQ(trees.features(), 2U);
  EXPECT_EQ(trees.roots().size(), 2U);
  ASSERT_EQ(trees.covers().size(), 6U);
  const TreeNode& root = trees.nodes()[trees.roots()[0]];
  EXPECT_EQ(trees.covers()[trees.roots()[0]], 10);
  EXPECT_EQ(trees.covers()[root.child], 4);
  EXPECT_EQ(trees.covers()[root.child + 1], 6);
  EXPECT_THAT(trees.members(trees.nodes()[root.child + 1]), ElementsAre(1, 2));
  EXPECT_THAT(trees.base(), ElementsAre(0.25));
  Booster unknown = two_trees();
  unknown.source.nodes[3].cover = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(model_of(unknown)->tree_scores()->trees().covers().empty());
}

// Whoever makes a TreeSource without a graph is checked as well.
TEST(Booster, SourcesThatLeadNowhereAreRefused) {
  const auto refused = [](const std::function<void(TreeSource&)>& change) {
    TreeSource source = two_trees().source;
    change(source);
    return message_of([&] { TreeEnsemble("t", source, 2, 1, TreeAggregate::sum, {}); });
  };
  EXPECT_EQ(refused([](TreeSource&) {}), "no error");
  EXPECT_EQ(refused([](TreeSource& s) { s.nodes[0].false_child = 9; }), "t: a child of node 0 does not exist");
  EXPECT_EQ(refused([](TreeSource& s) { s.nodes[1].first_weight = SIZE_MAX; }), "t: a weight of node 0 does not exist");
  EXPECT_EQ(refused([](TreeSource& s) { s.nodes[2].threshold = -1; }), "t: the set of node 0 does not exist");
  EXPECT_EQ(refused([](TreeSource& s) { s.roots[0] = 9; }), "t: a root does not exist");
  // Though there are weights enough for all leaves.
  EXPECT_EQ(refused([](TreeSource& s) {
              s.weights.push_back({0, 16});
              s.nodes[4].first_weight = 1;
            }),
            "t: leaves share weights, as node 0 does");
  EXPECT_EQ(message_of([] { TreeEnsemble("t", two_trees().source, 2, 1, TreeAggregate::sum, {1, 2}); }),
            "t: expected 1 base values, found 2");
}

// A leaf with many weights that many branches lead to would take a time that grows with the square of the file.
TEST(Booster, BranchesDoNotMakeManyWeightsOfFew) {
  const auto shared = [](size_t branches, size_t weights) {
    TreeSource source;
    for (size_t i = 0; i < branches; i++) {
      source.nodes.push_back(branch(TreeMode::less, 0, static_cast<double>(i), branches, i + 1, 1));
    }
    source.nodes.push_back(leaf(0, 1, weights));
    for (size_t w = 0; w < weights; w++) source.weights.push_back({static_cast<uint32_t>(w), 1});
    source.roots = {0};
    return message_of([&] { TreeEnsemble("t", source, 1, weights, TreeAggregate::sum, {}); });
  };
  EXPECT_EQ(shared(1000, 10), "no error");
  EXPECT_EQ(shared(10, 1000), "no error");
  // 1,001 + 1,000 + 1 of them, 16 times.
  EXPECT_EQ(shared(1000, 1000),
            "t: expected at most 32032 weights at the leaves of all branches, found more: many branches lead to one "
            "leaf, as to node 0");
}

// NaN in a set is no member, and leaves the order of the others alone.
TEST(Booster, SetsMayHoldNan) {
  Booster booster = two_trees();
  booster.source.sets = {{2, std::nan(""), 1, std::nan(""), 7}};
  EXPECT_THAT(predicted(*model_of(booster), {{1, 1}, {1, 7}, {1, 3}, {1, kNan}}),
              ElementsAre(10.25F, 10.25F, 12.25F, 12.25F));
}

// f(x - c) as trees of x: thresholds move along, and what is not about order cannot.
TEST(Booster, ShiftedTreesGiveTheSameForShiftedRows) {
  const auto model = model_of(two_trees());
  const TreeEnsemble& trees = model->tree_scores()->trees();
  const std::vector<float> c = {10, 0};
  const std::optional<TreeEnsemble> shifted = trees.shifted(c);
  ASSERT_TRUE(shifted);
  std::vector<std::byte> scratch(shifted->scratch_count() * TreeEnsemble::kScratchSize);
  std::vector<double> found;
  const float rows[] = {10, 1, 11, 1, 10.5F, 3, kNan, 3};
  shifted->for_rows(rows, 4, 2, scratch.data(),
                    [&](size_t, std::span<double> scores, const uint8_t*) { found.push_back(scores[0]); });
  EXPECT_THAT(found, ElementsAre(9.25, 10.25, 12.25, 9.25));
  EXPECT_FALSE(trees.shifted(std::vector<float>{0, 1}));
}

TEST(Booster, ZeroMayBeMissing) {
  Booster booster = two_trees();
  booster.source.nodes[0] = branch(TreeMode::less_equal_or_zero, 0, -1, 1, 2, 10, true);
  const auto model = model_of(booster);
  EXPECT_THAT(predicted(*model, {{0, 0}, {-0.0F, 0}, {1e-36F, 0}, {1e-34F, 0}, {-2, 0}, {kNan, 0}}),
              ElementsAre(9.25F, 9.25F, 9.25F, 12.25F, 9.25F, 9.25F));
}

TEST(Booster, TextsAreTheCodesOfTheModelsCategories) {
  Booster booster = two_trees();
  booster.feature_names = {"size", "colour"};
  booster.categories[1] = {"red", "7", "blue"};
  const auto model = model_of(booster);
  Column colour{"colour", ColumnKind::categorical};
  colour.levels = {"7", "blue"};
  const Dataset data = model->features_of(table_of({colour, {"size"}}, {{1, 1}, {0, 2}, {kNan, 3}}));
  EXPECT_THAT(std::vector<float>(data.x.values().begin(), data.x.values().begin() + 4), ElementsAre(1, 2, 2, 1));
  EXPECT_TRUE(std::isnan(data.x(2, 1)));
  EXPECT_EQ(data.groups[1].kind, ColumnKind::categorical);
  EXPECT_THAT(data.groups[1].levels, ElementsAre("red", "7", "blue"));
  EXPECT_EQ(data.groups[0].kind, ColumnKind::numeric);
  // Numbers are texts too.
  EXPECT_EQ(model->features_of(table_of({{"colour"}, {"size"}}, {{7, 1}})).x(0, 1), 1);
  colour.levels = {"7", "green"};
  EXPECT_EQ(message_of([&] { model->features_of(table_of({colour, {"size"}}, {{0, 1}, {1, 2}})); }),
            "t.csv: row 2: column 'colour' holds 'green', which is no category that m knows; it knows 'red', '7' and "
            "'blue'");
}

TEST(Booster, CodesWithoutTextsStayAsTheyAre) {
  Booster booster = two_trees();
  booster.categories[1] = {};
  const auto model = model_of(booster);
  const Dataset data = model->features_of(table_of({{"a"}, {"b"}}, {{1, 300}}));
  EXPECT_EQ(data.x(0, 1), 300);
  EXPECT_EQ(data.groups[1].kind, ColumnKind::categorical);
  Column truth{"b", ColumnKind::categorical};
  truth.levels = {"False", "True"};
  const Dataset numbers = model->features_of(table_of({{"a"}, truth}, {{1, 0}, {1, 1}, {1, kNan}}));
  EXPECT_EQ(numbers.x(0, 1), 0);
  EXPECT_EQ(numbers.x(1, 1), 1);
  EXPECT_TRUE(std::isnan(numbers.x(2, 1)));
  Column text{"b", ColumnKind::categorical};
  text.levels = {"red"};
  EXPECT_EQ(message_of([&] { model->features_of(table_of({{"a"}, text}, {{1, 0}})); }),
            "t.csv: column 'b' is text ('red' in row 1); m takes numbers there");
}

TEST(Booster, ContradictionsAreRefused) {
  const auto refused = [](const std::function<void(Booster&)>& change) {
    Booster booster = two_trees();
    change(booster);
    return message_of([&] { model_of(booster); });
  };
  EXPECT_EQ(refused([](Booster& b) { b.features = 0; }), "m: expected at least one feature, found none");
  EXPECT_EQ(refused([](Booster& b) { b.targets = 0; }), "m: expected at least one target, found none");
  EXPECT_EQ(refused([](Booster& b) { b.feature_names = {"a"}; }), "m: expected 2 names of features, found 1");
  EXPECT_EQ(refused([](Booster& b) { b.feature_names = {"a", "a"}; }), "m: two features are named 'a'");
  EXPECT_EQ(refused([](Booster& b) { b.base = {1, 2}; }), "m: expected 1 base values, found 2");
  EXPECT_EQ(refused([](Booster& b) { b.class_names = {"a"}; }), "m: expected 2 names of classes, found 1");
  EXPECT_EQ(refused([](Booster& b) { b.categories[2] = {}; }), "m: feature 2 has categories, of 2 features");
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[0].feature = 2; }), HasSubstr("node 0 tests feature 2"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[0].true_child = 6; }),
              HasSubstr("nodes_true must lie below 6, found 6"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[2].threshold = 1; }), HasSubstr("node 2 tests set 1, of 1"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[2].threshold = std::nan(""); }), HasSubstr("of 1"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[1].first_weight = 4; }), HasSubstr("nodes_first_weight"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[1].weight_count = 5; }), HasSubstr("nodes_weight_count"));
  EXPECT_THAT(refused([](Booster& b) { b.source.weights[0].target = 1; }), HasSubstr("weight_targets"));
  EXPECT_THAT(refused([](Booster& b) { b.source.roots[0] = 6; }), HasSubstr("roots must lie below 6, found 6"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[2].true_child = 0; }), HasSubstr("is reached twice"));
  EXPECT_THAT(refused([](Booster& b) { b.source.nodes[3] = leaf(0, 5, 2); }), HasSubstr("leaves share weights"));
}

// Trees of what a scaler makes of the features are no trees of the features.
TEST(TreeScores, NoneBehindOtherOperators) {
  OnnxModel graph = booster_graph("m", two_trees());
  graph.graph.initializers = {floats("scale", {2}, {2, 2})};
  graph.graph.nodes[0].inputs = {"scaled"};
  graph.graph.nodes.insert(graph.graph.nodes.begin(), node("Mul", {"features", "scale"}, {"scaled"}));
  const auto model = EngineModel::from_onnx("m", std::move(graph));
  EXPECT_THAT(predicted(*model, {{0.2F, 0}, {0.3F, 0.5F}}), ElementsAre(9.25F, 10.25F));
  EXPECT_EQ(model->tree_scores(), nullptr);
}

// Raw scores that only a part of what is explained depends on are no tree scores of it.
TEST(TreeScores, NoneWhereMoreThanTheScoresCounts) {
  OnnxModel graph = booster_graph("m", two_trees());
  graph.metadata.clear();
  graph.graph.nodes[1] = node("MatMul", {"features", "ones"}, {"sum"});
  graph.graph.initializers = {floats("ones", {2, 1}, {1, 1})};
  graph.graph.nodes.push_back(node("Add", {"margin", "sum"}, {"value"}));
  const auto model = EngineModel::from_onnx("m", std::move(graph));
  EXPECT_EQ(model->tree_scores(), nullptr);
}

}  // namespace
}  // namespace assay::testing
