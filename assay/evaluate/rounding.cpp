#include "assay/evaluate/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 4> kStepwise = {"effective_complexity", "monotonicity", "posthoc_accuracy",
                                                       "randomisation"};
constexpr std::array<std::string_view, 2> kQuotients = {"relative_input_stability", "relative_output_stability"};
constexpr std::array<std::string_view, 2> kRetrained = {"roar", "kar"};
// Means of trained networks: how many standard errors of both they may be apart, and what share of rows beside.
constexpr double kRetrainedErrors = 4;
constexpr double kRetrainedShare = 0.05;
// One value in so many may jump.
constexpr size_t kValuesPerJump = 20;
// How often a row is drawn into one resample of the bootstrap: more than this has a chance of one in a million.
constexpr double kMostDraws = 8;

// Correlations, shares and entropies: numbers of size 1, whatever the unit of the model.
bool has_no_unit(std::string_view range) {
  return range.starts_with("-1 to 1") || range.starts_with("0 to") || range.starts_with("1 ");
}

double size_of(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

struct Tolerance {
  double relative = kScoreRounding;
  double floor = 0;
  bool jumped = false;
  double jumps = 0;  // sum of the sizes of all jumps, over the number of values

  double of(double a, double b) const { return relative * std::max(size_of(a), size_of(b)) + floor; }
  double of_summary(double largest, double times) const { return relative * largest + floor + times * jumps; }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double each : values) largest = std::max(largest, size_of(each));
  return largest;
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
      sum += std::isfinite(a - b) ? std::fabs(a - b) : std::max(size_of(a), size_of(b));
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
        const double near = tolerance.of(a.rows[r][c], b.rows[r][c]) + kMostDraws * tolerance.jumps;
        check.numbers(fmt::format("{}, row {}", what, r + 1), a.rows[r][c], b.rows[r][c], near);
      }
    }
  }
}

void compare_summary(const Scores& recorded, const Scores& found, const Tolerance& tolerance, RoundingCheck& check) {
  const double largest = largest_of(recorded.values);
  const auto compare = [&](const char* what, double a, double b, double times) {
    check.numbers(fmt::format("{} of {}", what, recorded.criterion), a, b, tolerance.of_summary(largest, times));
  };
  compare("the mean", recorded.mean, found.mean, 1);
  compare("the standard error of the mean", recorded.mean_error, found.mean_error, 2);
  compare("the interval's low end", recorded.interval.low, found.interval.low, kMostDraws);
  compare("the interval's high end", recorded.interval.high, found.interval.high, kMostDraws);
  compare("the shared standard error", recorded.shared_error, found.shared_error, 2);
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
  if (std::ranges::find(kStepwise, criterion) != kStepwise.end()) return ScoreKind::stepwise;
  if (std::ranges::find(kQuotients, criterion) != kQuotients.end()) return ScoreKind::quotient;
  if (std::ranges::find(kRetrained, criterion) != kRetrained.end()) return ScoreKind::retrained;
  return ScoreKind::smooth;
}

void compare_scores(const Scores& recorded, const Scores& found, double scale, RoundingCheck& check) {
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
  if (!check.passed()) return;
  const ScoreKind kind = score_kind(name);
  if (kind == ScoreKind::retrained) {
    check.numbers(fmt::format("the mean of {}", name), recorded.mean, found.mean,
                  kRetrainedErrors * (size_of(recorded.mean_error) + size_of(found.mean_error)) + kRetrainedShare);
    return;
  }
  const bool no_unit = has_no_unit(find_criterion(name).range);
  Tolerance tolerance{.floor = no_unit ? kScoreRounding
                                       : kAttributionRounding * std::max(scale, largest_of(recorded.values))};
  if (kind == ScoreKind::quotient) tolerance.relative = kQuotientRounding;
  compare_values(recorded, found, kind != ScoreKind::smooth, tolerance, check);
  for (size_t r = 0; r < recorded.standard_error.size() && check.passed(); r++) {
    const double a = recorded.standard_error[r];
    const double b = found.standard_error[r];
    check.numbers(fmt::format("the standard error of {} of row {}", name, r + 1), a, b,
                  tolerance.of(std::max(a, recorded.values[r]), b) + kMostDraws * tolerance.jumps);
  }
  compare_summary(recorded, found, tolerance, check);
  compare_tables(recorded, found, tolerance, check);
  if (tolerance.jumped) return;  // with them coverage and what notes count change
  compare_undefined(recorded, found, check);
  check.sentences(fmt::format("the notes of {}", name), recorded.notes, found.notes);
  check.numbers(fmt::format("the evaluations of {}", name), static_cast<double>(recorded.evaluations),
                static_cast<double>(found.evaluations), 0);
}

}  // namespace assay
