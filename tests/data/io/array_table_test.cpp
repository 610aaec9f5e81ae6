#include "assay/data/io/array_table.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "tests/message.h"

namespace assay {
namespace {

using namespace std::string_literals;
using Arrays = std::vector<std::pair<std::string, NpyArray>>;

// Its own name for each test: tests may run at the same time.
std::string temporary(const std::string& extension) {
  return ::testing::TempDir() + "array_table_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
         extension;
}

NpyArray grid(std::vector<size_t> shape, size_t count) {
  Matrix values(count, 1);
  for (size_t i = 0; i < count; ++i) values.values()[i] = static_cast<float>(i);
  NpyArray array = npy_from_matrix(values.view());
  array.shape = std::move(shape);
  return array;
}

NpyArray texts(const std::vector<std::string>& values) { return npy_from_strings("test", values); }

Table read_arrays(const Arrays& arrays) {
  const std::string path = temporary(".npz");
  write_npz(path, arrays, true);
  return read_npz_table("a.npz", read_all(*open_bytes(path)));
}

std::string arrays_error(const Arrays& arrays) {
  return sentence([&] { read_arrays(arrays); });
}

Table mixed_table() {
  Table table;
  table.columns = {
      {.name = "age", .rounded = 2},
      {.name = "h\xc3\xa9", .kind = ColumnKind::categorical, .levels = {"", "a \"b\"\n", "\xf0\x9f\x98\x80"}},
      {.name = "y"}};
  table.values = Matrix(3, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.1F, 2, 1, nan, nan, 0, -0.0F, 0, 1e-40F};
  std::copy(std::begin(values), std::end(values), table.values.data());
  table.label = 2;
  table.id_name = "person";
  table.ids = {"p 1", "", "p\xc3\xa9"};
  table.item_shape = {2, 1};
  return table;
}

void expect_same(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (size_t j = 0; j < a.columns.size(); ++j) {
    EXPECT_EQ(a.columns[j].name, b.columns[j].name);
    EXPECT_EQ(a.columns[j].kind, b.columns[j].kind);
    EXPECT_EQ(a.columns[j].levels, b.columns[j].levels);
    EXPECT_EQ(a.columns[j].rounded, b.columns[j].rounded);
  }
  ASSERT_EQ(a.rows(), b.rows());
  for (size_t i = 0; i < a.values.values().size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(a.values.values()[i]), std::bit_cast<uint32_t>(b.values.values()[i])) << i;
  }
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.id_name, b.id_name);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.item_shape, b.item_shape);
}

TEST(ArrayTable, RestoresATableFromNpzExactly) {
  for (const char* extension : {".npz", ".npz.gz"}) {
    const std::string path = temporary(extension);
    write_npz_table(mixed_table(), path);
    const Table back = read_npz_table(path);
    EXPECT_EQ(back.source, path);
    expect_same(back, mixed_table());
  }
  Table empty;
  empty.columns = {{.name = "a"}};
  empty.values = Matrix(0, 1);
  write_npz_table(empty, temporary(".npz"));
  expect_same(read_npz_table(temporary(".npz")), empty);
}

TEST(ArrayTable, WritesPlainArraysThatOthersCanRead) {
  const std::string path = temporary(".npz");
  write_npz_table(mixed_table(), path);
  const std::string bytes = read_all(*open_bytes(path));
  write_npz_table(mixed_table(), path);
  EXPECT_EQ(bytes, read_all(*open_bytes(path))) << "the same table gives the same bytes";
  const NpzFile file(path);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"values", "features", "meta", "ids"}));
  EXPECT_EQ(to_strings("", file.read("features")), (std::vector<std::string>{"age", "h\xc3\xa9", "y"}));
  EXPECT_TRUE(file.header("meta").shape.empty());
  EXPECT_EQ(
      to_strings("", file.read("meta"))[0],
      "{\"assay\":\"table\",\"columns\":[{\"name\":\"age\",\"kind\":\"numeric\",\"levels\":[],\"rounded\":2},"
      "{\"name\":\"h\xc3\xa9\",\"kind\":\"categorical\",\"levels\":[\"\",\"a \\\"b\\\"\\n\",\"\xf0\x9f\x98\x80\"]},"
      "{\"name\":\"y\",\"kind\":\"numeric\",\"levels\":[]}],\"label\":2,\"id\":\"person\",\"item_shape\":[2,1]}");
}

TEST(ArrayTable, RefusesToWriteNamesThatAreNotUtf8) {
  Table table = mixed_table();
  table.columns[1].levels[0] = "\xff";
  EXPECT_EQ(sentence([&] { write_npz_table(table, "o.npz"); }),
            "o.npz: expected UTF-8 text in names and levels, found other bytes");
}

TEST(ArrayTable, ReadsForeignNpz) {
  for (const char* name : {"values", "x", "X", "data", "anything"}) {
    const Table table = read_arrays({{"other", grid({2}, 2)}, {name, grid({2, 3}, 6)}});
    EXPECT_EQ(column_names(table), (std::vector<std::string>{"x1", "x2", "x3"}));
    EXPECT_EQ(table.values(1, 0), 3.0F);
    EXPECT_FALSE(table.label.has_value());
    EXPECT_TRUE(table.item_shape.empty());
  }
  const Table one = read_arrays({{"x", grid({4}, 4)}});
  EXPECT_EQ(column_names(one), std::vector<std::string>{"x1"});
  EXPECT_EQ(one.rows(), 4U);
}

TEST(ArrayTable, TakesLabelsAndNamesFromForeignNpz) {
  const Table text = read_arrays(
      {{"x", grid({3, 2, 1}, 6)}, {"labels", texts({"no", "yes", "maybe"})}, {"features", texts({"a", "b"})}});
  EXPECT_EQ(column_names(text), (std::vector<std::string>{"a", "b", "label"}));
  EXPECT_EQ(text.label, 2U);
  EXPECT_EQ(text.item_shape, (std::vector<size_t>{2, 1}));
  EXPECT_EQ(text.columns[2].kind, ColumnKind::categorical);
  EXPECT_EQ(text.columns[2].levels, (std::vector<std::string>{"maybe", "no", "yes"}));
  EXPECT_EQ(text.values(0, 2), 1.0F);
  EXPECT_EQ(text.values(2, 2), 0.0F);
  EXPECT_EQ(text.values(2, 1), 5.0F);

  const NpyArray flags{NpyType::boolean, 1, {2, 1}, "\1\0"s};
  const Table flagged = read_arrays({{"x", grid({2, 2}, 4)}, {"y", flags}, {"features", texts({"one too few"})}});
  EXPECT_EQ(column_names(flagged), (std::vector<std::string>{"x1", "x2", "label"}));
  EXPECT_EQ(flagged.columns[2].kind, ColumnKind::numeric);
  EXPECT_EQ(flagged.values(0, 2), 1.0F);
  EXPECT_EQ(flagged.values(1, 2), 0.0F);

  const std::vector<int64_t> large = {1, 16777217};
  const Table rounded = read_arrays({{"x", grid({2, 1}, 2)}, {"target", npy_from_int64(large)}});
  EXPECT_EQ(rounded.columns[1].rounded, 1U);

  EXPECT_FALSE(read_arrays({{"x", grid({2, 2}, 4)}, {"y", grid({3}, 3)}}).label) << "three labels, two rows";
  EXPECT_EQ(read_arrays({{"x", grid({2, 1}, 2)}, {"meta", npy_from_string("", "my notes")}}).rows(), 2U);
}

TEST(ArrayTable, SaysWhyAForeignNpzIsNoTable) {
  EXPECT_EQ(arrays_error({{"a", grid({2, 2}, 4)}, {"b", grid({2, 1, 2}, 4)}, {"c", texts({"u"})}}),
            "a.npz: expected an array named values, x, X or data, or only one numeric array of two or more dimensions, "
            "found 'a' (<f4, 2 x 2), 'b' (<f4, 2 x 1 x 2) and 'c' (<U1, 1)");
  EXPECT_EQ(arrays_error({}),
            "a.npz: expected an array named values, x, X or data, or only one numeric array of two or more dimensions, "
            "found no arrays");
  EXPECT_EQ(arrays_error({{"values", texts({"u"})}}), "a.npz, array 'values': expected numbers, found text, dtype <U1");
  EXPECT_EQ(arrays_error({{"x", grid({0, 3}, 0)}}),
            "a.npz, array 'x': expected at least one row and one column, found 0 x 3");
  EXPECT_EQ(arrays_error({{"x", grid({1}, 1)}, {"y", grid({1}, 1)}, {"features", texts({"label"})}}),
            "a.npz, array 'y': expected no feature named 'label' beside it, found one in 'features'");
  const std::vector<double> large = {1e300};
  EXPECT_EQ(arrays_error({{"x", grid({1}, 1)}, {"y", npy_from_doubles(large)}}),
            "a.npz, array 'y': expected numbers within the range of float32 (3.4e38), found 1e+300 in row 1, column 1");
}

std::string meta_error(const std::string& meta, NpyArray values = grid({2, 2}, 4)) {
  const std::string whole = arrays_error({{"values", std::move(values)}, {"meta", npy_from_string("", meta)}});
  const std::string start = "a.npz, array ";
  EXPECT_TRUE(whole.starts_with(start)) << whole;
  return whole.substr(std::min(whole.size(), start.size()));
}

std::string meta_with(const std::string& columns, const std::string& rest) {
  return "{\"assay\":\"table\",\"columns\":" + columns + "," + rest + "}";
}

TEST(ArrayTable, TrustsNothingInMeta) {
  const std::string two = R"([{"name":"a","kind":"numeric","levels":[]},{"name":"b","kind":"numeric","levels":[]}])";
  const std::string rest = R"("label":null,"id":"","item_shape":[])";
  EXPECT_EQ(meta_error(R"({"assay")"), "'meta': expected JSON, found an error at byte 9");
  EXPECT_EQ(meta_error(R"({"assay":1e999})"), "'meta': expected JSON, found a number out of range");
  EXPECT_EQ(meta_error(R"({"assay":"chair"})"), "'meta': expected \"table\" as 'assay', found '\"chair\"'");
  EXPECT_EQ(meta_error(R"({"assay":"table"})"), "'meta': expected the key 'columns', found none");
  EXPECT_EQ(meta_error(R"({"assay":"table","x":)" + std::string(100000, '[')),
            "'meta': expected JSON at most 6 deep, found deeper");
  EXPECT_EQ(meta_error(meta_with("{}", rest)), "'meta': expected an array as 'columns', found '{}'");
  EXPECT_EQ(meta_error(meta_with("[1]", rest)), "'meta': expected an object, found '1'");
  EXPECT_EQ(meta_error(meta_with(R"([{"name":1}])", rest)), "'meta': expected text as a column's 'name', found '1'");
  EXPECT_EQ(meta_error(meta_with(R"([{"name":"a","kind":"blue"}])", rest)),
            "'meta': expected a kind 'numeric' or 'categorical', found 'blue'");
  EXPECT_EQ(meta_error(meta_with(R"([{"name":"a","kind":"numeric","levels":["u"]}])", rest)),
            "'meta': expected no levels in the numeric column 'a', found 1");
  EXPECT_EQ(meta_error(meta_with(R"([{"name":"a","kind":"categorical","levels":["u","u"]}])", rest)),
            "'meta': expected different levels in column 'a', found 'u' twice");
  EXPECT_EQ(meta_error(meta_with(R"([{"name":"a","kind":"numeric","levels":[],"rounded":-1}])", rest)),
            "'meta': expected a whole number as 'rounded', found '-1'");
  EXPECT_EQ(meta_error(meta_with(
                R"([{"name":"a","kind":"numeric","levels":[]},{"name":"a","kind":"numeric","levels":[]}])", rest)),
            "'meta': expected columns of different names, found 'a' twice");
  EXPECT_EQ(meta_error(meta_with(two, R"("label":2,"id":"","item_shape":[])")),
            "'meta': expected a label below 2, the number of columns, found '2'");
  EXPECT_EQ(meta_error(meta_with(two, R"("label":-1,"id":"","item_shape":[])")),
            "'meta': expected a column's index or null as 'label', found '-1'");
  EXPECT_EQ(meta_error(meta_with(two, R"("label":null,"id":[],"item_shape":[])")),
            "'meta': expected text as 'id', found '[]'");
  for (const std::string shape :
       {"[3]", "[0]", "[2,0]", "[4294967296,4294967296,4294967296]", "[18446744073709551615,2]"}) {
    EXPECT_EQ(meta_error(meta_with(two, R"("label":null,"id":"","item_shape":)" + shape)),
              "'meta': expected an 'item_shape' of 2 values, found '" + shape + "'");
  }
  EXPECT_EQ(meta_error(meta_with(two, rest), grid({2, 3}, 6)),
            "'values': expected rows x 2 columns, as 'meta' says, found 2 x 3");
  EXPECT_EQ(meta_error(meta_with(two, rest), grid({4}, 4)),
            "'values': expected rows x 2 columns, as 'meta' says, found 4");
  EXPECT_EQ(meta_error(meta_with("[]", rest), NpyArray{NpyType::float32, 4, {size_t{1} << 40, 0}, ""}),
            "'values': expected rows x 0 columns, as 'meta' says, found 1099511627776 x 0");
  EXPECT_EQ(meta_error(meta_with(two, rest), texts({"u"})),
            "'values': expected rows x 2 columns, as 'meta' says, found 1");
}

TEST(ArrayTable, ComparesTheOtherArraysWithMeta) {
  const NpyArray meta = npy_from_string("", meta_with(R"([{"name":"a","kind":"categorical","levels":["u","v"]}])",
                                                      R"("label":null,"id":"","item_shape":[])"));
  EXPECT_EQ(arrays_error({{"values", grid({3, 1}, 3)}, {"meta", meta}}),
            "a.npz, array 'values': expected a code below 2 in column 'a', found 2 in row 3");
  const std::vector<double> half = {0.5};
  NpyArray halves = npy_from_doubles(half);
  halves.shape = {1, 1};
  EXPECT_EQ(arrays_error({{"values", halves}, {"meta", meta}}),
            "a.npz, array 'values': expected a code below 2 in column 'a', found 0.5 in row 1");
  EXPECT_EQ(arrays_error({{"values", grid({2, 1}, 2)}, {"meta", meta}, {"ids", texts({"1"})}}),
            "a.npz, array 'ids': expected 2 texts, one for each row, found 1");
  EXPECT_EQ(arrays_error({{"values", grid({2, 1}, 2)}, {"meta", meta}, {"features", texts({"b"})}}),
            "a.npz, array 'features': expected the names in 'meta', found others");
  EXPECT_EQ(read_arrays({{"values", grid({2, 1}, 2)}, {"meta", meta}}).rows(), 2U);
}

TEST(ArrayTable, ReadsAndWritesNpy) {
  Table table;
  table.columns.resize(4);
  table.values = Matrix(2, 4);
  for (size_t i = 0; i < 8; ++i) table.values.values()[i] = static_cast<float>(i) / 8;
  table.item_shape = {2, 2};
  write_npy_table(table, temporary(".npy"));
  EXPECT_EQ(read_npy(*open_bytes(temporary(".npy"))).shape, (std::vector<size_t>{2, 2, 2}));
  const Table back = read_npy_table(*open_bytes(temporary(".npy")));
  EXPECT_EQ(column_names(back), (std::vector<std::string>{"x1", "x2", "x3", "x4"}));
  EXPECT_EQ(back.item_shape, table.item_shape);
  EXPECT_EQ(back.values(1, 3), 0.875F);
  table.item_shape.clear();
  write_npy_table(table, temporary(".npy"));
  EXPECT_EQ(read_npy(*open_bytes(temporary(".npy"))).shape, (std::vector<size_t>{2, 4}));
  EXPECT_EQ(sentence([&] { write_npy_table(mixed_table(), "o.npy"); }),
            "o.npy: expected only numeric columns in NPY (NPZ and CSV keep categories), found the categorical column "
            "'h\xc3\xa9'");
}

TEST(ArrayTable, TakesNoMemoryForColumnsThatAreNotThere) {
  const auto error = [](const std::string& shape) {
    const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}";
    const std::string file = "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header;
    return sentence([&] { read_npy_table(*memory_bytes("a.npy", file)); });
  };
  EXPECT_EQ(error("(0, 1099511627776)"), "a.npy: expected at least one row and one column, found 0 x 1099511627776");
  EXPECT_EQ(error("(1099511627776, 0)"), "a.npy: expected at least one row and one column, found 1099511627776 x 0");
}

TEST(ArrayTable, WritesIdxAsBytesOnlyWhenNothingIsLost) {
  const std::string path = temporary(".idx");
  Table table;
  table.columns.resize(1);
  table.values = Matrix(2, 1);
  table.values(0, 0) = 255;
  write_idx_table(table, path);
  EXPECT_EQ(read_all(*open_bytes(path)), "\0\0\x08\1\0\0\0\2\xff\0"s);
  for (const float other : {256.0F, -1.0F, 0.5F, -0.0F, std::numeric_limits<float>::quiet_NaN()}) {
    table.values(0, 0) = other;
    write_idx_table(table, path);
    const Table back = read_idx_table(*open_bytes(path));
    EXPECT_EQ(std::bit_cast<uint32_t>(back.values(0, 0)), std::bit_cast<uint32_t>(other));
  }
  EXPECT_NE(sentence([&] { write_idx_table(mixed_table(), path); }).find("only numeric columns in IDX"),
            std::string::npos);
}

TEST(ArrayTable, ReadsIdxImages) {
  const std::string file = "\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\4"s;
  const Table table = read_idx_table(*memory_bytes("a.idx", file));
  EXPECT_EQ(table.source, "a.idx");
  EXPECT_EQ(column_names(table), (std::vector<std::string>{"x1", "x2"}));
  EXPECT_EQ(table.item_shape, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(table.values(1, 1), 4.0F);
  write_idx_table(table, temporary(".idx"));
  EXPECT_EQ(read_all(*open_bytes(temporary(".idx"))), file);
}

}  // namespace
}  // namespace assay
