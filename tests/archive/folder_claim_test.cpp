#include "assay/archive/folder_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/message.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class StudyClaim : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = (fs::temp_directory_path() / ("assay-claim-" + std::to_string(::getpid()) + test->name())).string();
    make_folder(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string claim(const StudySettings& settings, bool resume = false, bool overwrite = false) const {
    return message_of([&] { claim_folder(folder_, settings, resume, overwrite, {}); });
  }
  void put(const std::string& name) const { std::ofstream(folder_ + "/" + name) << "x"; }
  bool has(const std::string& name) const { return fs::exists(folder_ + "/" + name); }

  std::string folder_;
};

StudySettings of_package(std::vector<std::string> arguments = {"methods=lime"}, uint64_t seed = 0) {
  return {.arguments = std::move(arguments), .seed = seed, .program = std::string(kStudyFunction)};
}

TEST_F(StudyClaim, MessagesSpeakTheWordsOfTheProgram) {
  EXPECT_EQ(claim(of_package()), "no error");
  EXPECT_THAT(claim(of_package()), StartsWith("out: expected a folder without a study, found one in "));
  EXPECT_THAT(claim(of_package()), HasSubstr(": resume=True goes on with it, overwrite=True replaces it"));
  EXPECT_EQ(claim(of_package(), true), "no error");
  const std::string other = claim(of_package({"methods=gradient"}, 3), true);
  EXPECT_THAT(other, HasSubstr("settings of this study (seed=3 'methods=gradient')"));
  EXPECT_TRUE(other.ends_with("found others (seed=0 'methods=lime')")) << other;
  StudySettings old = of_package();
  old.version = "0.0.1";
  EXPECT_THAT(claim(old, true), HasSubstr("; overwrite=True starts afresh"));
  record_inputs(folder_, {{"data (rows)", "rows", std::string(64, 'a')}}, {});
  EXPECT_THAT(sentence([&] { record_inputs(folder_, {{"data (rows)", "rows", std::string(64, 'b')}}, {}); }),
              HasSubstr("; overwrite=True starts afresh"));
}

TEST_F(StudyClaim, AStudyOfAnotherProgramIsReplacedButNotGoneOnWith) {
  EXPECT_EQ(claim(of_package()), "no error");
  StudySettings of_command = of_package();
  of_command.program = std::string(kStudyCommand);
  EXPECT_THAT(claim(of_command), HasSubstr("--resume goes on with it"));
  EXPECT_THAT(claim(of_command, true), HasSubstr("it was made by assay.study of the Python package"));
  EXPECT_EQ(claim(of_command, false, true), "no error");
  EXPECT_EQ(read_settings(folder_, {}).program, "assay.study") << "it stays until the new one is planned";
  replace_study(folder_, of_command, {});
  EXPECT_EQ(read_settings(folder_, {}).program, "assay study");
  EXPECT_THAT(claim(of_package(), true), HasSubstr("it was made by the command `assay study`"));
}

TEST_F(StudyClaim, WhatTheInputsWereIsKept) {
  EXPECT_EQ(claim(of_package()), "no error");
  record_inputs(folder_, {{"model (rows)", "m", std::string(64, 'c')}}, {});
  const StudySettings read = read_settings(folder_, {});
  EXPECT_EQ(read.program, "assay.study");
  ASSERT_EQ(read.inputs.size(), 1U);
  EXPECT_EQ(read.inputs[0].sha256, std::string(64, 'c'));
}

TEST_F(StudyClaim, AnOlderStudyStaysUntilTheNewOneBegins) {
  EXPECT_EQ(claim(of_package()), "no error");
  put("study.json");
  ClaimedFolder claimed(folder_, of_package({"methods=gradient"}), false, true, {});
  EXPECT_TRUE(claimed.holds_older());
  claimed.record_inputs({{"data (rows)", "rows", std::string(64, 'a')}}, {});
  EXPECT_THAT(sentence([&] { claimed.record_inputs({{"data (rows)", "rows", std::string(64, 'b')}}, {}); }),
              HasSubstr("it changed since"));
  EXPECT_TRUE(has("study.json"));
  EXPECT_EQ(read_settings(folder_, {}).arguments[0], "methods=lime");
  claimed.begin({}, {});
  EXPECT_FALSE(claimed.holds_older());
  EXPECT_FALSE(has("study.json"));
  const StudySettings begun = read_settings(folder_, {});
  EXPECT_EQ(begun.arguments[0], "methods=gradient");
  ASSERT_EQ(begun.inputs.size(), 1U);
  EXPECT_EQ(begun.inputs[0].sha256, std::string(64, 'a'));
}

TEST_F(StudyClaim, FilesOfOthersStay) {
  put("notes.txt");
  EXPECT_THAT(claim(of_package(), false, true), StartsWith("out: expected a new or empty folder, found "));
  fs::remove(folder_ + "/notes.txt");
  EXPECT_EQ(claim(of_package()), "no error");
  put("notes.txt");
  put("study.json.tmp-12-3");
  EXPECT_EQ(claim(of_package(), true), "no error");
  EXPECT_FALSE(has("study.json.tmp-12-3"));
  abandon_folder(folder_);
  EXPECT_FALSE(has("settings.json"));
  EXPECT_TRUE(has("notes.txt"));
}

TEST_F(StudyClaim, OneStudyRunsInAFolderAtATime) {
  const FolderLock lock(folder_);
  EXPECT_THAT(sentence([&] { const FolderLock second(folder_); }), HasSubstr("another study that is running in it"));
}

}  // namespace
}  // namespace assay::testing
