#include "assay/explain/reasons/shown_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "assay/explain/row_cells.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

Table raw_rows() {
  Table table;
  table.source = "train.csv";
  table.columns = {{"age"}, {"housing", ColumnKind::categorical, {"own", "rent", "with, parents"}}, {"amount"}};
  table.values = Matrix(4, 3);
  const std::vector<float> cells = {23, 0, 1169, 67, 1, 5951, 31, 2, 12204, 44, 1, 2096};
  std::ranges::copy(cells, table.values.data());
  return table;
}

// What was scaled, and coded or made one-hot, comes back in the user's units and words.
TEST(ShownValues, EncodedRowsAreDecoded) {
  for (const char* encoding : {"label:scale=standardise", "one_hot:scale=min_max"}) {
    const Table raw = raw_rows();
    const Encoder encoder = Encoder::fit(raw, encoder_options("--encode", encoding));
    const Dataset data = encoder.apply(raw);
    const Table decoded = decoded_table(data.x.view(), data, &encoder);
    const Players players = group_players(data);
    const FeatureColumns columns = columns_of_players(players, data);
    EXPECT_THAT(columns, ElementsAre(ElementsAre("age"), ElementsAre("housing"), ElementsAre("amount")));
    const auto shown = shown_features(columns, decoded, nullptr, &decoded);
    EXPECT_THAT(shown[0].values, ElementsAre("23", "67", "31", "44"));
    EXPECT_THAT(shown[1].values, ElementsAre("own", "rent", "with, parents", "rent"));
    EXPECT_THAT(shown[2].values, ElementsAre("1169", "5951", "12204", "2096"));
    EXPECT_EQ(shown[0].reference, "41.25");
    EXPECT_NEAR(shown[0].reference_number, 41.25, 1e-5);
    EXPECT_EQ(shown[1].reference, "rent");
    EXPECT_EQ(shown[2].reference, "5,355");
  }
}

// The encoder puts the mean and the mode there; the people whom a reason is for know that they left it out.
TEST(ShownValues, WhatWasMissingIsMissing) {
  for (const char* encoding : {"label:impute=mean", "one_hot:impute=mode:scale=standardise"}) {
    Table raw = raw_rows();
    raw.values(1, 0) = kMissing;
    raw.values(2, 1) = kMissing;
    const Encoder encoder = Encoder::fit(raw_rows(), encoder_options("--encode", encoding));
    const Dataset data = select_rows(encoder.apply(raw), {1, 2, 3});
    const auto shown =
        shown_features(columns_of_players(group_players(data), data), decoded_table(data, &encoder), nullptr, nullptr);
    EXPECT_THAT(shown[0].values, ElementsAre("missing", "31", "44"));
    EXPECT_THAT(shown[0].missing, ElementsAre(true, false, false));
    EXPECT_THAT(shown[1].values, ElementsAre("rent", "missing", "rent"));
    EXPECT_THAT(shown[1].missing, ElementsAre(false, true, false));
    EXPECT_THAT(shown[2].values, ElementsAre("5951", "12204", "2096"));
    const RowCells cells(data, group_players(data));
    EXPECT_EQ(cells.text(0, 0), "missing");
    EXPECT_EQ(cells.text(1, 1), "missing");
    EXPECT_EQ(cells.text(2, 0), "44") << "in the user's units, scaled or not";
    EXPECT_EQ(cells.text(1, 2), "12204");
    EXPECT_EQ(cells.column(2, "amount")->values[2], 2096);
    EXPECT_TRUE(std::isnan(cells.scale(0, 0)) && !std::isnan(cells.scale(1, 0)));
    EXPECT_FALSE(cells.level(1, 1));
    EXPECT_EQ(cells.level(0, 1), std::optional<size_t>(1));
    EXPECT_TRUE(std::isnan(cells.column(0, "age")->values[0]));
    EXPECT_TRUE(std::isnan(cells.column(1, "housing")->values[1]));
  }
}

TEST(ShownValues, NamesThatLightGbmWroteWithUnderscores) {
  Table table;
  table.columns = {{"Marital Status"}, {"a b"}, {"a_b"}, {"c d"}};
  const std::vector<std::string> features = {"Marital_Status", "a_b", "c_d", "e"};
  EXPECT_THAT(columns_named_alike(columns_named_alike(features), table),
              ElementsAre(ElementsAre("Marital Status"), ElementsAre("a_b"), ElementsAre("c d"), ElementsAre("e")));
  table.columns.push_back({"c d"});
  EXPECT_THAT(columns_named_alike(columns_named_alike(features), table)[2], ElementsAre("c_d")) << "two of them";
}

// True and False in the table, 1 and 0 for the model, scaled or not.
TEST(ShownValues, TruthIsShownInWords) {
  Table raw;
  raw.source = "rows";
  raw.columns = {{"owner"}};
  raw.columns[0].words_of_truth = {"no", "yes"};
  raw.values = Matrix(4, 1);
  raw.values(1, 0) = 1;
  raw.values(2, 0) = kMissing;
  const FeatureColumns columns = {{"owner"}};
  const auto expect_words = [](const ShownFeature& shown) {
    EXPECT_THAT(shown.values, ElementsAre("no", "yes", "missing", "no"));
    EXPECT_TRUE(std::isnan(shown.numbers[0]) && std::isnan(shown.reference_number));
    EXPECT_EQ(shown.reference, "no");
  };
  expect_words(shown_features(columns, raw, nullptr, &raw)[0]);
  for (const char* encoding : {"label:impute=mean", "label:impute=mean:scale=standardise"}) {
    const Encoder encoder = Encoder::fit(raw, encoder_options("--encode", encoding));
    const Dataset data = encoder.apply(raw);
    const Table rows = decoded_table(data, &encoder);
    expect_words(shown_features(columns, rows, nullptr, &rows)[0]);
    const RowCells cells(data, group_players(data));
    EXPECT_TRUE(cells.is_category(0) && !cells.is_number(0));
    EXPECT_EQ(cells.text(1, 0), "yes");
    EXPECT_EQ(cells.text(2, 0), "missing");
    EXPECT_EQ(cells.level(1, 0), std::optional<size_t>(1));
    EXPECT_EQ(cells.column(0, "owner")->levels, raw.columns[0].words_of_truth);
    // A mean of truth values is none of them.
    const Matrix mean = data.x;
    Matrix half(1, 1);
    half(0, 0) = (mean(0, 0) + mean(1, 0)) / 2;
    const Table reference = decoded_table(half.view(), data, &encoder);
    EXPECT_EQ(shown_features(columns, rows, nullptr, &reference)[0].reference, "");
  }
}

TEST(ShownValues, AGroupIsNotTheColumnOfItsName) {
  Explanations made;
  made.values = Matrix(1, 2);
  made.features = {"income", "age"};
  EXPECT_THAT(columns_of(made), ElementsAre(ElementsAre("income"), ElementsAre("age")));
  made.provenance.players = "groups.json";
  EXPECT_THAT(columns_of(made), ElementsAre(ElementsAre(), ElementsAre())) << "an older file does not say which";
  made.columns = {{"income", "debt"}, {"age"}};
  EXPECT_THAT(columns_of(made), ElementsAre(ElementsAre("income", "debt"), ElementsAre("age")));
}

TEST(ShownValues, KeepTheUsersDigits) {
  const Table raw = raw_rows();
  KeptDoubles doubles;
  doubles.set("amount", {1169.123456789, 5951, 12204, 2096});
  const std::vector<std::string> features = {"amount", "nothing"};
  const auto shown = shown_features(columns_named_alike(features), raw, &doubles, nullptr);
  EXPECT_EQ(shown[0].values[0], "1169.123456789");
  EXPECT_EQ(shown[0].reference, "");
  EXPECT_FALSE(shown[1].known);
}

TEST(ShownValues, PlayersOfSeveralColumnsNameThemAll) {
  const Table raw = raw_rows();
  const Encoder encoder = Encoder::fit(raw, encoder_options("--encode", "one_hot"));
  const Dataset data = encoder.apply(raw);
  Players players;
  players.names = {"person", "amount"};
  players.of_column = {0, 0, 0, 0, 1};
  const FeatureColumns columns = columns_of_players(players, data);
  EXPECT_THAT(columns, ElementsAre(ElementsAre("age", "housing"), ElementsAre("amount")));
  const auto shown = shown_features(columns, raw, nullptr, &raw);
  EXPECT_TRUE(shown[0].several);
  EXPECT_EQ(shown[0].values[2], "age 31, housing with, parents");
  EXPECT_EQ(shown[0].reference, "");
}

}  // namespace
}  // namespace assay
