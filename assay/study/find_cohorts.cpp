#include "assay/study/find_cohorts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/row_cells.h"
#include "assay/study/cohort_parts.h"
#include "assay/study/cohort_tests.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

// Groups with so many rows on both sides are not compared with random ones.
constexpr size_t kNearlyNormal = 1000;

constexpr size_t kDriverColumns = 2;  // that rows are grouped by, if the user names no column

using RowNumbers = std::vector<size_t>;

std::vector<RowNumbers> rows_of_parts(const ColumnParts& parts) {
  std::vector<RowNumbers> rows(parts.names.size());
  for (size_t row = 0; row < parts.of_row.size(); row++) rows[parts.of_row[row]].push_back(row);
  return rows;
}

RowNumbers other_rows(size_t count, const RowNumbers& rows) {
  RowNumbers others;
  size_t at = 0;
  for (size_t row = 0; row < count; row++) {
    if (at < rows.size() && rows[at] == row) {
      at++;
    } else {
      others.push_back(row);
    }
  }
  return others;
}

// The labels as a column: names of classes, or numbers.
RowColumn label_column(const Dataset& data) {
  RowColumn made{.name = data.label_name.empty() ? std::string(kLabelCohorts) : data.label_name};
  made.values.assign(data.labels.begin(), data.labels.end());
  if (data.class_names.empty()) return made;
  made.kind = ColumnKind::categorical;
  made.levels = data.class_names;
  for (double& label : made.values) {
    if (!(label >= 0) || label >= static_cast<double>(made.levels.size())) label = NAN;
  }
  return made;
}

class CohortFinder {
 public:
  CohortFinder(const Study& study, const Advice& advice, const Subject& subject, const Context& context)
      : study_(study),
        advice_(advice),
        subject_(subject),
        context_(context),
        entry_(advice.overall ? &study.entries[advice.overall->entry] : nullptr),
        predicted_(subject, context),
        all_(study.rows()) {
    std::iota(all_.begin(), all_.end(), size_t{0});
    for (const CriterionRole role : {CriterionRole::faithfulness, CriterionRole::stability}) {
      const std::optional<size_t> criterion = first_criterion_for(study, role);
      const bool usable = entry_ != nullptr && criterion && entry_->scores[*criterion].of_rows &&
                          entry_->scores[*criterion].values.size() == study.rows();
      scores_.push_back(usable ? &entry_->scores[*criterion] : nullptr);
    }
    if (entry_ != nullptr) sum_attributions(entry_->explanations.values);
  }

  StudyCohorts find(const CohortWish& wish) {
    StudyCohorts made{.named = wish.named};
    if (!wish.named || wish.prediction) add_predictions(made);
    if (!wish.named) {
      for (const RowColumn& column : driver_columns()) add(column, made);
    } else {
      if (wish.label) add(label_column(*subject_.rows), made);
      for (const RowColumn& column : wish.columns) add(column, made);
    }
    correct(made);
    return made;
  }

 private:
  // |attributions| of each row, and their sum; NaN where one is undefined.
  void sum_attributions(const Matrix& values) {
    for (size_t row = 0; row < values.rows(); row++) {
      double sum = 0;
      for (const float value : values.row(row)) sum += std::fabs(static_cast<double>(value));
      totals_.push_back(std::isfinite(sum) ? sum : NAN);
    }
  }

  std::vector<RowColumn> driver_columns() const {
    std::vector<RowColumn> columns;
    if (entry_ == nullptr || !subject_.rows->item_shape.empty()) return columns;  // no group of images by a pixel
    const RowCells cells(*subject_.rows, *subject_.players);
    for (const Driver& driver : advice_.drivers) {
      if (columns.size() == kDriverColumns || !(driver.size > 0)) break;
      if (auto column = cells.column(driver.player, study_.facts.features[driver.player])) {
        columns.push_back(std::move(*column));
      }
    }
    return columns;
  }

  void add_predictions(StudyCohorts& made) {
    ColumnParts parts{.cut = CohortCut::prediction, .names = {"right", "wrong"}};
    bool known = false;
    for (size_t row = 0; row < study_.rows(); row++) {
      const std::optional<bool> right = predicted_.right(row);
      known = known || right.has_value();
      if (!right && parts.names.size() == 2) parts.names.emplace_back("no label");
      parts.of_row.push_back(!right ? 2 : *right ? 0 : 1);
    }
    if (known) add(std::string(kPredictionCohorts), parts, made);
  }

  void add(const RowColumn& column, StudyCohorts& made) { add(column.name, column_parts(column), made); }

  void add(const std::string& name, const ColumnParts& parts, StudyCohorts& made) {
    context_.check_cancelled();
    CohortColumn column{.name = name, .cut = parts.cut};
    std::vector<RowNumbers> groups = rows_of_parts(parts);
    for (size_t part = 0; part < groups.size(); part++) {
      if (groups[part].empty()) continue;  // all predictions may be right
      column.cohorts.push_back(described(parts.names[part], groups[part]));
    }
    std::erase_if(groups, [](const RowNumbers& rows) { return rows.empty(); });
    for (size_t c = 0; c < groups.size(); c++) test(groups[c], column, column.cohorts[c]);
    made.columns.push_back(std::move(column));
  }

  Cohort described(const std::string& name, const RowNumbers& rows) const {
    Cohort cohort{.name = name, .rows = rows.size(), .quality = predicted_.quality(rows)};
    describe_output(rows, cohort);
    if (entry_ == nullptr) return cohort;
    cohort.faithfulness = score_of(scores_[0], rows);
    cohort.stability = score_of(scores_[1], rows);
    cohort.drivers = drivers_of(rows);
    return cohort;
  }

  // The mean of the explained value, if all of the study's rows have one target.
  void describe_output(const RowNumbers& rows, Cohort& cohort) const {
    const Targets& targets = *subject_.targets;
    const bool one = !targets.information && !targets.of_row.empty() &&
                     std::ranges::all_of(targets.of_row, [&](uint32_t each) { return each == targets.of_row[0]; });
    if (!one) return;
    const OutputTerm& term = targets.term(0);
    const bool single = subject_.model->info().outputs() == 1;
    const size_t of_class = !single ? term.output : term.scale < 0 ? 0 : 1;
    RunningMoments outputs;
    RunningMoments probabilities;
    for (const size_t row : rows) {
      if (entry_ != nullptr && row < entry_->explanations.output.size()) outputs.add(entry_->explanations.output[row]);
      probabilities.add(predicted_.probability(row, of_class));
    }
    cohort.mean_output = outputs.mean();
    cohort.mean_probability = probabilities.mean();
  }

  static RunningMoments moments_of(const Scores* scores, const RowNumbers& rows) {
    RunningMoments moments;
    for (const size_t row : rows) {
      if (scores != nullptr && !std::isnan(scores->values[row])) moments.add(scores->values[row]);
    }
    return moments;
  }

  static CohortScore score_of(const Scores* scores, const RowNumbers& rows) {
    const RunningMoments moments = moments_of(scores, rows);
    if (moments.count() == 0) return {};
    // The spread of values that depend on each other is no error.
    const double error = scores->dependent ? NAN : std::hypot(moments.standard_error(), scores->shared_error);
    return {moments.count(), moments.mean(), error};
  }

  std::vector<CohortDriver> drivers_of(const RowNumbers& rows) const {
    const Matrix& values = entry_->explanations.values;
    std::vector<double> sums(values.cols(), 0);
    double total = 0;
    for (const size_t row : rows) {
      if (std::isnan(totals_[row])) continue;
      total += totals_[row];
      for (size_t p = 0; p < sums.size(); p++) sums[p] += std::fabs(static_cast<double>(values(row, p)));
    }
    std::vector<size_t> order(sums.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return sums[a] > sums[b]; });
    std::vector<CohortDriver> drivers;
    for (const size_t player : order) {
      if (drivers.size() == kCohortDrivers || !(sums[player] > 0)) break;
      drivers.push_back({player, std::min(1.0, sums[player] / total)});
    }
    return drivers;
  }

  Ratio share_of(size_t player, const RowNumbers& rows) const {
    std::vector<double> parts;
    std::vector<double> wholes;
    for (const size_t row : rows) {
      if (std::isnan(totals_[row])) continue;
      parts.push_back(std::fabs(static_cast<double>(entry_->explanations.values(row, player))));
      wholes.push_back(totals_[row]);
    }
    return ratio_of(parts, wholes);
  }

  void test(const RowNumbers& rows, const CohortColumn& column, Cohort& cohort) const {
    const RowNumbers others = other_rows(study_.rows(), rows);
    if (rows.size() < kLeastCohortRows || others.size() < kLeastCohortRows) {
      cohort.not_tested =
          fmt::format("fewer than {} {}rows", kLeastCohortRows, rows.size() < kLeastCohortRows ? "" : "other ");
      return;
    }
    const auto keep = [&](CohortMeasure measure, const GroupTest& found, size_t own, size_t rest,
                          std::optional<size_t> player = {}) {
      if (own < kLeastCohortRows || rest < kLeastCohortRows) return;
      cohort.differences.push_back({measure, player, found.difference, found.error, found.p_value});
    };
    // value_of(row): NaN for rows that have none.
    const auto shuffled = [&](GroupTest found, const auto& value_of, CohortMeasure measure, size_t player = 0) {
      // Only small p-values are ever acted on, so only these must be right for values of any distribution. Means of so
      // many rows are nearly normal.
      const bool many = std::min(rows.size(), others.size()) >= kNearlyNormal;
      if (many || !(found.p_value < kSignificance)) return found;
      context_.check_cancelled();
      std::vector<double> values;
      std::vector<uint8_t> in_group;
      size_t next = 0;
      for (size_t row = 0; row < study_.rows(); row++) {
        const bool own = next < rows.size() && rows[next] == row;
        if (own) next++;
        if (const double value = value_of(row); !std::isnan(value)) {
          values.push_back(value);
          in_group.push_back(own ? 1 : 0);
        }
      }
      const std::string purpose = fmt::format("{} of groups of {}", cohort_measure_name(measure), column.name);
      const double p = shuffled_p_value(values, in_group, RandomStream(context_.seed, purpose, player));
      if (p > found.p_value) found.p_value = p;
      return found;
    };
    for (size_t i = 0; i < scores_.size(); i++) {
      if (scores_[i] == nullptr || scores_[i]->dependent) continue;
      const RunningMoments own = moments_of(scores_[i], rows);
      const RunningMoments rest = moments_of(scores_[i], others);
      const CohortMeasure measure = i == 0 ? CohortMeasure::faithfulness : CohortMeasure::stability;
      keep(measure,
           shuffled(
               welch_test(own, rest, scores_[i]->shared_error), [&](size_t row) { return scores_[i]->values[row]; },
               measure),
           own.count(), rest.count());
    }
    if (column.cut != CohortCut::prediction) test_quality(rows, others, keep, shuffled);
    for (size_t d = 0; entry_ != nullptr && d < std::min(kCohortDrivers, advice_.drivers.size()); d++) {
      const size_t player = advice_.drivers[d].player;
      if (study_.facts.features[player] == column.name) continue;
      const Ratio own = share_of(player, rows);
      const Ratio rest = share_of(player, others);
      // What a row adds to the share beyond what is usual: its part less the common share of its whole.
      const double usual = share_of(player, all_).ratio;
      const auto beyond = [&](size_t row) {
        return std::fabs(static_cast<double>(entry_->explanations.values(row, player))) - usual * totals_[row];
      };
      keep(CohortMeasure::driver, shuffled(ratio_test(own, rest), beyond, CohortMeasure::driver, player), own.count,
           rest.count, player);
    }
  }

  void test_quality(const RowNumbers& rows, const RowNumbers& others, const auto& keep, const auto& shuffled) const {
    struct Side {
      size_t labelled = 0;
      size_t right = 0;
      RunningMoments errors;
    };
    const auto side_of = [&](const RowNumbers& own) {
      Side side;
      for (const size_t row : own) {
        if (const std::optional<bool> right = predicted_.right(row)) {
          side.labelled++;
          side.right += *right ? 1 : 0;
        }
        if (const double error = predicted_.squared_error(row); !std::isnan(error)) side.errors.add(error);
      }
      return side;
    };
    const Side own = side_of(rows);
    const Side rest = side_of(others);
    if (own.labelled > 0 && rest.labelled > 0) {
      keep(CohortMeasure::accuracy, fisher_test(own.right, own.labelled, rest.right, rest.labelled), own.labelled,
           rest.labelled);
    }
    keep(CohortMeasure::squared_error,
         shuffled(
             welch_test(own.errors, rest.errors), [&](size_t row) { return predicted_.squared_error(row); },
             CohortMeasure::squared_error),
         own.errors.count(), rest.errors.count());
  }

  // Holm's correction over all tests. Of two groups, the second has the tests of the first.
  static void correct(StudyCohorts& made) {
    std::vector<double> family;
    const auto each = [&](const auto& take) {
      for (CohortColumn& column : made.columns) {
        const bool mirrored = column.cohorts.size() == 2 && !column.cohorts[0].differences.empty();
        for (size_t c = 0; c < (mirrored ? 1 : column.cohorts.size()); c++) {
          for (size_t d = 0; d < column.cohorts[c].differences.size(); d++) take(column, c, d, mirrored);
        }
      }
    };
    each([&](const CohortColumn& column, size_t c, size_t d, bool /*mirrored*/) {
      family.push_back(column.cohorts[c].differences[d].p_value);
    });
    const std::vector<double> corrected = holm_adjusted(family);
    made.tests = static_cast<size_t>(std::ranges::count_if(family, [](double p) { return !std::isnan(p); }));
    size_t at = 0;
    each([&](CohortColumn& column, size_t c, size_t d, bool mirrored) {
      const double p = corrected[at++];
      for (const size_t which : {c, mirrored ? size_t{1} : c}) {
        CohortDifference& difference = column.cohorts[which].differences[d];
        difference.corrected = p;
        difference.different = p < kSignificance;
      }
    });
  }

  const Study& study_;
  const Advice& advice_;
  const Subject& subject_;
  const Context& context_;
  const StudyEntry* entry_;
  PredictedRows predicted_;
  std::vector<const Scores*> scores_;  // faithfulness, stability; null where there are none
  std::vector<double> totals_;
  RowNumbers all_;  // of the study
};

}  // namespace

std::string_view cohort_measure_name(CohortMeasure measure) {
  switch (measure) {
    case CohortMeasure::stability: return "stability";
    case CohortMeasure::accuracy: return "accuracy";
    case CohortMeasure::squared_error: return "squared_error";
    case CohortMeasure::driver: return "driver";
    case CohortMeasure::faithfulness: break;
  }
  return "faithfulness";
}

bool Cohort::different() const {
  return std::ranges::any_of(differences, [](const CohortDifference& each) { return each.different; });
}

void check_cohort_wish(std::string_view option, const CohortWish& wish, const Subject& subject) {
  const auto known = [](float label) { return !std::isnan(label); };
  const bool labelled = std::ranges::any_of(subject.rows->labels, known);
  if (wish.prediction && (!labelled || subject.model->info().class_names.empty())) {
    fail_input(option, fmt::format("a model of classes and rows with labels for {}", in_quotes(kPredictionCohorts)),
               labelled ? "a model without classes" : "no labels");
  }
  if (wish.label && !labelled)
    fail_input(option, fmt::format("rows with labels for {}", in_quotes(kLabelCohorts)), "none");
}

StudyCohorts find_cohorts(const Study& study, const Advice& advice, const Subject& subject, const CohortWish& wish,
                          const Context& context) {
  return CohortFinder(study, advice, subject, context).find(wish);
}

}  // namespace assay
