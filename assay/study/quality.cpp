#include "assay/study/quality.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "assay/core/random.h"
#include "assay/model/predict_rows.h"
#include "assay/study/roc_area.h"

namespace assay {
namespace {

constexpr size_t kMostBins = 10;
constexpr size_t kLeastRowsOfBin = 10;
constexpr uint32_t kDraws = 2000;
// Probabilities are float32; what is below may have been rounded to 0.
constexpr double kLeastProbability = std::numeric_limits<float>::epsilon();

double log_of_sigmoid(double z) { return z < 0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z)); }

// What one row's outputs say about the classes.
struct ClassRow {
  std::vector<double> scores;             // rank the rows by class
  std::vector<double> log_probabilities;  // empty if they are not known
};

void from_log_odds(std::span<const float> odds, ClassRow& row) {
  for (const float each : odds) {
    row.scores.push_back(each);
    row.log_probabilities.push_back(log_of_sigmoid(each));
  }
}

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

// The labelled rows of a classification, and what the model says about them.
struct Classified {
  std::vector<size_t> labels;
  std::vector<size_t> predicted;
  std::vector<ClassRow> rows;
};

// The model that probabilities come from. Margins are better: probabilities are rounded.
const Model& with_most_digits(const Subject& subject) {
  const Model* margins = subject.margins;
  const bool usable = margins != nullptr && margins->info().margin_link != MarginLink::unknown &&
                      margins->info().unit == OutputUnit::margin;
  return usable ? *margins : *subject.model;
}

Classified classified(const Subject& subject, const Context& context) {
  Classified made;
  const std::vector<float>& labels = subject.rows->labels;
  const auto each_row = [&](const Model& model, const auto& take) {
    predict_rows(
        model, subject.rows->x.view(),
        [&](size_t begin, MatrixView<const float> outputs) {
          for (size_t i = 0; i < outputs.rows(); i++) {
            if (!std::isnan(labels[begin + i])) take(model.info(), outputs.row(i));
          }
        },
        context);
  };
  for (const float label : labels) {
    if (!std::isnan(label)) made.labels.push_back(static_cast<size_t>(label));
  }
  const Model& exact = with_most_digits(subject);
  each_row(*subject.model, [&](const ModelInfo& info, std::span<const float> outputs) {
    made.predicted.push_back(predicted_class(info, outputs));
    if (&exact == subject.model) made.rows.push_back(class_row(info, outputs));
  });
  if (&exact != subject.model) {
    each_row(exact, [&](const ModelInfo& info, std::span<const float> outputs) {
      made.rows.push_back(class_row(info, outputs));
    });
  }
  // Margins that are no logits only rank. What they stand for, the model itself must say.
  if (subject.probabilities != nullptr && subject.model->info().unit == OutputUnit::margin) {
    size_t at = 0;
    each_row(*subject.probabilities, [&](const ModelInfo& info, std::span<const float> outputs) {
      made.rows[at++].log_probabilities = class_row(info, outputs).log_probabilities;
    });
  }
  return made;
}

void judge_classes(const Subject& subject, const Context& context, ModelQuality& quality) {
  quality.classes = subject.model->info().class_names.size();
  const Classified found = classified(subject, context);
  quality.labelled = found.labels.size();
  if (found.labels.empty()) return;
  const auto count = static_cast<double>(found.labels.size());
  std::vector<size_t> rows_of(quality.classes, 0);
  size_t right = 0;
  for (size_t i = 0; i < found.labels.size(); i++) {
    right += found.predicted[i] == found.labels[i] ? 1 : 0;
    if (found.labels[i] < rows_of.size()) rows_of[found.labels[i]]++;
  }
  const bool known = std::ranges::all_of(found.labels, [&](size_t label) { return label < quality.classes; });
  quality.accuracy = static_cast<double>(right) / count;
  quality.accuracy_interval = wilson_interval(right, found.labels.size());
  quality.majority = static_cast<double>(std::ranges::max(rows_of)) / count;

  if (!known) return;
  const auto undefined = [](double value) { return std::isnan(value); };
  const size_t first = quality.classes == 2 ? 1 : 0;
  std::vector<std::vector<double>> scores(quality.classes - first);
  for (const ClassRow& row : found.rows) {
    if (row.scores.size() != quality.classes || std::ranges::any_of(row.scores, undefined)) return;
    for (size_t c = first; c < quality.classes; c++) scores[c - first].push_back(row.scores[c]);
  }
  const AreaUnderCurve area = area_under_curve(scores, found.labels, first);
  quality.auc = area.auc;
  quality.auc_interval = area.interval;
  quality.auc_classes = area.classes;

  double loss = 0;
  std::vector<double> probabilities;
  std::vector<bool> came_true;
  for (size_t i = 0; i < found.rows.size(); i++) {
    const std::vector<double>& logs = found.rows[i].log_probabilities;
    if (logs.size() != quality.classes || std::ranges::any_of(logs, undefined)) return;
    loss -= logs[found.labels[i]];
    const size_t shown = quality.classes == 2 ? 1 : found.predicted[i];
    probabilities.push_back(std::exp(logs[shown]));
    came_true.push_back(found.labels[i] == shown);
  }
  quality.log_loss = loss / count;
  const Calibration calibration = calibration_of(probabilities, came_true);
  quality.calibration_error = calibration.error;
  quality.calibration_chance = calibration.chance;
  quality.calibration_bins = calibration.bins;
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

void judge_values(const Subject& subject, const Context& context, ModelQuality& quality) {
  std::vector<double> labels;
  std::vector<double> values;
  predict_rows(
      *subject.model, subject.rows->x.view(),
      [&](size_t begin, MatrixView<const float> outputs) {
        for (size_t i = 0; i < outputs.rows(); i++) {
          const float label = subject.rows->labels[begin + i];
          if (std::isnan(label)) continue;
          labels.push_back(label);
          values.push_back(outputs.row(i)[0]);
        }
      },
      context);
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
    RandomStream random(context.seed, "model quality", 0, draw);
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

}  // namespace

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
  ModelQuality quality;
  const ModelInfo& info = subject.model->info();
  quality.classes = info.class_names.size();
  const auto outside = static_cast<size_t>(std::ranges::count(subject.in_pool, kNoRow));
  quality.in_pool = subject.in_pool.size() - outside;
  if (subject.rows->labels.empty()) return quality;
  if (!info.class_names.empty()) {
    judge_classes(subject, context, quality);
  } else if (info.outputs() == 1 && info.unit == OutputUnit::value && info.value_is_prediction) {
    judge_values(subject, context, quality);
  }
  return quality;
}

}  // namespace assay
