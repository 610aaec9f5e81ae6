#include "assay/data/io/arrow_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/data/io/arrow_type.h"
#include "tests/data/io/hand_made_arrow.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> column_values(const Table& table, size_t column) {
  std::vector<float> out;
  for (size_t i = 0; i < table.rows(); ++i) out.push_back(table.values(i, column));
  return out;
}

// NaN equals NaN here: both are missing.
MATCHER_P(HoldsValues, expected, "") {
  if (arg.size() != expected.size()) return false;
  for (size_t i = 0; i < arg.size(); ++i) {
    if (!(arg[i] == expected[i] || (std::isnan(arg[i]) && std::isnan(expected[i])))) return false;
  }
  return true;
}
auto holds(std::vector<float> values) { return HoldsValues(std::move(values)); }

Table read(std::vector<Piece> columns) { return HandMade({std::move(columns)}).read(); }

void expect_error(HandMade&& stream, const std::string& message) {
  try {
    stream.read();
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(ArrowTableIn, ReadsEveryKindOfNumber) {
  const Table table = read({
      numbers<int8_t>("a", "c", {-128, 127}),
      numbers<uint8_t>("b", "C", {0, 255}),
      numbers<int16_t>("c", "s", {-32768, 1}),
      numbers<uint16_t>("d", "S", {65535, 1}),
      numbers<int32_t>("e", "i", {-5, 6}),
      numbers<uint32_t>("f", "I", {5, 6}),
      numbers<int64_t>("g", "l", {-7, 8}),
      numbers<uint64_t>("h", "L", {7, 8}),
      numbers<uint16_t>("i", "e", {0x3c00, 0xc500}),
      numbers<float>("j", "f", {0.5f, kNan}),
      numbers<double>("k", "g", {0.1, -0x1p99}),
      {"b", "l", 2, 0, 0, {"", raw<uint8_t>({0b10})}},
      {"n", "m", 2, 0, 2, {}},
  });
  ASSERT_EQ(table.columns.size(), 13);
  EXPECT_EQ(table.source, "hand.parquet");
  const std::vector<std::vector<float>> expected = {{-128, 127},      {0, 255}, {-32768, 1}, {65535, 1}, {-5, 6},
                                                    {5, 6},           {-7, 8},  {7, 8},      {1, -5},    {0.5f, kNan},
                                                    {0.1f, -0x1p99f}, {0, 1},   {kNan, kNan}};
  for (size_t j = 0; j < expected.size(); ++j) {
    EXPECT_THAT(column_values(table, j), holds(expected[j])) << table.columns[j].name;
    EXPECT_EQ(table.columns[j].kind, ColumnKind::numeric);
    EXPECT_EQ(table.columns[j].rounded, 0);
  }
}

// 16 bytes, the least first.
std::string wide(uint64_t low, uint64_t high) { return raw<uint64_t>({low, high}); }

TEST(ArrowTableIn, DecimalsAreTheNearestNumbers) {
  const Table table = read({
      numbers<int32_t>("a", "d:9,2,32", {1250, -1}),
      numbers<int64_t>("b", "d:18,-3,64", {7, -7}),
      // 2^64 and -1.
      {"d:38,19", "c", 2, 0, 0, {"", wide(0, 1) + wide(UINT64_MAX, UINT64_MAX)}},
      with_validity(numbers<int64_t>("d", "d:18,18,64", {100'000'000'000'000'000, 0}), 0b01),
      coded<int8_t>("e", "c", {1, 0}, numbers<int32_t>("", "d:4,1,32", {5, 15})),
  });
  EXPECT_THAT(column_values(table, 0), holds({12.5F, -0.01F}));
  EXPECT_THAT(column_values(table, 1), holds({7000, -7000}));
  EXPECT_THAT(column_values(table, 2), holds({1.8446744073709551616F, -1e-19F}));
  EXPECT_THAT(column_values(table, 3), holds({0.1F, kNan}));
  EXPECT_THAT(column_values(table, 4), holds({1.5F, 0.5F}));
  for (const Column& column : table.columns) EXPECT_EQ(column.kind, ColumnKind::numeric);
}

TEST(ArrowTableIn, BooleansHaveWordsForPeople) {
  const Table table = read({{"b", "l", 2, 0, 0, {"", raw<uint8_t>({0b10})}}, numbers<float>("x", "f", {0, 1})});
  EXPECT_THAT(table.columns[0].words_of_truth, ElementsAre("False", "True"));
  EXPECT_EQ(table.columns[0].kind, ColumnKind::numeric);
  EXPECT_TRUE(table.columns[1].words_of_truth.empty());
}

// Times that no one uses are left out; those that are named, or where all columns are used, are refused.
TEST(ArrowTableIn, LeavesOutWhatNoTableHoldsIfItIsNotUsed) {
  const auto made = [] {
    return HandMade({{numbers<int64_t>("when", "tsu:", {1, 2}), numbers<float>("x", "f", {3, 4}),
                      coded<int8_t>("day", "c", {0, 1}, numbers<int32_t>("", "tdD", {5, 6}))}});
  };
  HandMade stream = made();
  const std::vector<std::string> used = {"x"};
  const Table table = table_from_arrow(&stream.stream, "t", "Parquet file", {}, {.used = &used});
  ASSERT_EQ(table.columns.size(), 1);
  EXPECT_THAT(column_values(table, 0), holds({3, 4}));
  expect_error(made(), "column 'when': expected numbers, booleans or text, found timestamps");
  for (const char* name : {"when", "day"}) {
    HandMade again = made();
    const std::vector<std::string> both = {"x", name};
    EXPECT_THAT(message_of([&] { table_from_arrow(&again.stream, "t", "Parquet file", {}, {.used = &both}); }),
                HasSubstr(std::string("column '") + name + "': expected numbers, booleans or text"));
  }
  HandMade again = made();
  EXPECT_THROW(table_from_arrow(&again.stream, "t", "Parquet file", {}, {.id = "when", .used = &used}), Error);
}

TEST(ArrowTableIn, CountsLargeNumbersThatLoseDigits) {
  const int64_t big = (int64_t{1} << 24) + 1;
  const Table table = read({
      numbers<int64_t>("a", "l", {big, -big, big + 1, INT64_MIN, INT64_MAX}),
      numbers<uint64_t>("b", "L", {UINT64_MAX, 1, 2, 3, uint64_t{1} << 63}),
      numbers<double>("c", "g", {double(big), 0.1, 1.7e18, 0x1p99, 16777215.75}),
  });
  EXPECT_EQ(table.columns[0].rounded, 3);
  EXPECT_EQ(table.columns[1].rounded, 1);
  EXPECT_EQ(table.columns[2].rounded, 3);
}

TEST(ArrowTableIn, HonoursValidityAndOffsets) {
  const Piece ints = with_validity(numbers<int32_t>("a", "i", {1, 2, 3, 4}), 0b1011);
  const Piece words = with_validity(text("b", {"x", "yy", "z", "x"}), 0b0111);
  const Piece bits{"b", "c", 3, 1, 0, {"", raw<uint8_t>({0b1010})}};
  const Table table = read({sliced(ints, 1, 3), sliced(words, 1, 3), bits});
  EXPECT_THAT(column_values(table, 0), holds({2, kNan, 4}));
  EXPECT_THAT(table.columns[1].levels, ElementsAre("yy", "z"));
  EXPECT_THAT(column_values(table, 1), holds({0, 1, kNan}));
  EXPECT_THAT(column_values(table, 2), holds({1, 0, 1}));
}

TEST(ArrowTableIn, AddsTheOffsetOfTheBatch) {
  HandMade stream({{numbers<int32_t>("a", "i", {1, 2, 3}), text<int64_t>("b", {"p", "q", "r"})}});
  stream.spoil = [](ArrowArray& batch) {
    batch.offset = 1;
    batch.length = 2;
  };
  const Table table = stream.read();
  EXPECT_THAT(column_values(table, 0), holds({2, 3}));
  EXPECT_THAT(table.columns[1].levels, ElementsAre("q", "r"));
}

TEST(ArrowTableIn, DictionariesMayDifferFromBatchToBatch) {
  HandMade stream({
      {coded<int8_t>("a", "c", {0, 1, 0}, text("", {"wolf", "ant"}))},
      {coded<int8_t>("a", "c", {2, 1, 0}, with_validity(text("", {"bee", "ant", "none"}), 0b011))},
  });
  const Table table = stream.read();
  EXPECT_EQ(table.columns[0].kind, ColumnKind::categorical);
  EXPECT_THAT(table.columns[0].levels, ElementsAre("ant", "bee", "wolf"));
  EXPECT_THAT(column_values(table, 0), holds({2, 0, 2, kNan, 0, 1}));
}

TEST(ArrowTableIn, DictionariesOfNumbersAreNumbers) {
  const int64_t big = (int64_t{1} << 24) + 1;
  const Table table = read({coded<uint16_t>("a", "S", {1, 0, 1}, numbers<int64_t>("", "l", {10, big}))});
  EXPECT_EQ(table.columns[0].kind, ColumnKind::numeric);
  EXPECT_THAT(column_values(table, 0), holds({16777216, 10, 16777216}));
  EXPECT_EQ(table.columns[0].rounded, 2);
}

TEST(ArrowTableIn, AnEmptyTableKeepsItsColumns) {
  const Table table = read({numbers<float>("a", "f", {}), text("b", {})});
  EXPECT_EQ(table.rows(), 0);
  EXPECT_EQ(table.values.cols(), 2);
  EXPECT_THAT(table.columns[1].levels, IsEmpty());
}

TEST(ArrowTableIn, RefusesWhatATableCannotHold) {
  const auto of_type = [](std::string format) {
    return HandMade({{numbers<int32_t>("a", "i", {1}), Piece{std::move(format), "when", 1}}});
  };
  const std::string start = "hand.parquet, column 'when': expected numbers, booleans or text, found ";
  const std::vector<std::pair<std::string, std::string>> cases = {{"tsu:UTC", "timestamps"},
                                                                  {"tdD", "dates"},
                                                                  {"d:10,2,256", "decimal numbers of 256 bits"},
                                                                  {"+l", "lists"},
                                                                  {"+s", "structs"},
                                                                  {"z", "binary"},
                                                                  {"+m", "maps"},
                                                                  {"?", "values of type '?'"}};
  for (const auto& [format, words] : cases) expect_error(of_type(format), start + words);
}

TEST(ArrowTableIn, RefusesNumbersBeyondFloat32) {
  expect_error(HandMade({{numbers<double>("a", "g", {1})}, {numbers<double>("a", "g", {2, 1e300})}}),
               "hand.parquet, column 'a', row 3: expected a number within the range of float32, found 1e+300");
}

TEST(ArrowTableIn, RefusesBadNames) {
  expect_error(HandMade({{numbers<float>("a", "f", {1}), numbers<float>("a", "f", {1})}}),
               "hand.parquet: expected column names that differ, found 'a' twice");
  expect_error(HandMade({{numbers<float>("a", "f", {1}), numbers<float>("", "f", {1})}}),
               "hand.parquet: expected a name for every column, found column 2 without one");
  expect_error(HandMade(std::vector<std::vector<Piece>>{{}}), "hand.parquet: expected at least one column");
}

// Views by hand: up to 12 bytes in place, longer texts as (length, first four bytes, buffer, offset).
Piece views(std::string name, const std::vector<std::string>& cells, int64_t offset_slip = 0) {
  std::string places;
  std::string first;  // texts alternate between two buffers
  std::string second;
  for (size_t i = 0; i < cells.size(); i++) {
    const auto length = static_cast<int32_t>(cells[i].size());
    places += raw<int32_t>({length});
    if (length <= 12) {
      places += cells[i] + std::string(12 - cells[i].size(), '\0');
      continue;
    }
    std::string& buffer = i % 2 == 0 ? first : second;
    places += cells[i].substr(0, 4);
    places +=
        raw<int32_t>({i % 2 == 0 ? 0 : 1, static_cast<int32_t>(static_cast<int64_t>(buffer.size()) + offset_slip)});
    buffer += cells[i];
  }
  const auto size = [](const std::string& text) { return static_cast<int64_t>(text.size()); };
  return {"vu",
          std::move(name),
          static_cast<int64_t>(cells.size()),
          0,
          0,
          {"", places, first, second, raw<int64_t>({size(first), size(second)})}};
}

TEST(ArrowTableIn, ReadsTextViews) {
  HandMade made({{views("t", {"b", "", "exactly12chr", "a text of more than twelve", "another that is long", "b"})}});
  const Table table = table_from_arrow(&made.stream, "views");
  EXPECT_THAT(table.columns[0].levels,
              ElementsAre("", "a text of more than twelve", "another that is long", "b", "exactly12chr"));
  EXPECT_THAT(column_values(table, 0), ElementsAre(3, 0, 4, 1, 2, 3));
}

TEST(ArrowTableIn, RefusesTextViewsThatLeadElsewhere) {
  const std::vector<std::string> cells = {"a text of more than twelve"};
  const auto spoiled = [&](const std::function<void(Piece&)>& spoil) {
    Piece piece = views("t", cells);
    spoil(piece);
    return HandMade({{std::move(piece)}});
  };
  expect_error(HandMade({{views("t", cells, 1)}}), "a text beyond its buffer");
  expect_error(HandMade({{views("t", cells, -1)}}), "a text beyond its buffer");
  expect_error(spoiled([](Piece& p) { p.buffers[1].replace(8, 4, raw<int32_t>({2})); }), "a buffer that is not there");
  expect_error(spoiled([](Piece& p) { p.buffers[1].replace(0, 4, raw<int32_t>({-1})); }), "negative length");
  expect_error(spoiled([](Piece& p) { p.buffers[4].clear(); }), "without their sizes");
  expect_error(spoiled([](Piece& p) { p.buffers.resize(2); }), "2 buffers");
}

TEST(ArrowTableIn, RefusesMalformedArrays) {
  const auto broken = [](const std::function<void(Piece&)>& spoil, Piece piece) {
    spoil(piece);
    return HandMade({{numbers<int32_t>("n", "i", {1, 2}), std::move(piece)}});
  };
  const Piece good = text("t", {"a", "b"});
  expect_error(broken([](Piece& p) { p.length = 1; }, good), "column 't': expected a well-formed Arrow array");
  expect_error(broken([](Piece& p) { p.length = -1; }, good), "negative size");
  expect_error(broken([](Piece& p) { p.offset = INT64_MAX; }, good), "negative size");
  expect_error(broken([](Piece& p) { p.buffers.pop_back(); }, good), "2 buffers");
  expect_error(broken([](Piece& p) { p.buffers[1].clear(); }, good), "rows without values");
  expect_error(broken([](Piece& p) { p.buffers[2].clear(); }, good), "text without bytes");
  expect_error(broken([](Piece& p) { p.null_count = 1; }, good), "nulls without a validity bitmap");
  expect_error(broken([](Piece& p) { p.buffers[1] = raw<int32_t>({0, -4, 2}); }, good), "text offsets");
  expect_error(HandMade({{coded<int8_t>("d", "c", {0, -1}, good)}}),
               "column 'd', row 2: expected a dictionary code below 2, found -1");
  expect_error(HandMade({{coded<int8_t>("d", "c", {0, 2}, good)}}), "found 2");
  expect_error(HandMade({{coded<float>("d", "f", {0, 2}, good)}}), "a dictionary with whole numbers as codes");
  HandMade missing({{good}});
  missing.spoil = [](ArrowArray& batch) { batch.children[0] = nullptr; };
  expect_error(std::move(missing), "column 't': expected a well-formed Arrow array, found none");
}

TEST(ArrowTableIn, ReportsTheStreamsOwnError) {
  HandMade stream({{numbers<int32_t>("n", "i", {1, 2})}});
  stream.fail_at = 1;
  stream.error = "Corrupt \x1bsnappy data.\nsecond line";
  expect_error(std::move(stream), "hand.parquet: expected a valid Parquet file, found Corrupt ?snappy data");
  ArrowArrayStream empty{};
  EXPECT_THROW(table_from_arrow(&empty, "x"), Error);
}

Table sample() {
  Table table;
  table.source = "sample";
  table.columns = {{"x"}, {"colour", ColumnKind::categorical, {"", "blue", "grün"}}, {"y"}};
  const float values[4][3] = {{1.5f, 2, 0}, {kNan, 0, 1}, {-3, kNan, 1}, {4, 1, 0}};
  table.values = Matrix(4, 3);
  std::memcpy(table.values.data(), values, sizeof values);
  table.label = 2;
  table.id_name = "patient";
  table.ids = {"p1", "", "p3", "p4"};
  return table;
}

void expect_same(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (size_t j = 0; j < a.columns.size(); ++j) {
    EXPECT_EQ(a.columns[j].name, b.columns[j].name);
    EXPECT_EQ(a.columns[j].kind, b.columns[j].kind);
    EXPECT_EQ(a.columns[j].levels, b.columns[j].levels);
    EXPECT_THAT(column_values(a, j), holds(column_values(b, j)));
  }
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.id_name, b.id_name);
  EXPECT_EQ(a.ids, b.ids);
}

TEST(ArrowTableOut, RoundTripRestoresTheTable) {
  const Table table = sample();
  ArrowArrayStream stream{};
  table_to_arrow(table, &stream);
  expect_same(table_from_arrow(&stream, "back"), table);
  EXPECT_EQ(stream.release, nullptr);
}

TEST(ArrowTableOut, ManyRowsComeInBatches) {
  Table table;
  table.columns = {{"x"}, {"c", ColumnKind::categorical, {"a", "b", "c"}}};
  table.values = Matrix(150000, 2);
  for (size_t i = 0; i < table.rows(); ++i) {
    table.values(i, 0) = i % 7 == 0 ? kNan : static_cast<float>(i);
    table.values(i, 1) = static_cast<float>(i % 3);
  }
  ArrowArrayStream stream{};
  table_to_arrow(table, &stream);
  expect_same(table_from_arrow(&stream, "back"), table);
}

TEST(ArrowTableOut, ChildrenMayBeMovedAwayAndOutliveTheStream) {
  const Table table = sample();
  ArrowArrayStream stream{};
  table_to_arrow(table, &stream);
  ArrowSchema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.children[0]->format, "u");
  EXPECT_STREQ(schema.children[2]->dictionary->format, "u");
  schema.release(&schema);
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ArrowArray colour = *batch.children[2];
  batch.children[2]->release = nullptr;
  ArrowArray end{};
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  batch.release(&batch);
  stream.release(&stream);
  EXPECT_EQ(static_cast<const int32_t*>(colour.buffers[1])[0], 2);
  EXPECT_EQ(colour.null_count, 1);
  EXPECT_EQ(colour.dictionary->length, 3);
  colour.release(&colour);
}

TEST(ArrowTableIn, MetadataOfAbsentColumnsIsIgnored) {
  HandMade stream({{numbers<int32_t>("n", "i", {1, 2})}});
  // One entry, written as the specification says: lengths before texts.
  stream.metadata = raw<int32_t>({1, 11}) + "assay.label" + raw<int32_t>({4}) + "gone";
  const Table table = stream.read();
  EXPECT_FALSE(table.label.has_value());
}

TEST(ArrowTableIn, TheIndexOfADataFrameIsNoFeature) {
  const auto with = [](std::vector<Piece> columns, const std::string& json) {
    HandMade stream({std::move(columns)});
    stream.metadata = raw<int32_t>({1, 6}) + "pandas" + raw<int32_t>({static_cast<int32_t>(json.size())}) + json;
    return stream;
  };
  const auto one = [&](const std::string& json) {
    return with({numbers<float>("x", "f", {1, 2}), numbers<int64_t>("__index_level_0__", "l", {7, 5})}, json).read();
  };
  const Table named = one(R"({"index_columns": ["__index_level_0__"]})");
  EXPECT_EQ(named.id_name, "index");
  EXPECT_THAT(named.ids, ElementsAre("7", "5"));
  EXPECT_EQ(named.columns.size(), 1);
  // Several name nothing together.
  const Table several =
      with({numbers<float>("x", "f", {1, 2}), numbers<int64_t>("a", "l", {7, 5}), text("b", {"p", "q"})},
           R"({"index_columns": ["a", "b"]})")
          .read();
  EXPECT_EQ(several.columns.size(), 1);
  EXPECT_TRUE(several.ids.empty());
  // A count of rows is told by its parts, not by a column. What is no such list says nothing.
  for (const char* json : {R"({"index_columns": [{"kind": "range"}]})", R"({"index_columns": 3})", "[", "{}"}) {
    EXPECT_EQ(one(json).columns.size(), 2) << json;
  }
  expect_error(with({numbers<int64_t>("i", "l", {7, 5})}, R"({"index_columns": ["i"]})"),
               "expected a column beside the index, found none");
}

// Customer numbers are larger than float32 tells apart.
TEST(ArrowTableIn, TheColumnThatTheUserNamesNamesTheRows) {
  HandMade stream({{numbers<int64_t>("who", "l", {16777217, 16777216}), numbers<float>("x", "f", {1, 2})}});
  const Table table = table_from_arrow(&stream.stream, "hand.parquet", "Parquet file", {}, {.id = "who"});
  EXPECT_EQ(table.id_name, "who");
  EXPECT_THAT(table.ids, ElementsAre("16777217", "16777216"));
  EXPECT_EQ(table.columns.size(), 1);
}

TEST(ArrowTableIn, RowNamesMayBeNumbersOrDictionaries) {
  const std::string metadata = raw<int32_t>({1, 8}) + "assay.id" + raw<int32_t>({1}) + "i";
  HandMade whole({{with_validity(numbers<int64_t>("i", "l", {INT64_MAX, 5}), 0b01), numbers<float>("x", "f", {1, 2})}});
  whole.metadata = metadata;
  EXPECT_THAT(whole.read().ids, ElementsAre("9223372036854775807", ""));
  HandMade words({{coded<int8_t>("i", "c", {1, 0}, text("", {"a", "b"})), numbers<float>("x", "f", {1, 2})}});
  words.metadata = metadata;
  const Table table = words.read();
  EXPECT_EQ(table.id_name, "i");
  EXPECT_THAT(table.ids, ElementsAre("b", "a"));
  EXPECT_EQ(table.columns.size(), 1);
}

}  // namespace
}  // namespace assay
