#include "assay/data/io/npy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "tests/message.h"

namespace assay {
namespace {

using namespace std::string_literals;

// A file put together by hand: this header text, without NumPy's padding, and this data.
std::string npy_file(const std::string& header, const std::string& data, char major = 1) {
  std::string out = "\x93NUMPY"s + major + '\0';
  for (size_t i = 0; i < (major == 1 ? 2U : 4U); ++i) out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

NpyArray parse(const std::string& file) { return read_npy(*memory_bytes("a.npy", file)); }

// A source that does not know its size, as a gzip file does not.
class Unsized : public ByteSource {
 public:
  explicit Unsized(std::string bytes) : ByteSource("a.npy"), bytes_(std::move(bytes)) {}
  size_t read(std::span<char> out) override {
    const size_t count = std::min({out.size(), bytes_.size() - position_, size_t{7}});
    std::copy_n(bytes_.data() + position_, count, out.data());
    position_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t position_ = 0;
};

std::string parse_error(const std::string& file) {
  const std::string sized = sentence([&] { parse(file); });
  EXPECT_NE(sentence([&] { read_npy(*std::make_unique<Unsized>(file)); }), "no error");
  return sized;
}

std::string header_error(const std::string& header) { return parse_error(npy_file(header, "")); }

TEST(Npy, ReadsWhatNumPyWrites) {
  // np.save of np.arange(6, dtype='<f4').reshape(2, 3), NumPy 2.4, byte for byte.
  const std::string file =
      "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
      "                                                          \n"
      "\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@"s;
  const NpyArray array = parse(file);
  EXPECT_EQ(array.type, NpyType::float32);
  EXPECT_EQ(array.shape, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(to_doubles("a", array), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(npy_header(array) + array.bytes, file);
}

TEST(Npy, WritesZeroAndOneDimensionalTextAsNumPyDoes) {
  const NpyArray one = npy_from_string("a", "h\xc3\xa9");
  EXPECT_EQ(npy_header(one) + one.bytes,
            "\x93NUMPY\x01\x00v\x00{'descr': '<U2', 'fortran_order': False, 'shape': (), }"
            "                                                              \n"
            "h\x00\x00\x00\xe9\x00\x00\x00"s);
  const NpyArray many = npy_from_strings("a", {"a", "bcd"});
  EXPECT_EQ(npy_header(many) + many.bytes,
            "\x93NUMPY\x01\x00v\x00{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }"
            "                                                            \n"
            "a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
            "b\x00\x00\x00"
            "c\x00\x00\x00"
            "d\x00\x00\x00"s);
  EXPECT_EQ(npy_from_strings("a", {}).item_size, 4U) << "NumPy has no text of width 0";
  EXPECT_EQ(npy_from_strings("a", {"", ""}).bytes.size(), 8U);
}

TEST(Npy, ReadsEveryTypeInBothByteOrders) {
  struct Case {
    std::string descr;
    std::string little;  // two items
    std::vector<double> expected;
  };
  const std::vector<Case> cases = {
      {"b1", "\x00\x01"s, {0, 1}},
      {"i1", "\xff\x7f"s, {-1, 127}},
      {"u1", "\xff\x7f"s, {255, 127}},
      {"i2", "\xfe\xff\x00\x01"s, {-2, 256}},
      {"u2", "\xfe\xff\x00\x01"s, {65534, 256}},
      {"i4", "\xfd\xff\xff\xff\x00\x00\x00\x01"s, {-3, 16777216}},
      {"u4", "\xfd\xff\xff\xff\x00\x00\x00\x01"s, {4294967293, 16777216}},
      {"i8", "\xfc\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x01\x00\x00\x00"s, {-4, 4294967296}},
      {"u8", "\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x01\x00\x00\x00"s, {9223372036854775808.0, 4294967296}},
      {"f2", "\x00\x3e\x01\x80"s, {1.5, -0x1p-24}},
      {"f4", "\x00\x00\xc0\x3f\x00\x00\x00\xc0"s, {1.5, -2}},
      {"f8", "\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"s, {1.5, -2}},
  };
  for (const auto& test : cases) {
    std::string big = test.little;
    const size_t width = big.size() / 2;
    std::reverse(big.begin(), big.begin() + static_cast<ptrdiff_t>(width));
    std::reverse(big.begin() + static_cast<ptrdiff_t>(width), big.end());
    const NpyArray little_array =
        parse(npy_file(dictionary((width == 1 ? "|" : "<") + test.descr, "(2,)"), test.little));
    const NpyArray big_array = parse(npy_file(dictionary(">" + test.descr, "(2,)"), big));
    EXPECT_EQ(to_doubles("a", little_array), test.expected) << test.descr;
    EXPECT_EQ(to_doubles("a", big_array), test.expected) << test.descr;
    EXPECT_EQ(big_array.bytes, test.little) << test.descr;
    EXPECT_EQ(dtype_text(little_array.type, little_array.item_size), (width == 1 ? "|" : "<") + test.descr);
    const Matrix matrix = to_matrix("a", little_array);
    EXPECT_EQ(matrix(1, 0), static_cast<float>(test.expected[1])) << test.descr;
  }
}

TEST(Npy, ReadsTheEdgesOfHalfPrecision) {
  // 65504, the smallest normal 2^-14, infinity, -infinity, NaN, -0: https://en.wikipedia.org/wiki/Half-precision
  const NpyArray array =
      parse(npy_file(dictionary("<f2", "(6,)"), "\xff\x7b\x00\x04\x00\x7c\x00\xfc\x01\x7e\x00\x80"s));
  const Matrix matrix = to_matrix("a", array);
  EXPECT_EQ(matrix(0, 0), 65504.0F);
  EXPECT_EQ(matrix(1, 0), 0x1p-14F);
  EXPECT_EQ(matrix(2, 0), std::numeric_limits<float>::infinity());
  EXPECT_EQ(matrix(3, 0), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(matrix(4, 0)));
  EXPECT_TRUE(std::signbit(matrix(5, 0)));
}

TEST(Npy, ReadsText) {
  const std::vector<std::string> expected = {"h\xc3\xa9", "", "\xf0\x9f\x98\x80z"};
  const std::string little = "h\0\0\0\xe9\0\0\0"s + "\0\0\0\0\0\0\0\0"s + "\x00\xf6\x01\x00z\0\0\0"s;
  const std::string big = "\0\0\0h\0\0\0\xe9"s + "\0\0\0\0\0\0\0\0"s + "\x00\x01\xf6\x00\0\0\0z"s;
  EXPECT_EQ(to_strings("a", parse(npy_file(dictionary("<U2", "(3,)"), little))), expected);
  EXPECT_EQ(to_strings("a", parse(npy_file(dictionary(">U2", "(3,)"), big))), expected);
  EXPECT_EQ(npy_from_strings("a", expected).bytes, little);
  EXPECT_EQ(to_strings("a", parse(npy_file(dictionary("|S3", "(2,)"), "ab\0a\0b"s))),
            (std::vector<std::string>{"ab", "a\0b"s}));
  EXPECT_TRUE(parse(npy_file(dictionary("<U0", "(0,)"), "")).bytes.empty());
}

TEST(Npy, RefusesTextThatIsNotUnicode) {
  const NpyArray surrogate = parse(npy_file(dictionary("<U1", "(1,)"), "\x00\xd8\x00\x00"s));
  EXPECT_EQ(sentence([&] { to_strings("a.npy", surrogate); }),
            "a.npy: expected Unicode text, found the code 0xd800 in item 1");
  const NpyArray latin = parse(npy_file(dictionary("|S2", "(1,)"), "\xe9z"s));
  EXPECT_EQ(sentence([&] { to_strings("a.npy", latin); }), "a.npy: expected UTF-8 text, found '\\xe9z' in item 1");
  for (const auto& bad : {"\xff"s, "\xc0\x80"s, "\xe2\x82"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s, "\x80"s}) {
    EXPECT_NE(sentence([&] { npy_from_strings("a", {bad}); }), "no error");
  }
  EXPECT_EQ(sentence([&] { npy_from_strings("a", {"x\0"s}); }),
            "a: expected text that does not end in a NUL character, found 'x\\x00'");
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  for (const char major : {'\2', '\3'}) {
    EXPECT_EQ(to_doubles("a", parse(npy_file(dictionary("|u1", "(2,)"), "\1\2", major))), (std::vector<double>{1, 2}));
  }
}

TEST(Npy, ReadsShapesOfAnyNumberOfDimensions) {
  const NpyArray scalar = parse(npy_file(dictionary("|u1", "()"), "\7"));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(to_doubles("a", scalar), std::vector<double>{7});
  EXPECT_EQ(to_matrix("a", scalar).rows(), 1U);
  const NpyArray image = parse(npy_file(dictionary("|u1", "(2L, 1, 3)"), "\1\2\3\4\5\6"));
  const Matrix matrix = to_matrix("a", image);
  EXPECT_EQ(matrix.rows(), 2U);
  EXPECT_EQ(matrix.cols(), 3U);
  EXPECT_EQ(matrix(1, 0), 4.0F);
  EXPECT_EQ(parse(npy_file(dictionary("<f8", "(0, 5)"), "")).count(), 0U);
  EXPECT_EQ(parse(npy_file("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"|u1\"}", "\5")).count(), 1U);
}

TEST(Npy, TurnsFortranOrderIntoCOrder) {
  // Shape (2, 3): element (i, j) is 10 i + j, the first index fastest.
  EXPECT_EQ(to_doubles("a", parse(npy_file(dictionary("|u1", "(2, 3)", "True"), "\x00\x0a\x01\x0b\x02\x0c"s))),
            (std::vector<double>{0, 1, 2, 10, 11, 12}));
  // np.arange(24).reshape(2, 3, 4) saved in Fortran order.
  std::string bytes;
  std::vector<double> expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) bytes += static_cast<char>(12 * i + 4 * j + k);
    }
  }
  for (int i = 0; i < 24; ++i) expected.push_back(i);
  EXPECT_EQ(to_doubles("a", parse(npy_file(dictionary("|u1", "(2, 3, 4)", "True"), bytes))), expected);
  // More rows than one strip.
  std::string tall, flat;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 200; ++i) tall += {static_cast<char>(i), static_cast<char>(j)};
  }
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 3; ++j) flat += {static_cast<char>(i), static_cast<char>(j)};
  }
  EXPECT_EQ(parse(npy_file(dictionary("<i2", "(200, 3)", "True"), tall)).bytes, flat);
}

TEST(Npy, SaysWhatIsWrongWithAHeader) {
  EXPECT_EQ(parse_error("PK\3\4 no array"),
            "a.npy: expected an NPY file, which starts with \\x93NUMPY, found other bytes");
  EXPECT_EQ(parse_error("\x93NUMPY"), "a.npy: expected a whole NPY header, found the end of the file");
  EXPECT_EQ(parse_error("\x93NUMPY\x01\x00\x10"s), "a.npy: expected a whole NPY header, found the end of the file");
  EXPECT_EQ(parse_error("\x93NUMPY\x01\x00\x10\x00{"s),
            "a.npy: expected a whole NPY header, found the end of the file");
  EXPECT_EQ(parse_error("\x93NUMPY\x04\x01\x10\x00{"s), "a.npy: expected NPY version 1.0, 2.0 or 3.0, found 4.1");
  EXPECT_EQ(parse_error("\x93NUMPY\x02\x00\xff\xff\xff\xff"s),
            "a.npy: expected an NPY header of at most 65536 bytes, found 4294967295");
  EXPECT_EQ(header_error(""), "a.npy: expected a '{' in the NPY header, found its end");
  EXPECT_EQ(header_error("import os"), "a.npy: expected a '{' in the NPY header, found 'import os'");
  EXPECT_EQ(header_error("{}"),
            "a.npy: expected the keys 'descr', 'fortran_order' and 'shape' in the NPY header, found no 'descr'");
  EXPECT_EQ(
      header_error("{'descr': '<f4', 'shape': ()}"),
      "a.npy: expected the keys 'descr', 'fortran_order' and 'shape' in the NPY header, found no 'fortran_order'");
  EXPECT_EQ(header_error("{'color': 1}"),
            "a.npy: expected the keys 'descr', 'fortran_order' and 'shape' in the NPY header, found 'color'");
  EXPECT_EQ(header_error("{'shape': (), 'shape': ()}"),
            "a.npy: expected each key once in the NPY header, found 'shape' twice");
  EXPECT_EQ(header_error("{'shape' ()}"), "a.npy: expected a ':' in the NPY header, found '()}'");
  EXPECT_EQ(header_error("{shape: ()}"), "a.npy: expected a key in quotes in the NPY header, found 'shape: ()}'");
  EXPECT_EQ(header_error("{'sha"), "a.npy: expected a key in quotes in the NPY header, found ''sha'");
  EXPECT_EQ(header_error("{'shape': () 'descr'"), "a.npy: expected a '}' in the NPY header, found ''descr''");
  EXPECT_EQ(header_error("{'shape': 3}"), "a.npy: expected a tuple as 'shape' in the NPY header, found '3}'");
  EXPECT_EQ(header_error("{'shape': (3)}"),
            "a.npy: expected a ',' after the only dimension in 'shape' in the NPY header, found '}'");
  EXPECT_EQ(header_error("{'shape': (3 4)}"), "a.npy: expected a ',' or ')' in 'shape' in the NPY header, found '4)}'");
  EXPECT_EQ(header_error("{'shape': (-3,)}"),
            "a.npy: expected a whole number of 64 bits in 'shape' in the NPY header, found '-3,)}'");
  EXPECT_EQ(header_error("{'shape': (99999999999999999999,)}"),
            "a.npy: expected a whole number of 64 bits in 'shape' in the NPY header, found '99999999999999999999,)}'");
  EXPECT_EQ(header_error("{'fortran_order': 0}"),
            "a.npy: expected True or False as 'fortran_order' in the NPY header, found '0}'");
  EXPECT_EQ(header_error(dictionary("|u1", "()") + "x"),
            "a.npy: expected nothing after the dictionary in the NPY header, found 'x'");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  EXPECT_EQ(header_error(dictionary("|u1", many + ")")),
            "a.npy: expected an array of at most 64 dimensions, found more");
}

TEST(Npy, RefusesOtherTypesByName) {
  EXPECT_EQ(
      header_error(dictionary("|O", "(1,)")),
      "a.npy: expected an array of numbers or text, found dtype '|O' (Python objects; save the array as numbers or "
      "text instead)");
  EXPECT_EQ(header_error("{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, 'shape': (1,), }"),
            "a.npy: expected an array of numbers or text, found the structured dtype '[('a', '<f4'), ('b', '<i8')]'");
  for (const std::string type :
       {"<c8", "<f16", "<M8[ns]", "|V4", "<i3", "|f4", "", "<", "f", "<U99999999999", "<f-4"}) {
    EXPECT_EQ(header_error(dictionary(type, "(1,)")),
              "a.npy: expected an array of numbers or text, found dtype '" + type + "'");
  }
}

TEST(Npy, ComparesTheDataWithWhatTheHeaderClaims) {
  const std::string header = dictionary("<f4", "(3,)");
  EXPECT_EQ(parse_error(npy_file(header, std::string(11, 'x'))), "a.npy: expected 12 bytes of array data, found 11");
  EXPECT_EQ(parse_error(npy_file(header, std::string(13, 'x'))), "a.npy: expected 12 bytes of array data, found 13");
  EXPECT_EQ(sentence([&] { read_npy(*std::make_unique<Unsized>(npy_file(header, std::string(11, 'x')))); }),
            "a.npy: expected 12 bytes of array data, found 11");
  EXPECT_EQ(sentence([&] { read_npy(*std::make_unique<Unsized>(npy_file(header, std::string(13, 'x')))); }),
            "a.npy: expected 12 bytes of array data, found more");
}

TEST(Npy, TakesNoMemoryOnAClaimAlone) {
  // With or without a known size: a terabyte claimed, nothing there. The sanitizers' build would fail to allocate it.
  EXPECT_EQ(header_error(dictionary("<f8", "(1099511627776,)")),
            "a.npy: expected 8796093022208 bytes of array data, found 0");
  EXPECT_EQ(header_error(dictionary("<f8", "(4294967296, 4294967296)")),
            "a.npy: expected an array that fits in memory, found one of 4294967296 x 4294967296 items of 8 bytes");
  EXPECT_EQ(header_error(dictionary("<f8", "(0, 4294967296, 4294967296)")),
            "a.npy: expected an array that fits in memory, found one of 0 x 4294967296 x 4294967296 items of 8 bytes");
  EXPECT_EQ(header_error(dictionary("<U0", "(1099511627776,)")),
            "a.npy: expected items of at least one byte, found dtype '<U0'");
}

TEST(Npy, ConvertsToFloat32WithCare) {
  const std::vector<double> large = {1, std::numeric_limits<double>::infinity(), 3.4028235677973362e38, -1e300};
  NpyArray array = npy_from_doubles(large);
  EXPECT_EQ(sentence([&] { to_matrix("a.npy", array); }),
            "a.npy: expected numbers within the range of float32 (3.4e38), found -1e+300 in row 4, column 1");
  array.shape = {2, 2};
  EXPECT_EQ(sentence([&] { to_matrix("a.npy", array); }),
            "a.npy: expected numbers within the range of float32 (3.4e38), found -1e+300 in row 2, column 2");
  NpyArray inside = npy_from_doubles(std::span(large).first(3));
  EXPECT_EQ(to_matrix("a", inside)(2, 0), std::numeric_limits<float>::max());
  EXPECT_EQ(sentence([&] { to_matrix("a.npy", npy_from_strings("a", {"x"})); }),
            "a.npy: expected numbers, found text, dtype <U1");
  EXPECT_EQ(sentence([&] { to_strings("a.npy", inside); }), "a.npy: expected text, found numbers, dtype <f8");
}

TEST(Npy, CountsLargeNumbersThatLoseDigits) {
  constexpr int64_t kEdge = int64_t{1} << 24;
  const std::vector<int64_t> values = {kEdge,
                                       kEdge + 1,
                                       -kEdge - 1,
                                       kEdge + 2,
                                       std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max()};
  NpyArray array = npy_from_int64(values);
  array.shape = {3, 2};
  std::vector<size_t> rounded;
  to_matrix("a", array, &rounded);
  EXPECT_EQ(rounded, (std::vector<size_t>{1, 2}));
  // Counted: the first, the seconds, the nanoseconds, and what lies below 2^24 but not as float32.
  const std::vector<double> doubles = {16777217,      0.1,        0x1p99, std::nan(""), INFINITY,
                                       1700000060.25, 738000.123, 1.7e18, 16777215.75};
  to_matrix("a", npy_from_doubles(doubles), &rounded);
  EXPECT_EQ(rounded, std::vector<size_t>{4});
}

TEST(Npy, WritesAFileThatReadsBack) {
  const std::string path = ::testing::TempDir() + "npy_test.npy.gz";
  Matrix values(3, 2);
  for (size_t i = 0; i < 6; ++i) values.values()[i] = static_cast<float>(i) / 4;
  {
    AtomicFile file(path);
    write_npy(file, npy_from_matrix(values.view()));
    file.commit();
  }
  const NpyArray back = read_npy(*open_bytes(path));
  EXPECT_EQ(back.shape, (std::vector<size_t>{3, 2}));
  const Matrix matrix = to_matrix("a", back);
  EXPECT_TRUE(std::equal(matrix.values().begin(), matrix.values().end(), values.values().begin()));
}

}  // namespace
}  // namespace assay
