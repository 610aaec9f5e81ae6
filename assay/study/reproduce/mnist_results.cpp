#include "assay/study/reproduce/mnist_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/statistics.h"
#include "assay/core/table_text.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

constexpr double kLevel = 0.05;       // significance, after Holm's correction
constexpr size_t kEnoughImages = 50;  // the paper's least number of points

// Comparison of two series over the same images.
struct PairedImages {
  double first = NAN;  // means over the images where both are defined
  double second = NAN;
  double difference = NAN;
  Interval interval = {NAN, NAN};  // 95 % interval of the mean difference
  size_t pairs = 0;
  size_t lower = 0;  // images where the first is below the second
  double p_value = NAN;
};

PairedImages paired_images(const std::vector<double>& first, const std::vector<double>& second) {
  PairedImages out;
  RunningMoments a, b, difference;
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::isnan(first[i]) || std::isnan(second[i])) continue;
    a.add(first[i]);
    b.add(second[i]);
    difference.add(first[i] - second[i]);
    out.lower += first[i] < second[i] ? 1 : 0;
  }
  const PairedTest test = paired_t_test(first, second);
  out.pairs = test.pairs;
  out.first = a.mean();
  out.second = b.mean();
  out.difference = difference.mean();
  out.p_value = test.p_value;
  if (test.pairs < 2) return out;
  const double reach = student_t_quantile(0.975, static_cast<double>(test.pairs - 1)) * difference.standard_error();
  out.interval = {out.difference - reach, out.difference + reach};
  return out;
}

std::string paired_text(const PairedImages& found) {
  return fmt::format("{} against {}: a difference of {} ({} to {}), lower on {} of {}", short_number(found.first),
                     short_number(found.second), short_number(found.difference), short_number(found.interval.low),
                     short_number(found.interval.high), with_commas(found.lower), plural(found.pairs, "image"));
}

// Whether the first is simpler. p_value is corrected for all comparisons of the table.
FindingStatus simpler_status(const PairedImages& found, double p_value) {
  const bool significant = p_value < kLevel;
  if (significant) return found.difference < 0 ? FindingStatus::replicates : FindingStatus::does_not_replicate;
  return found.pairs < kEnoughImages ? FindingStatus::cannot_be_tested : FindingStatus::does_not_replicate;
}

std::string doubt_text(const PairedImages& found, double p_value) {
  if (p_value < kLevel) return ".";
  return found.pairs < kEnoughImages ? "; too few images to tell." : "; not significant.";
}

Finding convex_finding(const MnistResults& results) {
  const std::vector<double> convex = mnist_run_means(results.aggregates[kMnistConvex].complexity, results.plan.images);
  const std::vector<double> best = mnist_run_means(results.best, results.plan.images);
  size_t equal = 0;
  size_t above = 0;
  for (size_t run = 0; run < best.size(); ++run) {
    equal += convex[run] == best[run] ? 1 : 0;
    above += convex[run] <= best[run] ? 0 : 1;
  }
  Finding out;
  out.claim = "Convex weights are no more complex than the best single explanation.";
  out.status = above == 0 ? FindingStatus::replicates : FindingStatus::does_not_replicate;
  out.evidence = fmt::format(
      "{} against {}. It is not above in {} of {}; in {} the weights are all on the best explanation itself.",
      short_number(summarise_runs(convex).mean), short_number(summarise_runs(best).mean), best.size() - above,
      plural(best.size(), "run"), equal);
  return out;
}

Finding guarantee_finding(const MnistResults& results) {
  size_t checked = 0;
  size_t broken = 0;
  for (const size_t which : {kMnistWalks, kMnistFixedWalks, kMnistShrinking, kMnistBoth, kMnistLeast}) {
    const std::vector<double>& made = results.aggregates[which].complexity;
    for (size_t i = 0; i < made.size(); ++i) {
      if (std::isnan(made[i]) || std::isnan(results.simplest[i])) continue;
      ++checked;
      broken += made[i] <= results.simplest[i] ? 0 : 1;
    }
  }
  Finding out;
  out.claim = "On every image the aggregate is no more complex than any of its members.";
  out.status = broken == 0 ? FindingStatus::replicates : FindingStatus::does_not_replicate;
  out.evidence = fmt::format("{} of {} aggregates of an image are above the simplest member.", with_commas(broken),
                             with_commas(checked));
  return out;
}

Finding best_member_finding(const MnistResults& results, const PairedImages& found, const std::string& other,
                            double p_value) {
  const auto best = std::ranges::count(results.best_names, std::string("DL"));
  const std::vector<double>& deeplift = results.members.back().complexity;
  size_t simplest = 0;
  for (size_t i = 0; i < deeplift.size(); ++i) simplest += deeplift[i] == results.simplest[i] ? 1 : 0;
  Finding out;
  out.claim = "DeepLift is the simplest of the six explanations.";
  out.status = simpler_status(found, p_value);
  out.evidence = fmt::format("It has the lowest mean in {} of {}, and is the simplest on {} of {}. Beside {}, {}{}",
                             best, plural(results.best_names.size(), "run"), with_commas(simplest),
                             plural(deeplift.size(), "image"), other, paired_text(found), doubt_text(found, p_value));
  return out;
}

// Over all members but the last, DeepLift.
const MnistSeries& simplest_but_deeplift(const MnistResults& results) {
  const auto mean = [&](const MnistSeries& series) {
    return summarise_runs(mnist_run_means(series.complexity, results.plan.images)).mean;
  };
  return *std::ranges::min_element(results.members.begin(), results.members.end() - 1, {}, mean);
}

}  // namespace

std::vector<double> mnist_run_means(const std::vector<double>& values, size_t images) {
  std::vector<double> means;
  for (size_t begin = 0; begin < values.size(); begin += images) {
    RunningMoments moments;
    for (size_t i = begin; i < begin + images; ++i) {
      if (!std::isnan(values[i])) moments.add(values[i]);
    }
    means.push_back(moments.mean());
  }
  return means;
}

std::vector<Finding> mnist_findings(const MnistResults& results) {
  std::vector<Finding> out;
  const auto made = [&](MnistAggregate which) -> const std::vector<double>& {
    return results.aggregates[which].complexity;
  };
  const MnistSeries& runner_up = simplest_but_deeplift(results);
  const std::vector<PairedImages> pairs = {
      paired_images(made(kMnistWalks), made(kMnistConvex)), paired_images(made(kMnistShrinking), made(kMnistWalks)),
      paired_images(made(kMnistWalks), results.best), paired_images(made(kMnistShrinking), results.best),
      paired_images(results.members.back().complexity, runner_up.complexity)};
  std::vector<double> p_values;
  for (const PairedImages& pair : pairs) p_values.push_back(pair.p_value);
  const std::vector<double> p = holm_adjusted(p_values);

  out.push_back(best_member_finding(results, pairs[4], runner_up.name, p[4]));
  out.push_back(convex_finding(results));
  out.push_back({"Gradient-descent style aggregates are simpler than convex ones.", simpler_status(pairs[0], p[0]),
                 paired_text(pairs[0]) + doubt_text(pairs[0], p[0])});
  const RunSummary bound = summarise_runs(mnist_run_means(results.bound, results.plan.images));
  out.push_back(
      {"Region shrinking is simpler than gradient-descent style.", simpler_status(pairs[1], p[1]),
       fmt::format("{}{} Region shrinking stays among the mixtures of the members, and none of them is below {} on "
                   "average, which is proven; the walks leave these mixtures.",
                   paired_text(pairs[1]), doubt_text(pairs[1], p[1]), short_number(bound.mean))});
  const FindingStatus lower[] = {simpler_status(pairs[2], p[2]), simpler_status(pairs[3], p[3])};
  Finding both;
  both.claim = "Both ways of aggregating lower complexity slightly below the best single explanation.";
  both.status = lower[0] == lower[1]                                               ? lower[0]
                : std::ranges::count(lower, FindingStatus::does_not_replicate) > 0 ? FindingStatus::does_not_replicate
                                                                                   : FindingStatus::cannot_be_tested;
  both.evidence = fmt::format("Gradient-descent style {}{} Region shrinking {}{}", paired_text(pairs[2]),
                              doubt_text(pairs[2], p[2]), paired_text(pairs[3]), doubt_text(pairs[3], p[3]));
  out.push_back(std::move(both));
  out.push_back(guarantee_finding(results));
  return out;
}

}  // namespace assay
