#include "assay/report/gate_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/archive/gate_study.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

TEST(GateText, PrintsALineForEachRule) {
  const auto outcomes = outcomes_of(
      R"({"criterion": "faithfulness", "explanation": "lime", "least": 0.8},
         {"criterion": "faithfulness", "least": 0.8},
         {"criterion": "complexity", "explanation": "best", "most": 0.6, "by": "interval"},
         {"criterion": "faithfulness", "explanation": "mean", "least_coverage": 0.9})");
  EXPECT_EQ(gate_text(outcomes, small_study()),
            "passed  faithfulness:subset=2 of lime: 0.9 +- 0.01, expected at least 0.8\n"
            "failed  faithfulness:subset=2 of all 3 explanations (1 keep it): occlusion: 0.6 +- 0.02, expected at "
            "least 0.8\n"
            "failed  complexity of the best, occlusion: 0.5 +- 0.1 (0.3 to 0.7), expected at most 0.6 by the 95 % "
            "interval: its interval reaches above 0.6\n"
            "failed  faithfulness:subset=2 of mean: 0.7 +- 0.05 over 75 % of rows, expected coverage at least 0.9: "
            "coverage below 0.9\n"
            "1 of 4 rules passed\n");
  EXPECT_THAT(gate_json(outcomes, small_study()),
              HasSubstr(R"({"explanation":"occlusion","passed":false,"reason":"below 0.8","mean":0.6,"stderr":0.02,)"));
}

TEST(GateText, NamesFromFilesStayOnTheirLine) {
  StudySummary study = small_study();
  study.entries[0].name = "li\nme\x1b[31m";
  const std::string text = gate_text(outcomes_of(R"({"criterion": "faithfulness", "least": 0.95})", study), study);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(GateText, SaysThatNothingIsRecommended) {
  const auto outcomes =
      outcomes_of(R"({"criterion": "faithfulness", "explanation": "recommended:stability", "least": 0.8})");
  EXPECT_EQ(gate_text(outcomes, small_study()),
            "failed  faithfulness:subset=2 of recommended:stability: no explanation is recommended for stability, "
            "expected at least 0.8\n0 of 1 rule passed\n");
  EXPECT_THAT(gate_json(outcomes, small_study()),
              HasSubstr(R"("passed":false,"reason":"no explanation is recommended for stability",)"));
}

TEST(GateText, SaysWhatIsUndefined) {
  const auto outcomes = outcomes_of(R"({"criterion": "sparseness", "explanation": "occlusion", "least": 0})");
  EXPECT_THAT(gate_text(outcomes, small_study()), HasSubstr("failed  sparseness of occlusion: undefined, expected"));
}

}  // namespace
}  // namespace assay::testing
