#include "assay/explain/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "assay/data/io/array_table.h"
#include "assay/data/io/npz.h"
#include "assay/explain/io/explanations_json.h"
#include "assay/explain/io/explanations_meta.h"
#include "assay/explain/io/explanations_npz.h"
#include "assay/explain/io/explanations_table.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Arrays = std::vector<std::pair<std::string, NpyArray>>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string temporary(const std::string& extension) {
  return ::testing::TempDir() + "explanations_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
         extension;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Matrix matrix(size_t rows, size_t cols, std::initializer_list<float> values) {
  Matrix out(rows, cols);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Everything set, with names that files could stumble over.
Explanations full() {
  Explanations made;
  made.values = matrix(3, 2, {0.1F, -2, 3e-30F, kNan, 1.0F / 3, 5});
  made.features = {"target", "hours, \"all\""};
  made.base = {0.25, 0.25, 0.5};
  made.output = {1.5, -1, 0};
  made.target = {2, 0, 2};
  made.target_names = {"1", "unused", "0, or more"};
  made.standard_error = matrix(3, 2, {0.5F, 0.25F, 1, 2, 3, 4});
  made.background_error = matrix(3, 2, {1, 2, 3, 4, 5, kNan});
  made.gap = {0, 1e-9, -0.125};
  made.ids = {"007", "b", ""};
  made.id_name = "base";
  made.evaluations = 12345678901;
  made.notes = {"One note.",
                "Zweite \xC3\x9C"
                "ber."};
  made.provenance = {"kernel_shap",
                     {{"paired", "true"}, {"samples", "2048"}},
                     18446744073709551615U,
                     "margin",
                     "the predicted class",
                     "m.onnx",
                     "rows.csv",
                     "columns",
                     "mean of train.csv",
                     "0.1.0",
                     "AVX2",
                     "background",
                     "test"};
  return made;
}

void expect_matrix(const Matrix& found, const Matrix& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  for (size_t i = 0; i < found.values().size(); i++) {
    const float a = found.values()[i];
    const float b = expected.values()[i];
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " and " << b << " at " << i;
  }
}

void expect_numbers(const std::vector<double>& found, const std::vector<double>& expected, bool rounded) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); i++)
    EXPECT_EQ(found[i], rounded ? static_cast<float>(expected[i]) : expected[i]);
}

// What every format keeps.
void expect_rows(const Explanations& found, const Explanations& expected, bool rounded) {
  expect_matrix(found.values, expected.values);
  expect_matrix(found.standard_error, expected.standard_error);
  expect_matrix(found.background_error, expected.background_error);
  EXPECT_EQ(found.features, expected.features);
  expect_numbers(found.base, expected.base, rounded);
  expect_numbers(found.output, expected.output, rounded);
  expect_numbers(found.gap, expected.gap, rounded);
  EXPECT_EQ(found.ids, expected.ids);
  ASSERT_EQ(found.target.size(), expected.target.size());
  for (size_t i = 0; i < found.target.size(); i++) {
    EXPECT_EQ(found.target_names[found.target[i]], expected.target_names[expected.target[i]]);
  }
}

void expect_provenance(const Explanations& found, const Explanations& expected) {
  const Provenance& a = found.provenance;
  const Provenance& b = expected.provenance;
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.players, b.players);
  EXPECT_EQ(a.reference, b.reference);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.vector_target, b.vector_target);
  EXPECT_EQ(a.draw, b.draw);
  EXPECT_EQ(a.part, b.part);
  EXPECT_EQ(found.row_numbers, expected.row_numbers);
  EXPECT_EQ(found.evaluations, expected.evaluations);
  EXPECT_EQ(found.notes, expected.notes);
  EXPECT_EQ(found.id_name, expected.id_name);
  EXPECT_EQ(found.target_names, expected.target_names);
}

TEST(Explanations, NpzAndJsonGiveBackEverything) {
  for (const char* extension : {".npz", ".json", ".npz.gz", ".json.xz"}) {
    SCOPED_TRACE(extension);
    const std::string path = temporary(extension);
    write_explanations(full(), path, {});
    const Explanations read = read_explanations(path, {});
    expect_rows(read, full(), false);
    expect_provenance(read, full());
    const std::string bytes = content(path);
    write_explanations(read, path, {});
    EXPECT_EQ(content(path), bytes);
  }
}

Explanations aggregated() {
  Explanations made = full();
  made.combination.members = {"a, b", "\xC3\x9C"};
  made.combination.relative = true;
  made.combination.weights = matrix(3, 2, {0.5F, 0.5F, 1, 0, kNan, kNan});
  made.combination.antecedents = {4, 0, 7, -1, -1, -1};
  made.combination.measures = {{"norm", {1, 0.25, std::nan("")}}, {"bound", {0.1, 2, 3}}};
  return made;
}

TEST(Explanations, NpzAndJsonKeepWhatAnAggregateIsMadeOf) {
  for (const char* extension : {".npz", ".json"}) {
    SCOPED_TRACE(extension);
    const std::string path = temporary(extension);
    const Combination expected = aggregated().combination;
    write_explanations(aggregated(), path, {});
    const Combination found = read_explanations(path, {}).combination;
    EXPECT_EQ(found.members, expected.members);
    EXPECT_TRUE(found.relative);
    expect_matrix(found.weights, expected.weights);
    EXPECT_EQ(found.antecedents, expected.antecedents);
    ASSERT_EQ(found.measures.size(), 2);
    EXPECT_EQ(found.measures[0].name, "norm");
    EXPECT_EQ(found.measures[1].name, "bound");
    EXPECT_EQ(found.measures[1].values, expected.measures[1].values);
    EXPECT_EQ(found.measures[0].values[1], 0.25);
    EXPECT_TRUE(std::isnan(found.measures[0].values[2]));
    const std::string bytes = content(path);
    write_explanations(read_explanations(path, {}), path, {});
    EXPECT_EQ(content(path), bytes);
  }
}

// A file of somebody else may have arrays of these names that mean something else.
TEST(Explanations, OnlyAggregatesHaveWeights) {
  Explanations plain = aggregated();
  const std::string path = temporary(".npz");
  write_explanations(plain, path, {});
  Arrays arrays;
  const NpzFile file(path);
  for (const std::string& name : file.names()) {
    if (name != "meta") arrays.emplace_back(name, file.read(name));
  }
  write_npz(path + "2.npz", arrays, false, {});
  const Explanations read = read_explanations(path + "2.npz", {});
  EXPECT_TRUE(read.combination.members.empty());
  EXPECT_TRUE(read.combination.weights.empty());
  EXPECT_TRUE(read.combination.measures.empty());
}

TEST(Explanations, ArraysOfAggregatesThatDoNotFitAreNamed) {
  write_explanations(aggregated(), temporary(".npz"), {});
  const NpzFile file(temporary(".npz"));
  const auto message_with = [&](const std::string& changed, const NpyArray& array) {
    Arrays arrays;
    for (const std::string& name : file.names()) arrays.emplace_back(name, name == changed ? array : file.read(name));
    const std::string path = temporary("_changed.npz");
    write_npz(path, arrays, false, {});
    return message_of([&] { read_explanations(path, {}); });
  };
  const Matrix narrow = matrix(2, 2, {1, 2, 3, 4});
  EXPECT_THAT(
      message_with("weights", npy_from_matrix(narrow.view())),
      HasSubstr("array 'weights': expected 3 rows, one for each of 'values', of one or more columns, found 2 x 2"));
  const Matrix wide = matrix(3, 1, {1, 2, 3});
  EXPECT_THAT(message_with("antecedents", npy_from_matrix(wide.view())),
              HasSubstr("array 'antecedents': expected as many columns as 'weights', found 1"));
  const Matrix halves = matrix(3, 2, {1, 2, 3, 4, 5, 0.5F});
  EXPECT_THAT(message_with("antecedents", npy_from_matrix(halves.view())),
              HasSubstr("array 'antecedents': expected numbers of rows, or -1, found 0.5"));
  EXPECT_THAT(message_with("measure_names", npy_from_strings("x", {"one"})),
              HasSubstr("array 'measure_names': expected 2, one for each column of 'measures', found 1"));
}

// Sampled, but undefined: too few permutations for an error.
TEST(Explanations, ErrorsThatAreUndefinedAreStillThere) {
  for (const char* extension : {".npz", ".json"}) {
    Explanations undefined = full();
    undefined.standard_error = matrix(3, 2, {kNan, kNan, kNan, kNan, kNan, kNan});
    const std::string path = temporary(extension);
    write_explanations(undefined, path, {});
    expect_matrix(read_explanations(path, {}).standard_error, undefined.standard_error);
  }
}

TEST(Explanations, TablesGiveBackTheirRows) {
  for (const char* extension : {".csv", ".tsv", ".csv.gz"}) {
    SCOPED_TRACE(extension);
    const std::string path = temporary(extension);
    write_explanations(full(), path, {});
    const Explanations read = read_explanations(path, {});
    expect_rows(read, full(), true);
    EXPECT_EQ(read.id_name, "base");
    EXPECT_EQ(read.target_names, (std::vector<std::string>{"0, or more", "1"}));  // those that occur, in byte order
  }
}

TEST(Explanations, WhatIsNotThereStaysEmpty) {
  Explanations plain = full();
  plain.ids.clear();
  plain.id_name.clear();
  plain.standard_error = {};
  plain.background_error = {};
  for (const char* extension : {".npz", ".json", ".csv"}) {
    SCOPED_TRACE(extension);
    const std::string path = temporary(extension);
    write_explanations(plain, path, {});
    expect_rows(read_explanations(path, {}), plain, extension == std::string(".csv"));
  }
  // The array is there all the same.
  const NpyArray errors = NpzFile(temporary(".npz")).read("stderr");
  EXPECT_THAT(errors.shape, ElementsAre(3, 2));
  EXPECT_TRUE(std::isnan(errors.item<float>(5)));
  plain.background_error = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  write_explanations(plain, temporary(".csv"), {});
  expect_rows(read_explanations(temporary(".csv"), {}), plain, true);
}

TEST(Explanations, CsvReadsAsPeopleExpect) {
  Explanations made = full();
  made.features = {"age", "hours"};
  made.background_error = {};
  write_explanations(made, temporary(".csv"), {});
  EXPECT_THAT(content(temporary(".csv")),
              HasSubstr("base (id),target,output,base,gap,age,hours,age (stderr),hours (stderr)\n"
                        "007,\"0, or more\",1.5,0.25,0,0.1,-2,0.5,0.25\n"));
}

TEST(Explanations, BareMatricesAreAccepted) {
  const Matrix values = matrix(2, 3, {1, 2, 3, 4, 5, 6.5F});
  AtomicFile npy(temporary(".npy"));
  write_npy(npy, npy_from_matrix(values.view()));
  npy.commit();
  write_npz(temporary(".npz"), {{"phi", npy_from_matrix(values.view())}}, true);
  std::ofstream(temporary(".csv")) << "1,2,3\n4,5,6.5\n";
  for (const char* extension : {".npy", ".npz", ".csv"}) {
    SCOPED_TRACE(extension);
    const Explanations read = read_explanations(temporary(extension), {});
    expect_matrix(read.values, values);
    EXPECT_THAT(read.features, ElementsAre("0", "1", "2"));
    ASSERT_EQ(read.base.size(), 2U);
    EXPECT_TRUE(std::isnan(read.base[0]) && std::isnan(read.output[1]) && std::isnan(read.gap[1]));
    EXPECT_TRUE(read.target.empty() && read.target_names.empty() && read.ids.empty());
    EXPECT_TRUE(read.standard_error.empty());
    // And can be written again.
    for (const char* again : {"_2.npz", "_2.json", "_2.csv"}) {
      write_explanations(read, temporary(again), {});
      expect_matrix(read_explanations(temporary(again), {}).values, values);
    }
  }
  std::ofstream(temporary(".csv")) << "a,b,c\n1,2,3\n4,5,6.5\n";
  EXPECT_THAT(read_explanations(temporary(".csv"), {}).features, ElementsAre("a", "b", "c"));
  std::ofstream(temporary(".csv")) << "0,1\n4,5\n";  // as pandas numbers columns
  EXPECT_EQ(read_explanations(temporary(".csv"), {}).rows(), 1U);
}

TEST(Explanations, TablesOfNumbersAreMatricesToo) {
  Table table;
  table.columns = {{"a"}, {"b"}};
  table.values = matrix(1, 2, {1, 2});
  write_npz_table(table, temporary(".npz"));
  EXPECT_THAT(read_explanations(temporary(".npz"), {}).features, ElementsAre("a", "b"));
  table.columns[1] = {"b", ColumnKind::categorical, {"x", "y", "z"}};
  write_npz_table(table, temporary(".npz"));
  EXPECT_THAT(sentence([] { read_explanations(temporary(".npz"), {}); }),
              HasSubstr("column 'b': expected numbers, as attributions are, found text"));
}

TEST(Explanations, ArraysThatDoNotFitAreNamed) {
  const auto refused = [](Arrays arrays) {
    arrays.emplace_back("values", npy_from_matrix(Matrix(2, 3).view()));
    write_npz(temporary(".npz"), arrays, false);
    return sentence([] { read_explanations(temporary(".npz"), {}); });
  };
  const std::vector<double> three(3);
  const NpyArray names = npy_from_strings("", {"a", "b", "c"});
  EXPECT_THAT(refused({{"base", npy_from_doubles(three)}}), HasSubstr("array 'base': expected 2, one for each row"));
  EXPECT_THAT(refused({{"output", npy_from_doubles(three)}}), HasSubstr("array 'output'"));
  EXPECT_THAT(refused({{"gap", npy_from_doubles(three)}}), HasSubstr("array 'gap'"));
  EXPECT_THAT(refused({{"base", names}}), HasSubstr("array 'base': expected 2"));
  EXPECT_THAT(refused({{"output", npy_from_strings("", {"a", "b"})}}), HasSubstr("expected numbers, found text"));
  EXPECT_THAT(refused({{"stderr", npy_from_matrix(Matrix(3, 2).view())}}),
              HasSubstr("array 'stderr': expected 2 x 3, one for each value, found 3 x 2"));
  EXPECT_THAT(refused({{"features", npy_from_strings("", {"a"})}}), HasSubstr("array 'features': expected 3, one for"));
  EXPECT_THAT(refused({{"ids", names}}), HasSubstr("array 'ids': expected 2"));
  EXPECT_THAT(refused({{"target", npy_from_int64(std::vector<int64_t>{0, 0})}}), HasSubstr("'target_names'"));
  for (const int64_t target : {int64_t{-1}, int64_t{3}, INT64_MAX}) {
    EXPECT_THAT(refused({{"target", npy_from_int64(std::vector<int64_t>{0, target})}, {"target_names", names}}),
                HasSubstr("array 'target': expected whole numbers from 0 on below 3"));
  }
  EXPECT_THAT(refused({{"target", npy_from_doubles(std::vector<double>{0, 0.5})}, {"target_names", names}}),
              HasSubstr("found 0.5 in row 2"));
  EXPECT_THAT(refused({{"meta", npy_from_string("", R"({"assay": "explanations", "seed": "x"})")}}),
              HasSubstr("array 'meta': expected a whole number as 'seed'"));
}

TEST(Explanations, ValuesMustBeAMatrixOfNumbers) {
  const auto refused = [](const Arrays& arrays) {
    write_npz(temporary(".npz"), arrays, false);
    return sentence([] { read_explanations(temporary(".npz"), {}); });
  };
  EXPECT_THAT(refused({{"values", npy_from_doubles(std::vector<double>{1, 2})}}), HasSubstr("rows x features"));
  EXPECT_THAT(refused({{"values", npy_from_matrix(Matrix(0, 2).view())}}), HasSubstr("at least one of each"));
  EXPECT_THAT(refused({{"values", npy_from_strings("", {"a"})}}), HasSubstr("numbers, found text"));
  const NpyArray one = npy_from_matrix(Matrix(1, 1).view());
  EXPECT_THAT(refused({{"a", one}, {"b", one}}),
              HasSubstr("an array named 'values', or one array alone, found 2 others"));
  NpyArray large = npy_from_doubles(std::vector<double>{1e300});
  large.shape = {1, 1};
  EXPECT_THAT(refused({{"values", large}}), HasSubstr("float32"));
}

TEST(Explanations, MetaIsCheckedValueByValue) {
  const auto refused = [](const char* text) {
    Explanations ignored;
    return sentence([&] { read_explanations_meta("m", text, ignored); });
  };
  EXPECT_EQ(refused("{"), "m: expected JSON, found an error at byte 2");
  EXPECT_THAT(refused("[]"), HasSubstr("an object"));
  EXPECT_THAT(refused(R"({"assay": "table"})"), HasSubstr("\"explanations\" as 'assay', found 'table'"));
  const auto with = [&](const std::string& member) {
    return refused((R"({"assay": "explanations", )" + member + "}").c_str());
  };
  EXPECT_THAT(with(R"("method": 1)"), HasSubstr("text as 'method'"));
  EXPECT_THAT(with(R"("options": [])"), HasSubstr("an object as 'options'"));
  EXPECT_THAT(with(R"("options": {"a": 1})"), HasSubstr("text as the option 'a'"));
  EXPECT_THAT(with(R"("seed": -1)"), HasSubstr("a whole number as 'seed'"));
  EXPECT_THAT(with(R"("notes": "x")"), HasSubstr("a list as 'notes'"));
  EXPECT_THAT(with(R"("notes": [1])"), HasSubstr("texts in 'notes'"));
  EXPECT_THAT(with(R"("versions": {"assay": []})"), HasSubstr("text as 'assay'"));
  EXPECT_THAT(with(R"("x": [[[[[[[[1]]]]]]]])"), HasSubstr("at most 6 deep"));
}

TEST(Explanations, BracketsInTextAreNotDepth) {
  const char* text = R"({"features": ["[[[[[[[[[[\"[[["], "rows": [{"values": [1]}, {"values": [2]}]})";
  EXPECT_EQ(explanations_from_json("f.json", text).features[0], "[[[[[[[[[[\"[[[");
}

TEST(Explanations, JsonIsCheckedRowByRow) {
  const auto refused = [](const std::string& rows, const char* features = R"(["a", "b"])") {
    const std::string text = std::string(R"({"features": )") + features + R"(, "rows": )" + rows + "}";
    return sentence([&] { explanations_from_json("f.json", text); });
  };
  EXPECT_EQ(refused(R"([{"values": [1, null]}, {"values": [1, 2.5]}])"), "no error");
  EXPECT_THAT(refused("[]"), HasSubstr("at least one row"));
  EXPECT_THAT(refused("3"), HasSubstr("a list as 'rows'"));
  EXPECT_THAT(refused("[3]"), HasSubstr("f.json, row 1: expected an object"));
  EXPECT_THAT(refused(R"([{"values": [1]}])"), HasSubstr("row 1: expected 2 'values', one for each feature, found 1"));
  EXPECT_THAT(refused("[{}]"), HasSubstr("'values' in every row"));
  EXPECT_THAT(refused(R"([{"values": [1, "x"]}])"), HasSubstr("numbers or null as 'values'"));
  EXPECT_THAT(refused(R"([{"values": [1, 1e300]}])"), HasSubstr("float32"));
  EXPECT_THAT(refused(R"([{"values": [1, 1e999]}])"), HasSubstr("out of range"));
  EXPECT_THAT(refused(R"([{"values": [1, 2], "stderr": [1, 2]}, {"values": [1, 2]}])"), HasSubstr("row 2"));
  EXPECT_THAT(refused(R"([{"values": [1, 2], "output": "x"}])"), HasSubstr("'output'"));
  EXPECT_THAT(refused(R"([{"values": [1, 2], "target": "x"}])"), HasSubstr("'target_names' as 'target', found 'x'"));
  EXPECT_THAT(refused(R"([{"values": [1, 2], "id": 3}])"), HasSubstr("text as 'id'"));
  EXPECT_THAT(refused(R"([{"values": [1, 2], "id": "a"}, {"values": [1, 2]}])"),
              HasSubstr("'id' in every row or in none"));
  EXPECT_THAT(refused(R"([{"values": [1, 2]}, {"values": [1, 2], "id": "a"}])"),
              HasSubstr("'id' in every row or in none"));
  EXPECT_THAT(refused("[]", "[1]"), HasSubstr("texts in 'features'"));
  EXPECT_THAT(sentence([] { explanations_from_json("f.json", "[[[[[[[[[[1]]]]]]]]]]"); }), HasSubstr("deep"));
  // Many rows and many features in a short text take no memory.
  std::string rows = "[{}";
  std::string features = R"(["a")";
  for (size_t i = 0; i < 100000; i++) {
    rows += ",{}";
    features += R"(,"a")";
  }
  EXPECT_THAT(refused(rows + "]", (features + "]").c_str()), HasSubstr("'values' in every row"));
}

TEST(Explanations, TextTablesThatDoNotFitAreNamed) {
  const auto refused = [](const char* text) {
    std::ofstream(temporary(".csv")) << text;
    return sentence([] { read_explanations(temporary(".csv"), {}); });
  };
  EXPECT_THAT(refused("a,b\n1,x\n"), HasSubstr("column 'b': expected numbers, as attributions are, found text"));
  EXPECT_THAT(refused("1,2\n3\n"), HasSubstr("line 2"));
  EXPECT_THAT(refused("target,output,base,gap,a\nx,1,2,3,4\n,1,2,3,4\n"), HasSubstr("a target in every row"));
  EXPECT_THAT(refused("target,output,base,gap,a\nx,1,y,3,4\n"), HasSubstr("column 'base'"));
  EXPECT_THAT(refused("target,output,base,gap\nx,1,2,3\n"), HasSubstr("one feature"));
  EXPECT_THAT(message_of([] { read_explanations("nowhere.npz", {}); }), HasSubstr("nowhere.npz"));
}

TEST(Explanations, OutputsAreCheckedBeforeWork) {
  EXPECT_THAT(sentence([] { check_explanations_output("x.npy"); }), HasSubstr("found '.npy'"));
  EXPECT_THAT(sentence([] { check_explanations_output("x"); }), HasSubstr("one without an extension"));
  EXPECT_THAT(sentence([] { check_explanations_output("no/x.npz"); }), HasSubstr("no folder no"));
  EXPECT_THAT(sentence([] { check_explanations_output("no/x.csv"); }), HasSubstr("no folder no"));
  for (const char* path : {"x.npz", "x.csv", "x.json.gz", "-"}) check_explanations_output(path);
}

TEST(Explanations, ResultsGetTheirOwnFiles) {
  EXPECT_THAT(result_paths("phi.npz", {"gradient"}, {}), ElementsAre("phi.npz"));
  EXPECT_THAT(result_paths("a.b/phi.csv.gz", {"gradient", "lime"}, {}),
              ElementsAre("a.b/phi.gradient.csv.gz", "a.b/phi.lime.csv.gz"));
  EXPECT_THAT(result_paths("phi.NPZ", {"lime"}, {"no", "yes"}), ElementsAre("phi.no.NPZ", "phi.yes.NPZ"));
  EXPECT_THAT(result_paths("p.json", {"a", "a"}, {"<=50K", ">50K", "../x", "__50K"}),
              ElementsAre("p.a.__50K.json", "p.a._50K.json", "p.a.___x.json", "p.a.__50K-2.json", "p.a-2.__50K.json",
                          "p.a-2._50K.json", "p.a-2.___x.json", "p.a-2.__50K-2.json"));
  EXPECT_THAT(result_paths("p.json", {"a"}, {"A", "a", ""}), ElementsAre("p.A.json", "p.a-2.json", "p._.json"));
  EXPECT_THAT(result_paths("-", {"a"}, {}), ElementsAre("-"));
  EXPECT_THAT(sentence([] { result_paths("-", {"a", "b"}, {}); }), HasSubstr("one result"));
}

}  // namespace
}  // namespace assay
