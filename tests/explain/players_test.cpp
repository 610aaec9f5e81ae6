#include "assay/explain/players.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"age", "sex=f", "sex=m", "hours"};
  return all;
}

Dataset one_hot_data() {
  Dataset data;
  data.source = "rows.csv";
  data.feature_names = names();
  data.x = Matrix(2, 4);
  data.groups = {{"age", 0, 1}, {"sex", 1, 2, ColumnKind::categorical, {"f", "m"}}, {"hours", 3, 1}};
  return data;
}

TEST(Players, ColumnsAreColumnsAndGroupsAreNot) {
  const Players columns = column_players(names());
  EXPECT_TRUE(columns.are_columns());
  EXPECT_EQ(columns.names, names());
  EXPECT_EQ(columns.columns(), 4U);
  const Players groups = group_players(one_hot_data());
  EXPECT_FALSE(groups.are_columns());
  EXPECT_THAT(groups.names, ElementsAre("age", "sex", "hours"));
  EXPECT_THAT(groups.of_column, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(groups.columns_of_players(), ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
}

TEST(Players, AnotherOrderIsNotColumns) {
  Players players = column_players({"a", "b"});
  players.of_column = {1, 0};
  EXPECT_FALSE(players.are_columns());
}

TEST(Players, GridsCutImagesIntoSquares) {
  // 3 x 5 pixels in squares of 2: 2 x 3 squares, those at the right and below cut off.
  const Players players = grid_players({3, 5}, 2);
  EXPECT_THAT(players.names, ElementsAre("rows 0-1, columns 0-1", "rows 0-1, columns 2-3", "rows 0-1, columns 4-4",
                                         "rows 2-2, columns 0-1", "rows 2-2, columns 2-3", "rows 2-2, columns 4-4"));
  EXPECT_THAT(players.of_column, ElementsAre(0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5));
  // Channels of a pixel go together.
  const Players colours = grid_players({2, 1, 2}, 1);
  EXPECT_THAT(colours.of_column, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(grid_players({3, 5}, SIZE_MAX).size(), 1U);
  EXPECT_THAT(sentence([] { grid_players({}, 2); }), HasSubstr("images"));
  EXPECT_THAT(sentence([] { grid_players({4}, 2); }), HasSubstr("found rows of 4"));
  EXPECT_THAT(sentence([] { grid_players({4, 4}, 0); }), HasSubstr("1 pixel"));
}

TEST(Players, JsonNamesGroupsAndLeavesOthersAlone) {
  const Players players = players_from_json("g.json", R"({"who": ["hours", "age"]})", names());
  EXPECT_THAT(players.names, ElementsAre("who", "sex=f", "sex=m"));
  EXPECT_THAT(players.of_column, ElementsAre(0, 1, 2, 0));
  EXPECT_TRUE(players_from_json("g.json", "{}", names()).are_columns());
  // A group may have the name of a column that is in it.
  EXPECT_THAT(players_from_json("g.json", R"({"age": ["age", "hours"]})", names()).names,
              ElementsAre("age", "sex=f", "sex=m"));
}

TEST(Players, BadJsonGetsOneSentence) {
  const auto refused = [](const char* text) { return sentence([&] { players_from_json("g.json", text, names()); }); };
  EXPECT_EQ(refused("{"), "g.json: expected groups as JSON, found an error at byte 2");
  EXPECT_THAT(refused("[1]"), HasSubstr("g.json: expected an object"));
  EXPECT_THAT(refused(R"({"a": "age"})"), HasSubstr("g.json, group 'a': expected a list of its columns"));
  EXPECT_THAT(refused(R"({"a": []})"), HasSubstr("a list of its columns"));
  EXPECT_THAT(refused(R"({"a": [1]})"), HasSubstr("names of columns"));
  EXPECT_EQ(refused(R"({"a": ["agee"]})"),
            "g.json, group 'a': expected columns of the rows, found 'agee' (did you mean 'age'?)");
  EXPECT_THAT(refused(R"({"a": ["age"], "b": ["age"]})"), HasSubstr("in no other group"));
  EXPECT_THAT(refused(R"({"a": ["age", "age"]})"), HasSubstr("named once"));
  EXPECT_THAT(refused(R"({"a": ["age"], "a": ["hours"]})"), HasSubstr("'a' twice"));
  EXPECT_THAT(refused(R"({"hours": ["age"]})"), HasSubstr("not called like a column outside of them, found 'hours'"));
  EXPECT_THAT(refused(R"({"a": [[["age"]]]})"), HasSubstr("nested deeper"));
  EXPECT_THAT(refused(R"({"a": 1e999})"), HasSubstr("number out of range"));
}

TEST(Players, WordsChooseThem) {
  const Dataset data = one_hot_data();
  EXPECT_EQ(choose_players("auto", data, {}, {}).size(), 3U);
  EXPECT_EQ(choose_players("none", data, {}, {}).size(), 4U);
  EXPECT_EQ(choose_players("grid:1", data, {2, 2}, {}).size(), 4U);
  EXPECT_EQ(choose_players("grid:2", data, {2, 2}, {}).size(), 1U);
  EXPECT_THAT(sentence([&] { choose_players("grid:x", data, {2, 2}, {}); }), HasSubstr("grid:N"));
  EXPECT_THAT(sentence([&] { choose_players("grid:0", data, {2, 2}, {}); }), HasSubstr("grid:N"));
  EXPECT_THAT(sentence([&] { choose_players("grid:2", data, {4, 4}, {}); }), HasSubstr("16 values, found rows of 4"));
  const std::string path = ::testing::TempDir() + "players_test.json";
  std::ofstream(path) << R"({"rest": ["sex=m", "hours"]})";
  EXPECT_THAT(choose_players(path, data, {}, {}).of_column, ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(message_of([&] { choose_players("nowhere.json", data, {}, {}); }), HasSubstr("nowhere.json"));
}

TEST(Players, SumsAreOverEachPlayersColumns) {
  Players players;
  players.names = {"a", "b"};
  players.of_column = {1, 0, 1, 1};
  Matrix by_column(2, 4);
  // In float32 the 1 would be lost: 2^25 + 1 - 2^25.
  const float values[] = {33554432, 5, 1, -33554432, 1, 2, 3, 4};
  std::copy(std::begin(values), std::end(values), by_column.data());
  Matrix by_player(2, 2);
  sum_by_player(players, by_column.view(), by_player.view());
  EXPECT_THAT(by_player.values(), ElementsAre(5, 1, 2, 8));
}

}  // namespace
}  // namespace assay
