#include "assay/archive/io/entry_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "assay/core/random.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Bits, but any NaN for any other: files have one.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same(x, y); });
}

void expect_same(const Scores& a, const Scores& b) {
  EXPECT_EQ(a.criterion, b.criterion);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.direction, b.direction);
  EXPECT_TRUE(same(a.values, b.values));
  EXPECT_EQ(a.of_rows, b.of_rows);
  EXPECT_TRUE(same(a.standard_error, b.standard_error));
  ASSERT_EQ(a.undefined.size(), b.undefined.size());
  for (size_t i = 0; i < a.undefined.size(); i++) {
    EXPECT_EQ(a.undefined[i].reason, b.undefined[i].reason);
    EXPECT_EQ(a.undefined[i].rows, b.undefined[i].rows);
  }
  EXPECT_EQ(a.dependent, b.dependent);
  EXPECT_TRUE(same({a.shared_error, a.mean, a.mean_error, a.interval.low, a.interval.high, a.coverage},
                   {b.shared_error, b.mean, b.mean_error, b.interval.low, b.interval.high, b.coverage}));
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (size_t i = 0; i < a.tables.size(); i++) {
    EXPECT_EQ(a.tables[i].name, b.tables[i].name);
    EXPECT_EQ(a.tables[i].columns, b.tables[i].columns);
    EXPECT_EQ(a.tables[i].labels, b.tables[i].labels);
    ASSERT_EQ(a.tables[i].rows.size(), b.tables[i].rows.size());
    for (size_t r = 0; r < a.tables[i].rows.size(); r++) EXPECT_TRUE(same(a.tables[i].rows[r], b.tables[i].rows[r]));
  }
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.evaluations, b.evaluations);
}

void expect_same(const StudyEntry& a, const StudyEntry& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.stem, b.stem);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.pool_rows, b.pool_rows);
  ASSERT_EQ(a.trends.size(), b.trends.size());
  for (size_t p = 0; p < a.trends.size(); p++) EXPECT_TRUE(same(a.trends[p], b.trends[p]));
  EXPECT_EQ(a.evaluations, b.evaluations);
  ASSERT_EQ(a.scores.size(), b.scores.size());
  for (size_t i = 0; i < a.scores.size(); i++) expect_same(a.scores[i], b.scores[i]);
  ASSERT_EQ(a.curves.size(), b.curves.size());
  for (size_t i = 0; i < a.curves.size(); i++) {
    EXPECT_EQ(a.curves[i].criterion, b.curves[i].criterion);
    EXPECT_EQ(a.curves[i].along, b.curves[i].along);
    EXPECT_TRUE(same(a.curves[i].x, b.curves[i].x));
    EXPECT_TRUE(same(a.curves[i].mean, b.curves[i].mean));
    EXPECT_TRUE(same(a.curves[i].error, b.curves[i].error));
    EXPECT_TRUE(same(a.curves[i].coverage, b.curves[i].coverage));
  }
  ASSERT_EQ(a.variations.size(), b.variations.size());
  for (size_t i = 0; i < a.variations.size(); i++) {
    EXPECT_EQ(a.variations[i].what, b.variations[i].what);
    EXPECT_EQ(a.variations[i].value, b.variations[i].value);
    EXPECT_EQ(a.variations[i].criteria, b.variations[i].criteria);
    EXPECT_TRUE(same(a.variations[i].mean, b.variations[i].mean));
  }
}

// Every field differs from its default, and the numbers are awkward ones.
StudyEntry full_entry() {
  Scores rows;
  rows.criterion = "faithfulness";
  rows.options = {{"subset", "2"}, {"among", "all"}, {"samples", "100"}};  // not by name
  rows.direction = Direction::higher;
  rows.values = {0.1, NAN, -0.0, kInfinity, -kInfinity, 5e-324, 1.7976931348623157e308, 1.0 / 3, 1e23};
  rows.standard_error = {0.01, NAN, 0, 1, 2, 3, 4, 5, 6};
  rows.undefined = {{"all \"outputs\" are equal\n", 1}};
  rows.dependent = true;
  rows.shared_error = 0.0625;
  rows.mean = 1.0 / 7;
  rows.mean_error = kInfinity;
  rows.interval = {-kInfinity, 0.30000000000000004};
  rows.coverage = 8.0 / 9;
  rows.tables = {{"by size", {"size", "mean"}, {{1, 0.5}, {2, NAN}}, {"a", "b"}}, {"bare", {}, {{}, {}}}};
  rows.notes = {"subset 2 was chosen", "\xc3\xa9 \xf0\x9f\x8e\x89"};
  rows.evaluations = UINT64_MAX;
  Scores runs;
  runs.criterion = "roar";
  runs.direction = Direction::lower;
  runs.values = {1, 2};
  runs.of_rows = false;
  runs.mean = 1.5;
  runs.coverage = 1;
  Scores none;
  none.criterion = "identity";
  none.values.assign(9, NAN);
  none.undefined = {{"it cannot be made again", 9}};
  StudyEntry entry;
  entry.name = "kernel_shap:samples=64, <b>&\"quoted\"";
  entry.stem = "kernel_shap-samples_64";
  entry.kind = EntryKind::aggregate;
  entry.scores = {rows, runs, none};
  entry.curves = {{"avg_sensitivity", "radius", {0.1, 0.2}, {1, NAN}, {0.5, NAN}, {1, 0}},
                  {"faithfulness", "subset", {}, {}, {}, {}}};
  entry.variations = {{"seed", "1", {"faithfulness", "complexity"}, {0.25, NAN}}, {"baseline", "zero", {}, {}}};
  entry.pool_rows = 17;
  entry.trends = {0.5, NAN, -1};
  entry.evaluations = uint64_t{1} << 63;
  return entry;
}

TEST(EntryJson, ReadsBackWhatWasWritten) {
  const StudyEntry entry = full_entry();
  const std::string text = entry_json(entry);
  const StudyEntry back = entry_from_json("x.json", text);
  expect_same(entry, back);
  EXPECT_EQ(entry_json(back), text);
  EXPECT_EQ(back.explanations.rows(), 0U);
  const StudyEntry least = {.name = "", .stem = "a", .explanations = {}, .scores = {}};
  expect_same(least, entry_from_json("x.json", entry_json(least)));
}

// Any double at all: bits drawn at random, so that all exponents come.
RC_GTEST_PROP(EntryJson, KeepsEveryDouble, (uint64_t seed)) {
  RandomStream stream(seed, "entry json test", 0);
  Scores scores;
  for (int i = 0; i < 50; i++) scores.values.push_back(std::bit_cast<double>(stream.bits64()));
  scores.mean = scores.values[0];
  StudyEntry entry = {.name = "x", .stem = "x", .explanations = {}, .scores = {scores}};
  const StudyEntry back = entry_from_json("x", entry_json(entry));
  RC_ASSERT(same(back.scores[0].values, scores.values) && same(back.scores[0].mean, scores.mean));
}

TEST(EntryJson, ReplacesWhatIsNoUtf8) {
  StudyEntry entry = {.name = "a\xff", .stem = "a", .explanations = {}, .scores = {}};
  EXPECT_EQ(entry_from_json("x", entry_json(entry)).name, "a\xef\xbf\xbd");
}

TEST(EntryJson, IgnoresFieldsThatItDoesNotKnow) {
  json document = json::parse(entry_json(full_entry()));
  document["later"] = {{"x", {1, 2, 3}}};
  document["scores"][0]["later"] = nullptr;
  expect_same(full_entry(), entry_from_json("x.json", document.dump()));
}

struct Change {
  const char* where;
  const char* value;
  const char* sentence;
};

class EntryJsonRefuses : public ::testing::TestWithParam<Change> {};

TEST_P(EntryJsonRefuses, WhatDoesNotFit) {
  const auto& [where, value, words] = GetParam();
  json document = json::parse(entry_json(full_entry()));
  document.at(json::json_pointer(where)) = json::parse(value);
  const std::string found = sentence([&] { entry_from_json("x.json", document.dump()); });
  EXPECT_EQ(found.substr(0, 6), "x.json") << found;
  EXPECT_THAT(found, HasSubstr(words));
  EXPECT_EQ(found.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, EntryJsonRefuses,
    ::testing::Values(
        Change{"", "[]", "x.json: expected an object, found '[]'"},
        Change{"/schema", "\"assay.entry/2\"", "expected \"assay.entry/1\" as 'schema', found 'assay.entry/2'"},
        Change{"/schema", "1", "expected text as 'schema'"}, Change{"/name", "null", "expected text as 'name'"},
        Change{"/stem", "\"../x\"", "letters, digits, _ and - as 'stem', found '../x'"},
        Change{"/stem", "\"\"", "as 'stem'"}, Change{"/stem", "\"a.b\"", "as 'stem'"},
        Change{"/stem", "\"a\\u0000\"", "as 'stem'"}, Change{"/stem", "\"\xc3\xa9\"", "as 'stem'"},
        Change{"/kind", "\"Method\"", "expected method or aggregate as 'kind', found 'Method'"},
        Change{"/pool_rows", "-1", "a whole number as 'pool_rows'"},
        Change{"/pool_rows", "1.0", "a whole number as 'pool_rows'"},
        Change{"/evaluations", "\"1\"", "a whole number as 'evaluations'"},
        Change{"/scores", "{}", "a list as 'scores'"},
        Change{"/scores/1", "3", "x.json, 'scores' 2: expected an object, found '3'"},
        Change{"/scores/0/criterion", "{}", "text as 'criterion'"},
        Change{"/scores/0/options", "{\"a\": \"b\"}", "a list as 'options'"},
        Change{"/scores/0/options/0", "[\"a\"]", "a name and a value"},
        Change{"/scores/0/options/0", "[\"a\", 1]", "a name and a value"},
        Change{"/scores/0/direction", "\"up\"", "higher, lower or neither as 'direction'"},
        Change{"/scores/0/per", "\"rows\"", "row or run as 'per'"},
        Change{"/scores/0/mean", "\"NaN\"", "a number, null, \"Infinity\" or \"-Infinity\" as 'mean'"},
        Change{"/scores/0/mean", "true", "as 'mean', found 'true'"}, Change{"/scores/0/stderr", "-0.5", "not below 0"},
        Change{"/scores/0/interval", "[1]", "2 numbers, low and high, as 'interval', found 1"},
        Change{"/scores/0/interval", "[2, 1]", "the lower end first as 'interval'"},
        Change{"/scores/0/coverage", "1.0000001", "a number from 0 to 1 as 'coverage'"},
        Change{"/scores/0/coverage", "null", "a number from 0 to 1 as 'coverage'"},
        Change{"/scores/0/coverage", "-1", "a number from 0 to 1 as 'coverage'"},
        Change{"/scores/0/dependent", "0", "true or false as 'dependent'"},
        Change{"/scores/0/shared_stderr", "-1", "not below 0"},
        Change{"/scores/0/undefined/0/rows", "-3", "x.json, 'scores' 1, 'undefined' 1: expected a whole number"},
        Change{"/scores/0/notes", "[1]", "a list of texts as 'notes'"},
        Change{"/scores/0/tables/0/rows/1", "[1]", "lists of 2 numbers as 'rows'"},
        Change{"/scores/0/tables/0/rows/1", "[1, []]", "as 'rows', found '[]'"},
        Change{"/scores/0/tables/0/labels", "[\"a\"]", "2 'labels', one for each row, found 1"},
        Change{"/scores/0/values/3", "\"inf\"", "as 'values', found '\"inf\"'"},
        Change{"/scores/0/values_stderr", "[1]", "9 'values_stderr', one for each of 'values', or none, found 1"},
        Change{"/scores/2/values", "[1, 2]", "x.json, 'scores' 3: expected 9 'values', as before, found 2"},
        Change{"/curves/0/mean", "[1]", "2 numbers, one for each of 'x', as 'mean', found 1"},
        Change{"/curves/0/stderr", "[1, 2, 3]", "one for each of 'x', as 'stderr', found 3"},
        Change{"/curves/0/coverage", "[1]", "one for each of 'x', as 'coverage', found 1"},
        Change{"/curves/0/coverage", "[1, 2]", "numbers from 0 to 1 as 'coverage', found 2"},
        Change{"/variations/0/mean", "[1, 2, 3]", "2 numbers, one for each of 'criteria', as 'mean', found 3"}));

TEST(EntryJson, RefusesADocumentWithoutOneOfItsFields) {
  const json whole = json::parse(entry_json(full_entry()));
  // "labels" may be left out, and "trends", which files had not from the beginning.
  size_t tried = 0;
  for (const char* at :
       {"", "/scores/0", "/scores/0/undefined/0", "/scores/0/tables/0", "/curves/0", "/variations/0"}) {
    for (const auto& [key, value] : whole.at(json::json_pointer(at)).items()) {
      json document = whole;
      document.at(json::json_pointer(at)).erase(key);
      const std::string found = message_of([&] { entry_from_json("x", document.dump()); });
      EXPECT_THAT(found, key == "labels" || key == "trends" ? HasSubstr("no error")
                                                            : HasSubstr("expected the key '" + key + "', found none"));
      tried++;
    }
  }
  EXPECT_EQ(tried, 10 + 16 + 2 + 4 + 6 + 4U);
}

TEST(EntryJson, RefusesWhatIsNoJson) {
  const std::string whole = entry_json(full_entry());
  for (size_t length = 0; length + 2 < whole.size(); length += 7) {
    EXPECT_THAT(sentence([&] { entry_from_json("x", whole.substr(0, length)); }), HasSubstr("x: expected"));
  }
  EXPECT_EQ(sentence([] { entry_from_json("x", "{\"a\": 1e999}"); }), "x: expected JSON, found a number out of range");
  EXPECT_THAT(sentence([] { entry_from_json("x", "{\"name\": \"\xff\"}"); }), HasSubstr("an error at byte"));
  // So deep that walking it would overflow the stack.
  EXPECT_THAT(sentence([] { entry_from_json("x", std::string(1'000'000, '[')); }), HasSubstr("x: "));
  // So many keys that finding each in a list would take hours.
  std::string many = "{";
  for (int i = 0; i < 200'000; i++) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(sentence([&] { entry_from_json("x", many + "\"\":0}"); }), "x: expected the key 'schema', found none");
}

TEST(EntryJson, StemsAreNamesOfFiles) {
  for (const char* good : {"a", "Z9_-", "kernel_shap-samples-64"}) EXPECT_TRUE(valid_stem(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "a\\b", "a b", "a:b", "\xc3\xa9", "a\n"}) EXPECT_FALSE(valid_stem(bad));
  EXPECT_TRUE(valid_stem(std::string(200, 'a')));
  EXPECT_FALSE(valid_stem(std::string(201, 'a')));
}

}  // namespace
}  // namespace assay::testing
