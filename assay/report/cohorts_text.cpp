#include "assay/report/cohorts_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/report/json_text.h"
#include "assay/report/wrapped.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

constexpr size_t kDriversInTable = 2;  // a line has no room for more

bool differs(const Cohort& cohort, CohortMeasure measure) {
  return std::ranges::any_of(cohort.differences,
                             [&](const CohortDifference& each) { return each.measure == measure && each.different; });
}

std::string two_digits(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

std::string in_interval(double value, const Interval& interval, const auto& text) {
  if (std::isnan(value)) return "-";
  if (std::isnan(interval.low)) return text(value);
  return fmt::format("{} ({} to {})", text(value), text(interval.low), text(interval.high));
}

std::string driver_words(const Study& study, const Cohort& cohort) {
  std::vector<std::string> parts;
  for (const CohortDriver& driver : cohort.drivers) {
    if (parts.size() == kDriversInTable) break;
    parts.push_back(fmt::format("{} {}", short_name(study.facts.features[driver.player]), whole_percent(driver.share)));
  }
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

// Whether any group of any column has such a value: a table has no empty columns.
bool any_cohort(const StudyCohorts& cohorts, const auto& has) {
  return std::ranges::any_of(cohorts.columns,
                             [&](const CohortColumn& column) { return std::ranges::any_of(column.cohorts, has); });
}

std::string column_table(const Study& study, const CohortColumn& column) {
  const StudyCohorts& all = study.cohorts;
  const bool classes = any_cohort(all, [](const Cohort& each) { return !std::isnan(each.quality.accuracy); });
  const bool areas = any_cohort(all, [](const Cohort& each) { return !std::isnan(each.quality.auc); });
  const bool numbers = any_cohort(all, [](const Cohort& each) { return !std::isnan(each.quality.rmse); });
  const bool explained = any_cohort(all, [](const Cohort& each) { return each.faithfulness.rows > 0; });
  const bool stable = any_cohort(all, [](const Cohort& each) { return each.stability.rows > 0; });
  const auto stability = first_criterion_for(study, CriterionRole::stability);
  std::vector<std::vector<std::string>> lines = {{short_name(column.name), "rows"}};
  std::vector<std::string>& head = lines[0];
  if (classes) head.emplace_back("accuracy (95 %)");
  if (areas) head.emplace_back("AUC");
  if (numbers) head.emplace_back("RMSE (95 %)");
  if (explained) head.emplace_back("faithfulness");
  if (stable) head.push_back(stability ? criterion_label(study, *stability) : "stability");
  head.emplace_back("main drivers");
  for (const Cohort& cohort : column.cohorts) {
    const auto mark = [&](CohortMeasure measure) { return differs(cohort, measure) ? "*" : " "; };
    const ModelQuality& quality = cohort.quality;
    lines.push_back({short_name(cohort.name), with_commas(cohort.rows)});
    std::vector<std::string>& line = lines.back();
    if (classes) {
      line.push_back(fmt::format("{}{}", in_interval(quality.accuracy, quality.accuracy_interval, two_digits),
                                 mark(CohortMeasure::accuracy)));
    }
    if (areas) line.push_back(two_digits(quality.auc));
    if (numbers) {
      line.push_back(fmt::format("{}{}", in_interval(quality.rmse, quality.rmse_interval, short_number),
                                 mark(CohortMeasure::squared_error)));
    }
    const auto score = [&](const CohortScore& own, CohortMeasure measure) {
      line.push_back(fmt::format("{}{}", mean_with_error(own.mean, own.error, 1), mark(measure)));
    };
    if (explained) score(cohort.faithfulness, CohortMeasure::faithfulness);
    if (stable) score(cohort.stability, CohortMeasure::stability);
    line.push_back(fmt::format("{}{}", driver_words(study, cohort), mark(CohortMeasure::driver)));
  }
  for (auto& line : lines) {
    if (line.back().ends_with(' ')) line.back().pop_back();
  }
  return aligned(lines, {0, lines[0].size() - 1});
}

std::string chance_words(double p) { return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.2g}", p); }

std::vector<std::string> difference_sentences(const Study& study) {
  std::vector<std::string> sentences;
  for (const CohortColumn& column : study.cohorts.columns) {
    for (const Cohort& cohort : column.cohorts) {
      std::vector<std::string> parts;
      for (const CohortDifference& each : cohort.differences) {
        if (!each.different) continue;
        parts.push_back(fmt::format("{} ({})", difference_in_words(study, each), chance_words(each.corrected)));
      }
      if (parts.empty()) continue;
      sentences.push_back(
          fmt::format("{}, {}: {}", short_name(column.name), short_name(cohort.name), fmt::join(parts, ", ")));
    }
  }
  return sentences;
}

std::string group_name(const CohortColumn& column, size_t which, bool cells) {
  if (cells || column.cut == CohortCut::prediction) return cut_text(column.cohorts[which].name, kLongestName);
  return fmt::format("group {} of {}", which + 1, column.cohorts.size());
}

std::string json_of_score(const CohortScore& score) { return json_numbers(std::vector{score.mean, score.error}); }

std::string json_of_cohort(const CohortColumn& column, size_t which, bool cells) {
  const Cohort& cohort = column.cohorts[which];
  const ModelQuality& quality = cohort.quality;
  const auto interval = [](const Interval& own) { return json_numbers(std::vector{own.low, own.high}); };
  std::vector<std::string> drivers;
  for (const CohortDriver& driver : cohort.drivers) {
    drivers.push_back(json_object({{"feature", std::to_string(driver.player)}, {"share", json_number(driver.share)}}));
  }
  std::vector<std::string> differences;
  for (const CohortDifference& each : cohort.differences) {
    if (!each.different) continue;
    differences.push_back(json_object({{"measure", json_text(cohort_measure_name(each.measure))},
                                       {"feature", each.player ? std::to_string(*each.player) : "null"},
                                       {"difference", json_number(each.difference)},
                                       {"p", json_number(each.corrected)}}));
  }
  return json_object({{"name", json_text(group_name(column, which, cells))},
                      {"rows", std::to_string(cohort.rows)},
                      {"accuracy", json_number(quality.accuracy)},
                      {"accuracy_interval", interval(quality.accuracy_interval)},
                      {"auc", json_number(quality.auc)},
                      {"auc_interval", interval(quality.auc_interval)},
                      {"rmse", json_number(quality.rmse)},
                      {"rmse_interval", interval(quality.rmse_interval)},
                      {"output", json_number(cohort.mean_output)},
                      {"probability", json_number(cohort.mean_probability)},
                      {"drivers", json_list(drivers)},
                      {"faithfulness", json_of_score(cohort.faithfulness)},
                      {"stability", json_of_score(cohort.stability)},
                      {"not_tested", cohort.not_tested.empty() ? "null" : json_text(cohort.not_tested)},
                      {"differences", json_list(differences)}});
}

}  // namespace

std::string difference_in_words(const Study& study, const CohortDifference& difference) {
  const std::string_view way = difference.difference < 0 ? "lower" : "higher";
  const std::string size = short_number(std::fabs(difference.difference));
  if (difference.player) {
    return fmt::format("the share of {} is {} {}", short_name(study.facts.features[*difference.player]),
                       two_digits(std::fabs(difference.difference)), way);
  }
  switch (difference.measure) {
    case CohortMeasure::accuracy: return fmt::format("accuracy is {} {}", size, way);
    case CohortMeasure::squared_error: return fmt::format("the mean squared error is {} {}", size, way);
    case CohortMeasure::stability: {
      const auto criterion = first_criterion_for(study, CriterionRole::stability);
      return fmt::format("{} is {} {}", criterion ? criterion_label(study, *criterion) : "stability", size, way);
    }
    default: break;
  }
  return fmt::format("faithfulness is {} {}", size, way);
}

std::string cohorts_text(const Study& study, const Advice& advice) {
  const StudyCohorts& cohorts = study.cohorts;
  if (cohorts.columns.empty()) return {};
  std::string out = "Groups of rows";
  if (advice.overall) out += fmt::format(", explained by {}", short_name(study.entries[advice.overall->entry].name));
  out += "\n";
  for (const CohortColumn& column : cohorts.columns) out += fmt::format("{}\n", column_table(study, column));
  const std::vector<std::string> sentences = difference_sentences(study);
  const std::string tests = fmt::format(
      "{}; each group against all other rows, {} corrected together; groups of fewer than {} rows are not tested",
      cohorts.tests == 0  ? "nothing could be tested"
      : sentences.empty() ? "no difference is significant"
                          : "* differs significantly from the other rows",
      plural(cohorts.tests, "test"), kLeastCohortRows);
  out += wrapped(tests, "", "");
  for (const std::string& sentence : sentences) out += wrapped(sentence, "- ", "  ");
  return out;
}

std::string shown_cohorts_json(const Study& study, const Advice& advice, bool cells) {
  if (study.cohorts.columns.empty()) return "null";
  std::vector<std::string> columns;
  for (const CohortColumn& column : study.cohorts.columns) {
    std::vector<std::string> groups;
    for (size_t c = 0; c < column.cohorts.size(); c++) groups.push_back(json_of_cohort(column, c, cells));
    columns.push_back(json_object({{"name", json_text(cut_text(column.name, kLongestName))},
                                   {"cut", json_text(cohort_cut_name(column.cut))},
                                   {"groups", json_list(groups)}}));
  }
  const auto criterion = [&](CriterionRole role) {
    const auto found = first_criterion_for(study, role);
    return found ? std::to_string(*found) : std::string("null");
  };
  return json_object({{"explanation", advice.overall ? std::to_string(advice.overall->entry) : "null"},
                      {"faithfulness", criterion(CriterionRole::faithfulness)},
                      {"stability", criterion(CriterionRole::stability)},
                      {"unit", json_text(study.facts.unit)},
                      {"target", json_text(cut_text(study.facts.target, kLongestName))},
                      {"tests", std::to_string(study.cohorts.tests)},
                      {"least_rows", std::to_string(kLeastCohortRows)},
                      {"columns", json_list(columns)}});
}

}  // namespace assay
