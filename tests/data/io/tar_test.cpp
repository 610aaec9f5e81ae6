#include "assay/data/io/tar.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/io/made_tar.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::vector<TarFile> files_of(const std::string& bytes, uint64_t most = 1000) {
  TarReader reader(memory_bytes("made.tar", bytes), most);
  std::vector<TarFile> out;
  for (TarFile file; reader.next(file);) out.push_back(file);
  return out;
}

TEST(Tar, GivesRegularFilesInOrder) {
  const std::string bytes = tar_entry("a/", "", '5') + tar_entry("a/x.txt", "hello") + tar_entry("empty", "") +
                            tar_entry("link", "", '2') + tar_entry("long", std::string(512, 'q')) + tar_end();
  const std::vector<TarFile> found = files_of(bytes);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name + "=" + found[0].bytes, "a/x.txt=hello");
  EXPECT_EQ(found[1].name + "=" + found[1].bytes, "empty=");
  EXPECT_EQ(found[2].bytes, std::string(512, 'q'));
  EXPECT_EQ(files_of("").size(), 0U);
  EXPECT_EQ(files_of(tar_entry("x", "1")).size(), 1U);  // the end may be missing
}

TEST(Tar, RefusesWhatIsBroken) {
  const auto refusal = [](const std::string& bytes, uint64_t most = 1000) {
    return sentence([&] { files_of(bytes, most); });
  };
  const std::string sound = tar_entry("x", "hello");
  EXPECT_THAT(refusal(sound.substr(0, 300)), HasSubstr("made.tar, byte 0: expected a header of 512 bytes"));
  EXPECT_THAT(refusal(sound.substr(0, 515)), HasSubstr("byte 512: expected the rest of a file"));
  EXPECT_THAT(refusal(sound.substr(0, 600)), HasSubstr("the end of the archive"));  // its padding is missing
  std::string changed = sound;
  changed[3] = 'y';
  EXPECT_THAT(refusal(changed), HasSubstr("with its checksum"));
  EXPECT_THAT(refusal(sound, 4), HasSubstr("a file of at most 4 bytes"));
  EXPECT_THAT(refusal(tar_entry("x", "hello", '0', "77777777777")), HasSubstr("a file of at most 1000 bytes"));
  EXPECT_THAT(refusal(tar_entry("x", "", '0', "9")), HasSubstr("in octal digits"));
  EXPECT_THAT(refusal(tar_entry("x", "", '5', "77777777777")), HasSubstr("the end of the archive"));
}

}  // namespace
}  // namespace assay
