#include "assay/core/sha256.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/message.h"

namespace assay::testing {
namespace {

// NIST's examples (FIPS 180-2, appendix B, and the example values of its toolkit).
TEST(Sha256, OfTheStandardsExamples) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsm"
                 "nopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Where the padding starts, ends and spills into another block; from Python's hashlib, of b"a" * length.
TEST(Sha256, AtTheEdgesOfBlocks) {
  const std::vector<std::pair<size_t, std::string>> known = {
      {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
      {127, "c57e9278af78fa3cab38667bef4ce29d783787a2f731d4e12200270f0c32320a"},
      {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
      {129, "c12cb024a2e5551cca0e08fce8f1c5e314555cc3fef6329ee994a3db752166ae"},
  };
  for (const auto& [length, hash] : known) EXPECT_EQ(sha256_hex(std::string(length, 'a')), hash) << length;
}

// A view of nothing may point nowhere, as that of an empty vector does. memcpy must not be given such a pointer, not
// even for 0 bytes: UndefinedBehaviorSanitizer stops there. The hash is that of the bytes around it.
TEST(Sha256, OfNothingAtNoAddress) {
  const std::string_view nothing;
  ASSERT_EQ(nothing.data(), nullptr);
  EXPECT_EQ(sha256_hex(nothing), sha256_hex(""));
  Sha256 hash;
  hash.add(nothing);
  hash.add("ab");
  hash.add(nothing);  // while a block waits for more
  hash.add("c");
  EXPECT_EQ(hash.hex(), sha256_hex("abc"));
  Sha256 blocks;
  blocks.add(std::string(64, 'a'));
  blocks.add(nothing);  // and at the edge of one
  EXPECT_EQ(blocks.hex(), sha256_hex(std::string(64, 'a')));
}

TEST(Sha256, OfAllBytes) {
  std::string all;
  for (int byte = 0; byte < 256; byte++) all += static_cast<char>(byte);
  EXPECT_EQ(sha256_hex(all), "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880");
}

// However the bytes come, and whoever asks in between.
RC_GTEST_PROP(Sha256, DoesNotDependOnPieces, (const std::vector<std::string>& pieces)) {
  std::string whole;
  Sha256 hash;
  for (size_t i = 0; i < pieces.size(); i++) {
    std::string piece;
    for (size_t times = 0; times < 1 + i * 7 % 40; times++) piece += pieces[i];
    hash.add(piece);
    whole += piece;
    RC_ASSERT(hash.hex() == sha256_hex(whole));
  }
}

TEST(Sha256, OfEveryCutOfAText) {
  std::string text;
  for (int i = 0; i < 200; i++) text += static_cast<char>(i * 37);
  for (size_t cut = 0; cut <= text.size(); cut++) {
    Sha256 hash;
    hash.add(std::string_view(text).substr(0, cut));
    hash.add(std::string_view(text).substr(cut));
    ASSERT_EQ(hash.hex(), sha256_hex(text)) << cut;
  }
}

class Sha256OfFiles : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Tests run side by side.
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("assay_sha256_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Sha256OfFiles, IsThatOfTheBytesAsTheyLie) {
  // Longer than one piece, and with gzip's first bytes, which are not unpacked.
  std::string bytes = "\x1f\x8b";
  for (int i = 0; i < 300'000; i++) bytes += static_cast<char>(i % 251);
  const std::string path = folder_ / "x.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(file_sha256(path, {}), sha256_hex(bytes));
  std::ofstream(folder_ / "empty").flush();
  EXPECT_EQ(file_sha256(folder_ / "empty", {}), sha256_hex(""));
}

TEST_F(Sha256OfFiles, RefusesWhatIsNoFile) {
  EXPECT_EQ(message_of([&] { file_sha256(folder_ / "none", {}); }),
            (folder_ / "none").string() + ": cannot open it: No such file or directory");
  EXPECT_EQ(sentence([&] { file_sha256(folder_, {}); }),
            folder_.string() + ": expected a regular file, found a folder");
  // Nobody writes to this pipe: waiting for it would never end.
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(sentence([&] { file_sha256(pipe, {}); }), pipe + ": expected a regular file, found something else");
}

TEST_F(Sha256OfFiles, StopsWhenCancelled) {
  std::ofstream(folder_ / "x") << "x";
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  try {
    file_sha256(folder_ / "x", context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
}

}  // namespace
}  // namespace assay::testing
