// A study knows nothing by its name: copies of a method, a criterion and an aggregator under other names are studied as
// their originals are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "assay/aggregate/aggregators.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/study/assess.h"
#include "assay/study/run.h"
#include "assay/study/verdict.h"
#include "tests/explain/toys.h"
#include "tests/study/memory_store.h"
#include "tests/study/studied.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

template <class Info>
Info renamed(Info info, const std::string& name) {
  info.name = name;
  return info;
}

// Once for all tests of the program: the tables have no way back.
void add_copies() {
  static const bool done = [] {
    add_method(renamed(find_method("integrated_gradients"), "my_method"));
    add_criterion(renamed(find_criterion("avg_sensitivity"), "my_sensitivity"));
    add_criterion(renamed(find_criterion("faithfulness"), "my_truth"));
    add_aggregator(renamed(find_aggregator("pareto"), "my_front"));
    return true;
  }();
  static_cast<void>(done);
}

TEST(OwnNames, CopiesAreStudiedAsTheirOriginalsAre) {
  add_copies();
  const Studied studied(linear_toy());
  const Subject subject = studied.subject();
  StudyOptions options;
  options.methods = {{"my_method"}, {"integrated_gradients"}, {"gradient_x_input"}, {"kernel_shap"}};
  options.criteria = {{"my_truth", {{"subset", "1"}}}, {"my_sensitivity"}, {"complexity"}};
  options.aggregators = {{"my_front"}, {"mean"}};
  options.paper_members = true;
  const StudyPlan plan = plan_study(subject, options, {});
  // The traits came along: one of the paper's methods, an aggregator that the study gives an option.
  EXPECT_THAT(plan.members, Contains(0U));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("my_front has others=false")));
  MemoryStore store;
  StudyTimes times;
  const Study study = run_study(subject, plan, {}, store, times, {});
  const StudyEntry& mine = study.entries[0];
  const StudyEntry& original = study.entries[1];
  EXPECT_TRUE(std::ranges::equal(mine.explanations.values.values(), original.explanations.values.values()));
  ASSERT_EQ(mine.scores.size(), 3U);
  for (size_t c = 0; c < 3; c++) EXPECT_EQ(mine.scores[c].mean, original.scores[c].mean) << c;
  // Curves over radii and subset sizes, variations of what is for faithfulness, and sentences.
  std::vector<std::string> curves;
  for (const Curve& curve : mine.curves) curves.push_back(curve.criterion);
  EXPECT_THAT(curves, Contains("my_sensitivity"));
  EXPECT_THAT(curves, Contains("my_truth"));
  ASSERT_FALSE(mine.variations.empty());
  EXPECT_THAT(mine.variations[0].criteria, Contains("my_truth"));
  const Assessment assessment = assess(study);
  const std::vector<std::string> sentences = verdict_sentences(study, assessment);
  EXPECT_THAT(sentences, Contains(HasSubstr("Use ")));
  EXPECT_THAT(sentences, Contains(HasSubstr("When stability matters most")));
}

}  // namespace
}  // namespace assay::testing
