// Table 1 of the paper: what numbers mean for its findings, worked by hand. The experiment itself runs in
// tests/cli/test_reproduce.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "assay/study/reproduce/mnist_results.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs of two images; two members, the second of them DeepLift, and the six aggregates.
struct Example {
  std::vector<double> other = {};
  std::vector<double> deeplift = {};
  std::vector<double> convex = {};
  std::vector<double> walks = {};
  std::vector<double> shrinking = {};
};

MnistResults results_of(const Example& given, size_t images) {
  MnistResults out{{given.other.size() / images, images, 100, "8"}, {}, {}};
  out.members.push_back({"Grad", {"gradient"}, NAN, given.other});
  out.members.push_back({"DL", {"deeplift"}, NAN, given.deeplift});
  for (const auto* values :
       {&given.convex, &given.walks, &given.walks, &given.shrinking, &given.walks, &given.shrinking}) {
    out.aggregates.push_back({"aggregate", {"mean"}, NAN, *values});
  }
  for (size_t i = 0; i < given.other.size(); ++i) {
    out.simplest.push_back(std::fmin(given.other[i], given.deeplift[i]));
    out.bound.push_back(given.shrinking[i]);
  }
  out.best = given.deeplift;
  out.best_names.assign(given.other.size() / images, "DL");
  return out;
}

// The same differences, up to a small pattern, on 60 images.
Example sixty(double walks, double shrinking) {
  Example out;
  for (int i = 0; i < 60; ++i) {
    const double wobble = 0.01 * (i % 3 - 1);
    out.other.push_back(6);
    out.deeplift.push_back(4 + wobble);
    out.convex.push_back(4 + wobble);
    out.walks.push_back(walks + 2 * wobble);
    out.shrinking.push_back(shrinking - wobble);
  }
  return out;
}

TEST(ReproduceMnist, MeansOfRunsAreOverWhatIsDefined) {
  const std::vector<double> means = mnist_run_means({1, 3, 5, NAN, NAN, NAN}, 2);
  ASSERT_EQ(means.size(), 3u);
  EXPECT_EQ(means[0], 2);
  EXPECT_EQ(means[1], 5);
  EXPECT_TRUE(std::isnan(means[2]));
}

TEST(ReproduceMnist, FindingsOfFourImagesByHand) {
  // DeepLift less Grad: -1, -3, -1, -3: mean -2, deviation sqrt(4 / 3), standard error 1 / sqrt(3) = 0.5774; t(3) at
  // 0.975 is 3.182, so the interval is -2 -+ 1.837.
  const Example given{.other = {5, 7, 5, 7},
                      .deeplift = {4, 4, 4, 4},
                      .convex = {4, 4, 3.5, 4},
                      .walks = {3, 4, 3, 3.5},
                      .shrinking = {3.5, 3.5, 4, 4}};
  const std::vector<Finding> found = mnist_findings(results_of(given, 2));
  ASSERT_EQ(found.size(), 6u);
  // Four images are too few: t = -3.46, p = 0.04, and 0.2 after the correction for five comparisons.
  EXPECT_EQ(found[0].status, FindingStatus::cannot_be_tested);
  EXPECT_EQ(found[0].evidence,
            "It has the lowest mean in 2 of 2 runs, and is the simplest on 4 of 4 images. Beside Grad, 4 against 6: a "
            "difference of -2 (-3.837 to -0.1626), lower on 4 of 4 images; too few images to tell.");
  // Runs of convex weights: 4 = 4, and 3.75 below 4.
  EXPECT_EQ(found[1].status, FindingStatus::replicates);
  EXPECT_EQ(
      found[1].evidence,
      "3.875 against 4. It is not above in 2 of 2 runs; in 1 the weights are all on the best explanation itself.");
  // Walks less convex: -1, 0, -0.5, -0.5.
  EXPECT_THAT(found[2].evidence, StartsWith("3.375 against 3.875: a difference of -0.5 ("));
  EXPECT_THAT(found[2].evidence, HasSubstr("lower on 3 of 4 images"));
  // Of 5 x 4 aggregates none is above 4, the simplest member.
  EXPECT_EQ(found[5].status, FindingStatus::replicates);
  EXPECT_EQ(found[5].evidence, "0 of 20 aggregates of an image are above the simplest member.");
}

TEST(ReproduceMnist, ThePapersOrderReplicates) {
  std::vector<FindingStatus> statuses;
  for (const Finding& finding : mnist_findings(results_of(sixty(3.8, 3.6), 6))) statuses.push_back(finding.status);
  EXPECT_EQ(statuses, std::vector<FindingStatus>(6, FindingStatus::replicates));
}

TEST(ReproduceMnist, AnotherOrderDoesNot) {
  const std::vector<Finding> found = mnist_findings(results_of(sixty(3.6, 3.8), 6));
  EXPECT_EQ(found[2].status, FindingStatus::replicates);
  EXPECT_EQ(found[3].status, FindingStatus::does_not_replicate);
  EXPECT_THAT(found[3].evidence, HasSubstr("lower on 0 of 60 images. "));
  EXPECT_THAT(found[3].evidence, HasSubstr("none of them is below 3.8 on average"));
  EXPECT_EQ(found[4].status, FindingStatus::replicates);
}

TEST(ReproduceMnist, NoDifferenceIsNoReplicationAndABrokenGuaranteeShows) {
  Example given = sixty(4, 4);
  given.walks = given.convex;
  const std::vector<Finding> found = mnist_findings(results_of(given, 6));
  EXPECT_EQ(found[2].status, FindingStatus::does_not_replicate);
  EXPECT_THAT(found[2].evidence, HasSubstr("; not significant."));
  EXPECT_EQ(found[4].status, FindingStatus::does_not_replicate);
  // Shrinking, with its wobble the other way, is above the simplest member (4 - 0.01) on a third of the images, in two
  // of the aggregates; the walks are never.
  EXPECT_EQ(found[5].status, FindingStatus::does_not_replicate);
  EXPECT_EQ(found[5].evidence, "40 of 300 aggregates of an image are above the simplest member.");
  given.convex[0] += 1;
  EXPECT_EQ(mnist_findings(results_of(given, 6))[1].status, FindingStatus::does_not_replicate);
}

TEST(ReproduceMnist, WithoutTheImagesItSaysSo) {
  const char* old = std::getenv("ASSAY_DATA");
  const std::string kept = old == nullptr ? "" : old;
  ::setenv("ASSAY_DATA", "", 1);
  ::setenv("XDG_CACHE_HOME", "/nonexistent/cache", 1);
  ReproduceOptions options;
  options.data_dirs = {"/nonexistent/data"};
  const Reproduction found = reproduce_mnist(options, {});
  EXPECT_EQ(found.name, "mnist");
  EXPECT_TRUE(found.replications.empty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("mnist was not found")));
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].status, FindingStatus::cannot_be_tested);
  if (old != nullptr) ::setenv("ASSAY_DATA", kept.c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace assay
