#include "assay/explain/reasons/shown_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

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
