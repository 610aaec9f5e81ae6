#include "assay/data/io/npz.h"

#include <gtest/gtest.h>

#include <fstream>

#include "assay/core/error.h"
#include "tests/message.h"

namespace assay {
namespace {

using namespace std::string_literals;

std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

// np.savez_compressed(X=np.asfortranarray(np.array([[1, 2], [3, 4]], '>f4')), y=np.array(['no', 'yes'])), NumPy 2.4,
// dated 1980-01-01.
constexpr std::string_view kSavezCompressed =
    "504b03042d0000000800000021002ee4cbd2ffffffffffffffff05001400582e6e70790100100090000000000000005100000000000000"
    "9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9766a2aea3a09e965f54529498179f5f94920a120f292a4d050a17672416a402b9"
    "1a463a0a469a3a0ab50ae4032efb060606070720660062201b00504b03042d000000080000002100f8d2d014ffffffffffffffff050014"
    "00792e6e707901001000980000000000000053000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e136aacaea3a09e"
    "965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a1400ae3c0606867c0608a804e254202e06620050"
    "4b01022d032d0000000800000021002ee4cbd25100000090000000050000000000000000000000800100000000582e6e7079504b01022d"
    "032d000000080000002100f8d2d0145300000098000000050000000000000000000000800188000000792e6e7079504b05060000000002"
    "00020066000000120100000000";

TEST(Npz, ReadsWhatNumPyWrites) {
  const NpzFile file("a.npz", from_hex(kSavezCompressed));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"X", "y"}));
  EXPECT_TRUE(file.contains("X"));
  EXPECT_FALSE(file.contains("X.npy"));
  EXPECT_EQ(file.header("y").type, NpyType::unicode);
  const NpyArray x = file.read("X");
  EXPECT_EQ(x.shape, (std::vector<size_t>{2, 2}));
  EXPECT_EQ(to_doubles("X", x), (std::vector<double>{1, 2, 3, 4})) << "Fortran order, big-endian float32";
  EXPECT_EQ(to_strings("y", file.read("y")), (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(sentence([&] { file.read("x"); }), "a.npz: expected an array named 'x', found none (did you mean 'X'?)");
}

TEST(Npz, SurvivesEveryFlippedByte) {
  const std::string whole = from_hex(kSavezCompressed);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
    sentence([&] {
      const NpzFile file("a.npz", bytes);
      for (const auto& name : file.names()) file.read(name);
    });
    EXPECT_NE(sentence([&] { NpzFile("a.npz", whole.substr(0, i)); }), "no error");
  }
}

TEST(Npz, WritesTheSameBytesForTheSameArrays) {
  const std::vector<int64_t> numbers = {1, -2, 3};
  const std::vector<std::pair<std::string, NpyArray>> arrays = {{"n", npy_from_int64(numbers)},
                                                                {"s", npy_from_string("s", "text")}};
  for (const bool compressed : {false, true}) {
    const std::string path = ::testing::TempDir() + "npz_test.npz";
    std::string bytes[2];
    for (auto& copy : bytes) {
      write_npz(path, arrays, compressed);
      std::ifstream in(path, std::ios::binary);
      copy.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_EQ(bytes[0], bytes[1]);
    const NpzFile file(path);
    EXPECT_EQ(file.names(), (std::vector<std::string>{"n", "s"}));
    EXPECT_EQ(file.read("n").bytes, arrays[0].second.bytes);
    EXPECT_EQ(file.read("n").shape, arrays[0].second.shape);
    EXPECT_EQ(to_strings("s", file.read("s")), std::vector<std::string>{"text"});
  }
}

TEST(Npz, WritesNothingWhenANameIsTwice) {
  const std::string path = ::testing::TempDir() + "npz_test_twice.npz";
  std::remove(path.c_str());
  EXPECT_EQ(sentence([&] { write_npz(path, {{"a", NpyArray{}}, {"a", NpyArray{}}}, false); }),
            path + ": expected arrays of different names, found 'a' twice");
  EXPECT_FALSE(std::ifstream(path).good());
}

}  // namespace
}  // namespace assay
