#include "assay/evaluate/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "assay/core/text.h"
#include "assay/explain/rounding.h"

namespace assay {
namespace {

using Names = std::array<std::string_view, 6>;
using Options = std::vector<std::pair<std::string, std::string>>;

constexpr Names kStepwise = {"effective_complexity", "monotonicity", "posthoc_accuracy", "randomisation"};
constexpr Names kQuotients = {"relative_input_stability", "relative_output_stability"};
constexpr Names kRetrained = {"roar", "kar"};
// Distances between explanations.
constexpr Names kOfAttributions = {"avg_sensitivity",     "identity",    "input_invariance", "max_sensitivity",
                                   "max_sensitivity_yeh", "separability"};
// Of outputs as they are: log-odds, unless sums over them are asked for in probabilities; of a regression its values.
constexpr Names kOfOutputs = {"addition", "deletion", "necessity", "sufficiency"};
// Of probabilities; of a regression its values.
constexpr Names kOfProbabilities = {"deletion_auc", "insertion_auc", "prediction_gap_important",
                                    "prediction_gap_unimportant"};
// Columns of tables that count or name what the others are of.
constexpr Names kCounts = {"rows", "size", "share added", "share removed"};
// Means of trained networks: how many standard errors of the one made again they may be apart, and what share of rows
// beside. The recorded error is as open to doubt as the recorded mean.
constexpr double kRetrainedErrors = 8;
constexpr double kRetrainedShare = 0.05;
// One value in so many may jump.
constexpr size_t kValuesPerJump = 20;
// How often a row is drawn into one resample of the bootstrap: more than this has a chance of one in a million.
constexpr double kMostDraws = 8;
// Sums in float64 of numbers that both have alike.
constexpr double kSummed = 1e-7;
// A mean and its error, of the values that are recorded beside them.
constexpr double kFollows = 1e-6;

bool is_one_of(const Names& names, std::string_view name) {
  return !name.empty() && std::ranges::find(names, name) != names.end();
}

std::string_view option_of(const Options& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Options::value_type::first);
  return found == options.end() ? std::string_view() : std::string_view(found->second);
}

// Counts, angles, orders and lengths of vectors that were scaled to 1.
bool is_relative_distance(const Options& options) {
  const std::string_view distance = option_of(options, "distance");
  return distance == "l0" || distance == "cosine" || distance == "kendall" ||
         option_of(options, "normalise") == "unit" || option_of(options, "over") == "explanation";
}

double size_of(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

struct Tolerance {
  double relative = kScoreRounding;
  double floor = 0;
  bool jumped = false;
  bool other_coverage = false;  // some value jumped from or to undefined
  double jumps = 0;             // sum of what all jumps can do to sums of values, over the number of values

  double of(double a, double b) const { return relative * std::max(size_of(a), size_of(b)) + floor; }
  double of_summary(double largest, double times) const { return relative * largest + floor + times * jumps; }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double each : values) largest = std::max(largest, size_of(each));
  return largest;
}

double range_of(const std::vector<double>& values) {
  double low = 0;
  double high = 0;
  bool any = false;
  for (const double each : values) {
    if (!std::isfinite(each)) continue;
    low = any ? std::min(low, each) : each;
    high = any ? std::max(high, each) : each;
    any = true;
  }
  return high - low;
}

// The jumps of a stepwise criterion are counted, those beyond the allowed number are differences.
void compare_values(const Scores& recorded, const Scores& found, bool may_jump, Tolerance& tolerance,
                    RoundingCheck& check) {
  const size_t count = recorded.values.size();
  const size_t most = may_jump ? std::max<size_t>(1, count / kValuesPerJump) : 0;
  size_t jumps = 0;
  double sum = 0;
  for (size_t r = 0; r < count; r++) {
    const double a = recorded.values[r];
    const double b = found.values[r];
    if (jumps < most && !RoundingCheck::agree(a, b, tolerance.of(a, b))) {
      jumps++;
      // A value that is left out of a mean moves it by its distance from the mean of the others.
      const bool other = std::isnan(a) != std::isnan(b);
      sum += other ? 2 * std::max(range_of(recorded.values), range_of(found.values)) : size_of(a - b);
      tolerance.other_coverage = tolerance.other_coverage || other;
      continue;
    }
    const std::string what = fmt::format("{} of {} {}", recorded.criterion, recorded.of_rows ? "row" : "run", r + 1);
    if (!check.numbers(what, a, b, tolerance.of(a, b))) return;
  }
  if (jumps == 0) return;
  tolerance.jumped = true;
  tolerance.jumps = sum / static_cast<double>(count);
}

void compare_tables(const Scores& recorded, const Scores& found, const Tolerance& tolerance, RoundingCheck& check) {
  if (recorded.tables.size() != found.tables.size()) {
    check.fail(fmt::format("{} has other tables", recorded.criterion));
    return;
  }
  for (size_t t = 0; t < recorded.tables.size(); t++) {
    const ScoreTable& a = recorded.tables[t];
    const ScoreTable& b = found.tables[t];
    const std::string what = fmt::format("the table {} of {}", in_quotes(a.name), recorded.criterion);
    if (a.name != b.name || a.columns != b.columns || a.labels != b.labels || a.rows.size() != b.rows.size()) {
      check.fail(fmt::format("{} has another shape or other names", what));
      return;
    }
    for (size_t r = 0; r < a.rows.size(); r++) {
      if (a.rows[r].size() != b.rows[r].size()) check.fail(fmt::format("{} has another shape", what));
      for (size_t c = 0; check.passed() && c < a.rows[r].size(); c++) {
        const bool count = c < a.columns.size() && is_one_of(kCounts, a.columns[c]);
        if (count && tolerance.other_coverage) continue;
        const double near = count ? 0 : tolerance.of(a.rows[r][c], b.rows[r][c]) + kMostDraws * tolerance.jumps;
        check.numbers(fmt::format("{}, row {}", what, r + 1), a.rows[r][c], b.rows[r][c], near);
      }
    }
  }
}

// What is recorded of all values together against the recorded values.
void check_that_summary_follows(const Scores& recorded, RoundingCheck& check) {
  Scores again = recorded;
  summarise(again, {.draws = 0}, {});
  const double near = kFollows * largest_of(recorded.values);
  const auto compare = [&](const char* what, double a, double b, double tolerance) {
    if (!RoundingCheck::agree(a, b, tolerance)) {
      check.fail(
          fmt::format("{} of {}: recorded {}, but that of the recorded values is {}", what, recorded.criterion, a, b));
    }
  };
  compare("the mean", recorded.mean, again.mean, near);
  compare("the coverage", recorded.coverage, again.coverage, 0);
  // Others set it themselves.
  if (!recorded.dependent) compare("the standard error of the mean", recorded.mean_error, again.mean_error, near);
}

void compare_summary(const Scores& recorded, const Scores& found, const Tolerance& tolerance, RoundingCheck& check) {
  const double largest = largest_of(recorded.values);
  // Draws of the bootstrap are others where other rows are drawn from.
  const double redrawn = tolerance.other_coverage ? size_of(found.mean_error) : 0;
  const auto compare = [&](const char* what, double a, double b, double allowed) {
    check.numbers(fmt::format("{} of {}", what, recorded.criterion), a, b,
                  tolerance.of_summary(largest, kMostDraws) + allowed);
  };
  // With a jump they are what follows from the recorded values, and no more is known of them.
  if (!tolerance.jumped) compare("the mean", recorded.mean, found.mean, 0);
  if (!tolerance.jumped || recorded.dependent) {
    compare("the standard error of the mean", recorded.mean_error, found.mean_error, 0);
  }
  compare("the shared standard error", recorded.shared_error, found.shared_error, 0);
  compare("the interval's low end", recorded.interval.low, found.interval.low, redrawn);
  compare("the interval's high end", recorded.interval.high, found.interval.high, redrawn);
}

void compare_undefined(const Scores& recorded, const Scores& found, RoundingCheck& check) {
  const auto words = [](const Scores& scores) {
    std::vector<std::string> all;
    for (const Undefined& each : scores.undefined) all.push_back(fmt::format("{} ({})", each.reason, each.rows));
    std::ranges::sort(all);
    return joined(all);
  };
  check.words(fmt::format("what {} is undefined for", recorded.criterion), words(recorded), words(found));
  check.numbers(fmt::format("the coverage of {}", recorded.criterion), recorded.coverage, found.coverage, 0);
}

}  // namespace

ScoreKind score_kind(std::string_view criterion) {
  if (is_one_of(kStepwise, criterion)) return ScoreKind::stepwise;
  if (is_one_of(kQuotients, criterion)) return ScoreKind::quotient;
  if (is_one_of(kRetrained, criterion)) return ScoreKind::retrained;
  return ScoreKind::smooth;
}

ScoreScales score_scales(const Explanations& scored) {
  ScoreScales made;
  for (const double each : attribution_scales(scored)) made.attributions = std::max(made.attributions, each);
  made.outputs = std::max(largest_of(scored.output), largest_of(scored.base));
  made.regression = scored.provenance.unit == "value";
  return made;
}

double score_floor(std::string_view criterion, const Options& options, double largest, const ScoreScales& scales) {
  if (is_one_of(kOfAttributions, criterion) && !is_relative_distance(options)) {
    return kAttributionRounding * std::max(scales.attributions, largest);
  }
  if (criterion == "compatibility") return kSummed * (scales.attributions + scales.outputs);
  if (criterion == "infidelity") {
    // A square: of what it is the square of, one is the typical size and the other the rounding.
    const double root = std::sqrt(largest);
    const double off = kAttributionRounding * std::max({scales.attributions, scales.outputs, root});
    return off * (root + off);
  }
  const double of_outputs = kOutputRounding * std::max(scales.outputs, largest);
  const bool probabilities = is_one_of(kOfProbabilities, criterion) || option_of(options, "score") == "probability";
  const bool outputs = is_one_of(kOfOutputs, criterion) || is_one_of(kOfProbabilities, criterion);
  if (outputs && scales.regression) return of_outputs;
  if (outputs && !probabilities) return kScoreRounding + of_outputs;
  return score_kind(criterion) == ScoreKind::quotient ? 0 : kScoreRounding;
}

void compare_scores(const Scores& recorded, const Scores& found, const ScoreScales& scales, RoundingCheck& check) {
  check.words("the criterion", recorded.criterion, found.criterion);
  if (!check.passed()) return;
  const std::string& name = recorded.criterion;
  if (recorded.options != found.options) check.fail(fmt::format("the options of {} differ", name));
  if (recorded.direction != found.direction || recorded.of_rows != found.of_rows ||
      recorded.dependent != found.dependent) {
    check.fail(fmt::format("{} has another direction, or scores something else", name));
  }
  if (recorded.values.size() != found.values.size() || recorded.standard_error.size() != found.standard_error.size()) {
    check.fail(fmt::format("{} has other numbers of values", name));
  }
  check.numbers(fmt::format("the evaluations of {}", name), static_cast<double>(recorded.evaluations),
                static_cast<double>(found.evaluations), 0);
  if (!check.passed()) return;
  const ScoreKind kind = score_kind(name);
  if (kind == ScoreKind::retrained) {
    check_that_summary_follows(recorded, check);
    check.numbers(fmt::format("the mean of {}", name), recorded.mean, found.mean,
                  kRetrainedErrors * size_of(found.mean_error) + kRetrainedShare);
    compare_undefined(recorded, found, check);
    return;
  }
  Tolerance tolerance{.floor = score_floor(name, recorded.options, largest_of(recorded.values), scales)};
  if (kind == ScoreKind::quotient) tolerance.relative = kQuotientRounding;
  compare_values(recorded, found, kind != ScoreKind::smooth, tolerance, check);
  for (size_t r = 0; r < recorded.standard_error.size() && check.passed(); r++) {
    const double a = recorded.standard_error[r];
    const double b = found.standard_error[r];
    check.numbers(fmt::format("the standard error of {} of row {}", name, r + 1), a, b,
                  tolerance.of(std::max(a, recorded.values[r]), b) + kMostDraws * tolerance.jumps);
  }
  check_that_summary_follows(recorded, check);
  compare_summary(recorded, found, tolerance, check);
  compare_tables(recorded, found, tolerance, check);
  if (tolerance.jumped) return;  // with them coverage and what notes count change
  compare_undefined(recorded, found, check);
  check.sentences(fmt::format("the notes of {}", name), recorded.notes, found.notes);
}

}  // namespace assay
