// Columns that only name rows.
#include "assay/data/id_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 300 numbers in random order.
std::vector<uint32_t> shuffled(size_t count) {
  std::vector<uint32_t> order(count);
  RandomStream(1, "ids").permutation(order);
  return order;
}

// One column of numbers, and one that repeats itself. Rows first .. first + count of 300.
Table numbers_in(const std::function<float(size_t)>& cell, size_t first, size_t count) {
  Table made;
  made.columns = {{"same"}, {"number"}};
  made.values = Matrix(count, 2);
  for (size_t i = 0; i < count; i++) {
    made.values(i, 0) = static_cast<float>(i % 5);
    made.values(i, 1) = cell(first + i);
  }
  return made;
}

std::vector<std::string> found_in(const Table& rows, const Table& pool) {
  return id_columns({&rows}, {&pool}, [](const std::string&) { return false; });
}

std::vector<std::string> found_by(const std::function<float(size_t)>& cell) {
  return found_in(numbers_in(cell, 0, 60), numbers_in(cell, 60, 240));
}

TEST(IdColumns, ConsecutiveNumbersInAnyOrderAreNames) {
  EXPECT_THAT(found_by([](size_t i) { return static_cast<float>(1000 + i); }), ElementsAre("number"));
  const std::vector<uint32_t> order = shuffled(300);
  EXPECT_THAT(found_by([&](size_t i) { return static_cast<float>(1000 + order[i]); }), ElementsAre("number"))
      << "each part has gaps, both together have none";
  // Each table counts for itself.
  const auto table = [](size_t from, size_t rows) {
    return numbers_in([=](size_t i) { return static_cast<float>(from + i); }, 0, rows);
  };
  EXPECT_THAT(found_in(table(5000, 30), table(1, 100)), ElementsAre("number"));
  EXPECT_THAT(found_in(table(1, 100), table(1, 100)), ElementsAre("number")) << "the rows are the pool";
}

TEST(IdColumns, MeasurementsAreNoNames) {
  EXPECT_THAT(found_by([](size_t i) { return static_cast<float>(i) * 1.37F; }), IsEmpty()) << "fractions";
  EXPECT_THAT(found_by([](size_t i) { return static_cast<float>(i * 3); }), IsEmpty()) << "gaps";
  EXPECT_THAT(found_by([](size_t i) { return static_cast<float>(i == 70 ? 71 : i); }), IsEmpty()) << "one twice";
  EXPECT_THAT(found_by([](size_t i) { return i == 70 ? kMissing : static_cast<float>(i); }), IsEmpty()) << "missing";
  const auto count = [](size_t i) { return static_cast<float>(i); };
  EXPECT_THAT(found_in(numbers_in(count, 0, 5), numbers_in(count, 5, 19)), IsEmpty()) << "few rows prove nothing";
  EXPECT_THAT(found_in(numbers_in(count, 0, 5), numbers_in(count, 5, 20)), ElementsAre("number"));
}

TEST(IdColumns, TextsThatAreAllDifferentAreNames) {
  const auto texts = [](size_t first, size_t count, bool twice) {
    Table made = numbers_in([](size_t) { return 0.0F; }, 0, count);
    made.columns[1] = {"key", ColumnKind::categorical};
    for (size_t i = 0; i < count; i++) {
      made.columns[1].levels.push_back("k" + std::to_string(1000 + first + i));
      made.values(i, 1) = static_cast<float>(twice && i == 1 ? 0 : i);
    }
    return made;
  };
  EXPECT_THAT(found_in(texts(0, 5, false), texts(5, 40, false)), ElementsAre("key"));
  EXPECT_THAT(found_in(texts(0, 5, true), texts(5, 40, false)), IsEmpty());
  EXPECT_THAT(found_in(texts(0, 5, false), texts(5, 40, true)), IsEmpty());
}

TEST(IdColumns, WhatTheModelTakesAndTheLabelStay) {
  const auto count = [](size_t i) { return static_cast<float>(i); };
  Table rows = numbers_in(count, 0, 30);
  Table pool = numbers_in(count, 30, 60);
  EXPECT_THAT(id_columns({&rows}, {&pool}, [](const std::string& name) { return name == "number"; }), IsEmpty());
  pool.label = 1;
  EXPECT_THAT(found_in(rows, pool), IsEmpty());
  pool.label.reset();
  rows.id_name = "other";
  EXPECT_THAT(found_in(rows, pool), IsEmpty()) << "rows have names already";
}

TEST(IdColumns, NumbersBeyondFloat32AreSeenByTheirDoubles) {
  const auto part = [](size_t first, size_t count, KeptDoubles& doubles) {
    std::vector<double> cells;
    for (size_t i = 0; i < count; i++) cells.push_back(9e9 + static_cast<double>(first + i));
    doubles.set("number", cells);
    return numbers_in([](size_t i) { return static_cast<float>(9e9 + static_cast<double>(i)); }, first, count);
  };
  KeptDoubles doubles;
  KeptDoubles pool_doubles;
  Table rows = part(0, 30, doubles);
  const Table pool = part(30, 60, pool_doubles);
  const auto none = [](const std::string&) { return false; };
  EXPECT_THAT(id_columns({&rows}, {&pool}, none), IsEmpty()) << "float32 has each number many times";
  EXPECT_THAT(id_columns({&rows, &doubles}, {&pool, &pool_doubles}, none), ElementsAre("number"));
  take_ids(rows, &doubles, {"number"});
  EXPECT_EQ(rows.ids[1], "9000000001");
}

// Few cells may be different by chance: such a column stays a feature, but not without a word.
TEST(IdColumns, AreOnlyNotedInASmallPool) {
  const auto counted = [](size_t i) { return static_cast<float>(1000 + i); };
  const auto nothing = [](const std::string&) { return false; };
  const auto notes = [&](size_t rows, size_t in_pool, const std::function<float(size_t)>& cell) {
    const Table first = numbers_in(cell, 0, rows);
    const Table second = numbers_in(cell, rows, in_pool);
    EXPECT_EQ(found_in(first, second).empty(), in_pool < 20);
    return notes_on_possible_ids({&first}, {&second}, nothing);
  };
  EXPECT_THAT(notes(8, 19, counted),
              ElementsAre("column 'number' may only name rows, for it is different in every one; it is taken for a "
                          "feature, because 19 rows of the pool are too few to tell"));
  EXPECT_THAT(notes(8, 20, counted), IsEmpty()) << "taken for an id";
  EXPECT_THAT(notes(4, 5, counted), IsEmpty()) << "too few to say anything";
  const Table rows = numbers_in([](size_t i) { return static_cast<float>(i) + 0.5F; }, 0, 30);
  EXPECT_THAT(notes_on_possible_ids({&rows}, {&rows}, nothing), IsEmpty()) << "measurements";
}

TEST(IdColumns, TheFirstNamesTheRowsAndAllAreTakenOut) {
  Table table;
  table.columns = {{"key", ColumnKind::categorical, {"p", "q"}}, {"x"}, {"number"}, {"y"}};
  table.label = 3;
  table.values = Matrix(2, 4);
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < 4; j++) table.values(i, j) = static_cast<float>(j == 0 ? 1 - i : 10 * j + i);
  }
  take_ids(table, nullptr, {"key", "number"});
  EXPECT_EQ(table.id_name, "key");
  EXPECT_THAT(table.ids, ElementsAre("q", "p"));
  EXPECT_THAT(column_names(table), ElementsAre("x", "y"));
  EXPECT_EQ(table.label, 1U);
  EXPECT_EQ(table.values(1, 0), 11);
  EXPECT_EQ(table.values(1, 1), 31);
  EXPECT_THAT(
      notes_on_ids({"key", "number"}),
      ElementsAre("column 'key' is taken for the names of rows, not for a feature: it is different in every row, "
                  "and the model does not take it",
                  "column 'number' is left out, for it could only name rows: it is different in every row, and "
                  "the model does not take it"));
}

// temp, wind, day, demand for a model of three columns: day counts rows, and demand may be the label that nobody named.
TEST(IdColumns, ByPositionANumberIsOnlyLeftOutIfTheLabelIsKnown) {
  Table rows;
  rows.columns = {{"temp"}, {"wind"}, {"day"}, {"demand"}};
  EXPECT_THAT(ids_beside_positions({"day"}, rows, 3), IsEmpty());
  rows.columns.push_back({"next"});
  rows.label = 4;
  EXPECT_THAT(ids_beside_positions({"day"}, rows, 3), ElementsAre("day"));
  EXPECT_THAT(ids_beside_positions({"day"}, rows, 4), IsEmpty()) << "the model takes as many columns as there are";
  rows.columns.pop_back();
  rows.label.reset();
  rows.columns[2].kind = ColumnKind::categorical;
  EXPECT_THAT(ids_beside_positions({"day"}, rows, 3), ElementsAre("day")) << "texts are no numbers";
}

}  // namespace
}  // namespace assay
