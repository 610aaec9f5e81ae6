#include "assay/study/early_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/study/budget.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::StartsWith;

TEST(EarlyChecks, ATimeThatNoStudyTakes) {
  EXPECT_EQ(study_seconds("0.05s"), 0.05);
  EXPECT_EQ(study_seconds("none"), kNoTimeLimit);
  // The words that were said, not what they round to.
  EXPECT_EQ(sentence([] { study_seconds("0.001s"); }),
            "time: expected at least 0.05 s, for no study takes less, found '0.001s'");
}

TEST(EarlyChecks, MembersAreMethodsOfTheStudy) {
  StudyOptions options;
  options.members = {"gradient", "kernel_shap:samples=32"};
  check_members(options);
  options.members = {"gradiant"};
  EXPECT_THAT(sentence([&] { check_members(options); }), StartsWith("members: expected methods: "));
  EXPECT_THAT(sentence([&] { check_members(options); }), ::testing::HasSubstr("found 'gradiant' (did you mean"));
  options.methods = {parse_spec("m", "kernel_shap:samples=32")};
  options.members = {"kernel_shap"};
  check_members(options);
  options.members = {"kernel_shap:samples=32"};
  check_members(options);
  options.members = {"lime"};
  EXPECT_EQ(sentence([&] { check_members(options); }),
            "members: expected methods of the study: kernel_shap:samples=32, found 'lime'");
}

}  // namespace
}  // namespace assay
