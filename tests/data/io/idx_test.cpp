#include "assay/data/io/idx.h"

#include <gtest/gtest.h>

#include "assay/core/error.h"
#include "tests/message.h"

namespace assay {
namespace {

using namespace std::string_literals;

NpyArray parse(const std::string& bytes) { return read_idx(*memory_bytes("a.idx", bytes)); }

std::string parse_error(const std::string& bytes) {
  return sentence([&] { parse(bytes); });
}

// Two numbers of every type, with the values they must give.
struct Sample {
  std::string bytes;
  NpyType type;
  std::vector<double> values;
};
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"\0\0\x08\1\0\0\0\2\xff\x01"s, NpyType::uint8, {255, 1}},
      {"\0\0\x09\1\0\0\0\2\xff\x01"s, NpyType::int8, {-1, 1}},
      {"\0\0\x0b\1\0\0\0\2\xff\xfe\x01\x00"s, NpyType::int16, {-2, 256}},
      {"\0\0\x0c\1\0\0\0\2\xff\xff\xff\xfd\x00\x01\x00\x00"s, NpyType::int32, {-3, 65536}},
      {"\0\0\x0d\1\0\0\0\2\x3f\xc0\x00\x00\xc0\x00\x00\x00"s, NpyType::float32, {1.5, -2}},
      {"\0\0\x0e\1\0\0\0\2\x3f\xf8\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00"s,
       NpyType::float64,
       {1.5, -2}},
  };
  return all;
}

TEST(Idx, ReadsEveryType) {
  for (const auto& sample : samples()) {
    const NpyArray array = parse(sample.bytes);
    EXPECT_EQ(array.type, sample.type);
    EXPECT_EQ(array.shape, std::vector<size_t>{2});
    EXPECT_EQ(to_doubles("a", array), sample.values);
  }
}

TEST(Idx, WritesTheSameBytesBack) {
  const std::string path = ::testing::TempDir() + "idx_test.idx";
  for (const auto& sample : samples()) {
    AtomicFile file(path);
    write_idx(path, file, parse(sample.bytes));
    file.commit();
    EXPECT_EQ(read_all(*open_bytes(path)), sample.bytes);
  }
}

TEST(Idx, ReadsImagesInTheOrderOfMnist) {
  const NpyArray array = parse("\0\0\x08\3\0\0\0\1\0\0\0\2\0\0\0\3\1\2\3\4\5\6"s);
  EXPECT_EQ(array.shape, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(to_matrix("a", array)(0, 5), 6.0F);
}

TEST(Idx, SaysWhatIsWrong) {
  const std::string start =
      "a.idx: expected an IDX file, which starts with 00 00 and a type from 08, 09, 0B, 0C, 0D, 0E, found ";
  EXPECT_EQ(parse_error(""), start + "the end of the file");
  EXPECT_EQ(parse_error("\0\0\x0a\1"s), start + "00 00 0A");
  EXPECT_EQ(parse_error("PK\3\4"s), start + "50 4B 03");
  EXPECT_EQ(parse_error("\0\0\x08\0"s), "a.idx: expected 1 to 64 dimensions in the IDX header, found 0");
  EXPECT_EQ(parse_error("\0\0\x08\xff"s), "a.idx: expected 1 to 64 dimensions in the IDX header, found 255");
  EXPECT_EQ(parse_error("\0\0\x08\2\0\0\0\1\0\0"s), "a.idx: expected a whole IDX header, found the end of the file");
  EXPECT_EQ(parse_error("\0\0\x08\1\0\0\0\3\1\2"s), "a.idx: expected 3 bytes of array data, found 2");
  EXPECT_EQ(parse_error("\0\0\x08\1\0\0\0\3\1\2\3\4"s), "a.idx: expected 3 bytes of array data, found 4");
  EXPECT_EQ(parse_error("\0\0\x0e\1\xff\xff\xff\xff"s), "a.idx: expected 34359738360 bytes of array data, found 0");
  EXPECT_EQ(parse_error("\0\0\x0e\2\xff\xff\xff\xff\xff\xff\xff\xff"s),
            "a.idx: expected an array that fits in memory, found one of 4294967295 x 4294967295 items of 8 bytes");
}

TEST(Idx, RefusesToWriteWhatTheFormatLacks) {
  const std::string path = ::testing::TempDir() + "idx_test_refused.idx";
  AtomicFile file(path);
  const std::vector<int64_t> numbers = {1};
  EXPECT_EQ(sentence([&] { write_idx("o.idx", file, npy_from_int64(numbers)); }),
            "o.idx: expected a type that IDX has (8-bit, int16, int32, float32 or float64), found dtype <i8");
  EXPECT_EQ(sentence([&] { write_idx("o.idx", file, NpyArray{NpyType::uint8, 1, {}, "x"}); }),
            "o.idx: expected 1 to 255 dimensions in an IDX file, found 0");
  EXPECT_EQ(sentence([&] { write_idx("o.idx", file, NpyArray{NpyType::uint8, 1, {size_t{1} << 32, 0}, ""}); }),
            "o.idx: expected dimensions below 2^32 in an IDX file, found 4294967296");
}

}  // namespace
}  // namespace assay
