#include "assay/study/quality.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "assay/core/random.h"
#include "assay/core/roc_area.h"
#include "assay/model/predict_rows.h"

namespace assay {
namespace {

constexpr size_t kMostBins = 10;
constexpr size_t kLeastRowsOfBin = 10;
constexpr uint32_t kDraws = 2000;
// Probabilities are float32; what is below may have been rounded to 0.
constexpr double kLeastProbability = std::numeric_limits<float>::epsilon();

double log_of_sigmoid(double z) { return z < 0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z)); }

// ln sum over j != but of exp(z_j)
double log_sum_but(std::span<const float> z, size_t but) {
  double largest = -INFINITY;
  for (size_t j = 0; j < z.size(); j++) {
    if (j != but) largest = std::max<double>(largest, z[j]);
  }
  double sum = 0;
  for (size_t j = 0; j < z.size(); j++) {
    if (j != but) sum += std::exp(z[j] - largest);
  }
  return largest + std::log(sum);
}

// The model that probabilities come from. Margins are better: probabilities are rounded.
const Model& with_most_digits(const Subject& subject) {
  const Model* margins = subject.margins;
  const bool usable = margins != nullptr && margins->info().margin_link != MarginLink::unknown &&
                      margins->info().unit == OutputUnit::margin;
  return usable ? *margins : *subject.model;
}

struct ValueFit {
  double rmse = NAN;
  double mean_rmse = NAN;
  double r2 = NAN;
};

// pick(i): the row that stands at place i.
ValueFit value_fit(std::span<const double> labels, std::span<const double> values, const auto& pick) {
  double errors = 0;
  RunningMoments spread;
  for (size_t i = 0; i < labels.size(); i++) {
    const size_t row = pick(i);
    const double error = values[row] - labels[row];
    errors += error * error;
    spread.add(labels[row]);
  }
  const auto count = static_cast<double>(labels.size());
  const double deviations = count > 1 ? spread.variance() * (count - 1) : 0;
  return {std::sqrt(errors / count), std::sqrt(deviations / count), deviations > 0 ? 1 - errors / deviations : NAN};
}

void from_log_odds(std::span<const float> odds, ClassRow& row) {
  for (const float each : odds) {
    row.scores.push_back(each);
    row.log_probabilities.push_back(log_of_sigmoid(each));
  }
}

// One output stands for the second of two classes: -z is the other's margin or log-odds, 1 - p its probability.
ClassRow class_row(const ModelInfo& info, std::span<const float> outputs) {
  ClassRow row;
  const bool single = outputs.size() == 1;
  if (info.unit == OutputUnit::probability) {
    const auto add = [&](double p) {
      row.scores.push_back(p);
      row.log_probabilities.push_back(std::log(std::max(p, kLeastProbability)));
    };
    if (single) add(1 - static_cast<double>(outputs[0]));
    for (const float p : outputs) add(p);
    return row;
  }
  const MarginLink link = info.unit == OutputUnit::log_odds ? MarginLink::sigmoid : info.margin_link;
  if (link == MarginLink::unknown) {
    if (single) row.scores.push_back(-static_cast<double>(outputs[0]));
    row.scores.insert(row.scores.end(), outputs.begin(), outputs.end());
    return row;
  }
  if (single) {
    const float both[] = {-outputs[0], outputs[0]};
    from_log_odds(both, row);
    return row;
  }
  if (link == MarginLink::sigmoid) {
    from_log_odds(outputs, row);
    return row;
  }
  for (size_t c = 0; c < outputs.size(); c++) {
    row.scores.push_back(outputs[c] - log_sum_but(outputs, c));
    row.log_probabilities.push_back(log_of_sigmoid(row.scores.back()));
  }
  return row;
}

}  // namespace

PredictedRows::PredictedRows(const Subject& subject, const Context& context)
    : classes_(subject.model->info().class_names.size()),
      seed_(context.seed),
      in_pool_(subject.in_pool.begin(), subject.in_pool.end()),
      labels_(subject.rows->labels) {
  const ModelInfo& info = subject.model->info();
  const auto each_row = [&](const Model& model, const auto& take) {
    predict_rows(
        model, subject.rows->x.view(),
        [&](size_t begin, MatrixView<const float> outputs) {
          for (size_t i = 0; i < outputs.rows(); i++) take(model.info(), begin + i, outputs.row(i));
        },
        context);
  };
  if (info.class_names.empty()) {
    if (info.outputs() != 1 || info.unit != OutputUnit::value || !info.value_is_prediction) return;
    each_row(*subject.model, [&](const ModelInfo& /*own*/, size_t /*row*/, std::span<const float> outputs) {
      values_.push_back(outputs[0]);
    });
    return;
  }
  const Model& exact = with_most_digits(subject);
  each_row(exact, [&](const ModelInfo& own, size_t /*row*/, std::span<const float> outputs) {
    of_class_.push_back(class_row(own, outputs));
    of_class_.back().predicted = predicted_class(own, outputs);
  });
  if (&exact != subject.model) {
    each_row(*subject.model, [&](const ModelInfo& own, size_t row, std::span<const float> outputs) {
      of_class_[row].predicted = predicted_class(own, outputs);
    });
  }
  // Margins that are no logits only rank. What they stand for, the model itself must say.
  if (subject.probabilities != nullptr && info.unit == OutputUnit::margin) {
    each_row(*subject.probabilities, [&](const ModelInfo& own, size_t row, std::span<const float> outputs) {
      of_class_[row].log_probabilities = class_row(own, outputs).log_probabilities;
    });
  }
}

void PredictedRows::judge_classes(std::span<const size_t> all, ModelQuality& quality) const {
  std::vector<size_t> rows;
  std::vector<size_t> labels;
  for (const size_t row : all) {
    if (std::isnan(labels_[row])) continue;
    rows.push_back(row);
    labels.push_back(static_cast<size_t>(labels_[row]));
  }
  quality.labelled = rows.size();
  if (rows.empty()) return;
  const auto count = static_cast<double>(rows.size());
  std::vector<size_t> rows_of(quality.classes, 0);
  size_t successes = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    successes += of_class_[rows[i]].predicted == labels[i] ? 1 : 0;
    if (labels[i] < rows_of.size()) rows_of[labels[i]]++;
  }
  const bool known = std::ranges::all_of(labels, [&](size_t label) { return label < quality.classes; });
  quality.accuracy = static_cast<double>(successes) / count;
  quality.accuracy_interval = wilson_interval(successes, rows.size());
  quality.majority = static_cast<double>(std::ranges::max(rows_of)) / count;

  if (!known) return;
  const auto undefined = [](double value) { return std::isnan(value); };
  const size_t first = quality.classes == 2 ? 1 : 0;
  std::vector<std::vector<double>> scores(quality.classes - first);
  for (const size_t row : rows) {
    const std::vector<double>& own = of_class_[row].scores;
    if (own.size() != quality.classes || std::ranges::any_of(own, undefined)) return;
    for (size_t c = first; c < quality.classes; c++) scores[c - first].push_back(own[c]);
  }
  const AreaUnderCurve area = area_under_curve(scores, labels, first);
  quality.auc = area.auc;
  quality.auc_interval = area.interval;
  quality.auc_classes = area.classes;

  double loss = 0;
  std::vector<double> probabilities;
  std::vector<bool> came_true;
  for (size_t i = 0; i < rows.size(); i++) {
    const ClassRow& row = of_class_[rows[i]];
    const std::vector<double>& logs = row.log_probabilities;
    if (logs.size() != quality.classes || std::ranges::any_of(logs, undefined)) return;
    loss -= logs[labels[i]];
    const size_t shown = quality.classes == 2 ? 1 : row.predicted;
    probabilities.push_back(std::exp(logs[shown]));
    came_true.push_back(labels[i] == shown);
  }
  quality.log_loss = loss / count;
  const Calibration calibration = calibration_of(probabilities, came_true);
  quality.calibration_error = calibration.error;
  quality.calibration_chance = calibration.chance;
  quality.calibration_bins = calibration.bins;
}

void PredictedRows::judge_values(std::span<const size_t> rows, ModelQuality& quality) const {
  std::vector<double> labels;
  std::vector<double> values;
  for (const size_t row : rows) {
    if (std::isnan(labels_[row])) continue;
    labels.push_back(labels_[row]);
    values.push_back(values_[row]);
  }
  quality.labelled = labels.size();
  if (labels.empty()) return;
  const ValueFit fit = value_fit(labels, values, [](size_t i) { return i; });
  quality.rmse = fit.rmse;
  quality.mean_rmse = fit.mean_rmse;
  quality.r2 = fit.r2;
  if (labels.size() < 2) return;
  std::vector<double> rmse;
  std::vector<double> r2;
  for (uint32_t draw = 0; draw < kDraws; draw++) {
    RandomStream random(seed_, "model quality", 0, draw);
    const ValueFit drawn = value_fit(labels, values, [&](size_t /*place*/) {
      return static_cast<size_t>(random.below(static_cast<uint32_t>(labels.size())));
    });
    rmse.push_back(drawn.rmse);
    r2.push_back(drawn.r2);
  }
  const auto middle = [](std::vector<double>& drawn) {
    return Interval{quantile(drawn, 0.025), quantile(drawn, 0.975)};
  };
  quality.rmse_interval = middle(rmse);
  if (!std::isnan(fit.r2)) quality.r2_interval = middle(r2);
}

ModelQuality PredictedRows::quality(std::span<const size_t> rows) const {
  ModelQuality made;
  made.classes = classes_;
  if (!in_pool_.empty()) {
    made.in_pool =
        static_cast<size_t>(std::ranges::count_if(rows, [&](size_t row) { return in_pool_[row] != kNoRow; }));
  }
  if (labels_.empty()) return made;
  if (!of_class_.empty()) judge_classes(rows, made);
  if (!values_.empty()) judge_values(rows, made);
  return made;
}

std::optional<bool> PredictedRows::right(size_t row) const {
  if (of_class_.empty() || labels_.empty() || std::isnan(labels_[row])) return {};
  return of_class_[row].predicted == static_cast<size_t>(labels_[row]);
}

double PredictedRows::squared_error(size_t row) const {
  if (values_.empty() || labels_.empty()) return NAN;
  const double error = values_[row] - labels_[row];
  return error * error;
}

double PredictedRows::probability(size_t row, size_t of_class) const {
  if (of_class_.empty() || of_class >= of_class_[row].log_probabilities.size()) return NAN;
  return std::exp(of_class_[row].log_probabilities[of_class]);
}

Interval wilson_interval(size_t successes, size_t count) {
  if (count == 0) return {NAN, NAN};
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(successes) / n;
  const double square = kNormal95 * kNormal95;
  const double centre = (share + square / (2 * n)) / (1 + square / n);
  const double reach = kNormal95 / (1 + square / n) * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  return {successes == 0 ? 0 : centre - reach, successes == count ? 1 : centre + reach};
}

Calibration calibration_of(std::span<const double> probabilities, const std::vector<bool>& true_of) {
  Calibration made;
  const size_t count = probabilities.size();
  if (count == 0) return made;
  made.bins = std::clamp<size_t>(count / kLeastRowsOfBin, 1, kMostBins);
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return probabilities[a] < probabilities[b]; });
  double error = 0;
  double chance = 0;
  for (size_t bin = 0; bin < made.bins; bin++) {
    double said = 0;
    double came = 0;
    double variance = 0;
    for (size_t i = bin * count / made.bins; i < (bin + 1) * count / made.bins; i++) {
      const double p = probabilities[order[i]];
      said += p;
      came += true_of[order[i]] ? 1 : 0;
      variance += p * (1 - p);
    }
    error += std::fabs(said - came);  // the bin's rows times its error
    chance += std::sqrt(2 / std::numbers::pi * variance);
  }
  made.error = error / static_cast<double>(count);
  made.chance = chance / static_cast<double>(count);
  return made;
}

ModelQuality model_quality(const Subject& subject, const Context& context) {
  if (subject.rows->labels.empty()) {  // nothing to judge: no prediction is made
    const auto outside = static_cast<size_t>(std::ranges::count(subject.in_pool, kNoRow));
    return {.in_pool = subject.in_pool.size() - outside, .classes = subject.model->info().class_names.size()};
  }
  std::vector<size_t> all(subject.rows->rows());
  std::iota(all.begin(), all.end(), size_t{0});
  return PredictedRows(subject, context).quality(all);
}

}  // namespace assay
