#include "assay/report/report_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "assay/core/table_text.h"
#include "assay/data/io/number.h"
#include "assay/data/split.h"
#include "assay/evaluate/removal/class_score.h"
#include "assay/report/json_text.h"

namespace assay {
namespace {

constexpr size_t kMostRows = 200;
constexpr size_t kMostNeighbours = 20;
constexpr int kDigitsOfErrors = 3;

// What the model predicts for a row: nothing for a regression, or if an output is NaN.
struct Predicted {
  std::optional<std::string> name = {};
  double probability = NAN;         // of the predicted class
  double target_probability = NAN;  // of the class that is explained
};

std::string text_or_null(const std::optional<std::string>& text) {
  return text ? json_text(cut_text(*text, kLongestName)) : "null";
}

class RowWriter {
 public:
  RowWriter(const Study& study, const Subject& subject, bool cells, const ImageShape* image)
      : study_(study), subject_(subject), image_(image) {
    if (!cells) return;
    own_.emplace(*subject.rows, *subject.players);
    pool_.emplace(*subject.pool, *subject.players);
  }

  std::string write(size_t row, const Predicted& predicted) const {
    JsonMembers fields = {{"number", std::to_string(row + 1)},
                          {"id", text_or_null(id_of(row))},
                          {"target", json_text(cut_text(target_of(row), kLongestName))},
                          {"label", text_or_null(label_of(row))},
                          {"predicted", text_or_null(predicted.name)},
                          {"probability", json_number(predicted.probability)},
                          {"target_probability", json_number(predicted.target_probability)},
                          {"output", json_number(output_of(row))}};
    if (own_) {
      fields.emplace_back("cells", cells_of(*own_, row));
      std::vector<double> scales;
      for (size_t p = 0; p < own_->players(); p++) scales.push_back(own_->scale(row, p));
      fields.emplace_back("cell_scale", json_numbers(scales));
      if (image_ != nullptr) fields.emplace_back("pixels", fmt::format("[{}]", fmt::join(own_->pixels(row), ",")));
    }
    std::vector<std::string> values;
    std::vector<std::string> errors;
    std::vector<double> base;
    std::vector<std::string> scores;
    std::vector<std::string> antecedents;
    for (size_t e = 0; e < study_.entries.size(); e++) {
      const StudyEntry& entry = study_.entries[e];
      const Explanations& found = entry.explanations;
      const std::span<const float> phi = found.values.row(row);
      const bool defined = std::ranges::all_of(phi, [](float value) { return std::isfinite(value); });
      values.push_back(!defined            ? "null"
                       : image_ != nullptr ? json_steps(std::vector<double>(phi.begin(), phi.end()))
                                           : json_numbers(phi));
      errors.push_back(defined && image_ == nullptr ? errors_of(found, row) : "null");
      base.push_back(row < found.base.size() ? found.base[row] : NAN);
      std::vector<double> own_scores;
      for (const Scores& each : entry.scores) {
        own_scores.push_back(each.of_rows && row < each.values.size() ? each.values[row] : NAN);
      }
      scores.push_back(json_numbers(own_scores));
      if (!found.combination.antecedents.empty()) {
        antecedents.push_back(
            json_object({{"entry", std::to_string(e)}, {"neighbours", neighbours_of(found.combination, row)}}));
      }
    }
    fields.emplace_back("values", json_list(values));
    fields.emplace_back("errors", json_list(errors));
    fields.emplace_back("base", json_numbers(base));
    fields.emplace_back("scores", json_list(scores));
    fields.emplace_back("antecedents", json_list(antecedents));
    return json_object(fields);
  }

 private:
  std::optional<std::string> id_of(size_t row) const {
    if (row < subject_.rows->ids.size()) return subject_.rows->ids[row];
    return {};
  }
  std::string target_of(size_t row) const { return subject_.targets->names[subject_.targets->of_row[row]]; }
  double output_of(size_t row) const {
    for (const StudyEntry& entry : study_.entries) {
      const std::vector<double>& output = entry.explanations.output;
      if (row < output.size() && std::isfinite(output[row])) return output[row];
    }
    return NAN;
  }
  // A label is a cell of the file too.
  std::optional<std::string> label_of(size_t row) const {
    const Dataset& data = *subject_.rows;
    if (!own_ || row >= data.labels.size() || std::isnan(data.labels[row])) return {};
    if (data.class_names.empty()) return number_text(data.labels[row]);
    const float label = data.labels[row];
    if (!(label >= 0) || label >= static_cast<float>(data.class_names.size())) return {};
    return data.class_names[static_cast<size_t>(label)];
  }
  static std::string cells_of(const RowCells& cells, size_t row) {
    std::vector<std::string> texts;
    for (size_t p = 0; p < cells.players(); p++) texts.push_back(cut_text(cells.text(row, p), kLongestCell));
    return json_texts(texts);
  }
  // The sampling and the background error together: they are independent.
  static std::string errors_of(const Explanations& found, size_t row) {
    if (found.standard_error.empty() && found.background_error.empty()) return "null";
    std::vector<double> out(found.players());
    for (const Matrix* part : {&found.standard_error, &found.background_error}) {
      if (part->empty()) continue;
      for (size_t p = 0; p < out.size(); p++) out[p] = std::hypot(out[p], static_cast<double>((*part)(row, p)));
    }
    return json_numbers(out, kDigitsOfErrors);
  }
  // Largest weight first.
  std::string neighbours_of(const Combination& combination, size_t row) const {
    const size_t most = combination.weights.cols();
    const auto pool_rows = std::span(combination.antecedents).subspan(row * most, most);
    const std::span<const float> weights = combination.weights.row(row);
    std::vector<size_t> order;
    for (size_t i = 0; i < most; i++) {
      const bool is_row = pool_rows[i] >= 0 && static_cast<size_t>(pool_rows[i]) < subject_.pool->rows();
      if (is_row && std::isfinite(weights[i])) order.push_back(i);
    }
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return std::fabs(weights[a]) > std::fabs(weights[b]); });
    if (order.size() > kMostNeighbours) order.resize(kMostNeighbours);
    std::vector<std::string> parts;
    for (const size_t i : order) {
      const auto pool_row = static_cast<size_t>(pool_rows[i]);
      JsonMembers fields = {{"row", std::to_string(pool_row + 1)}, {"weight", json_number(weights[i])}};
      if (pool_) fields.emplace_back("cells", cells_of(*pool_, pool_row));
      parts.push_back(json_object(fields));
    }
    return json_list(parts);
  }

  const Study& study_;
  const Subject& subject_;
  const ImageShape* image_;
  std::optional<RowCells> own_;  // none: no cell may be shown
  std::optional<RowCells> pool_;
};

// Probabilities of all classes of these rows, if the model has them in some way: its own, or by softmax or sigmoid from
// margins or log-odds.
class ClassProbabilities {
 public:
  ClassProbabilities(const Subject& subject, const Matrix& x, const Matrix& outputs, const Context& context)
      : info_(&subject.model->info()), outputs_(&outputs) {
    if (info_->unit != OutputUnit::margin || info_->margin_link != MarginLink::unknown) return;
    info_ = nullptr;
    if (subject.probabilities == nullptr) return;
    info_ = &subject.probabilities->info();
    own_ = Matrix(x.rows(), info_->outputs());
    subject.probabilities->predict(x.view(), own_.view(), context);
    outputs_ = &own_;
  }

  double of(size_t row, size_t which) const {
    if (info_ == nullptr) return NAN;
    // A sigmoid makes a probability of each output by itself.
    if (info_->unit == OutputUnit::margin && info_->margin_link == MarginLink::sigmoid && info_->outputs() > 1) {
      return 1 / (1 + std::exp(-static_cast<double>((*outputs_)(row, which))));
    }
    return class_score(*info_, ScoreUnit::probability, outputs_->row(row), which);
  }

 private:
  const ModelInfo* info_;
  const Matrix* outputs_;
  Matrix own_ = {};
};

std::vector<Predicted> predictions(const Subject& subject, const std::vector<size_t>& rows, const Context& context) {
  std::vector<Predicted> out(rows.size());
  const ModelInfo& info = subject.model->info();
  if (info.class_names.empty() || rows.empty()) return out;
  const Dataset shown = select_rows(*subject.rows, rows);
  Matrix outputs(rows.size(), info.outputs());
  subject.model->predict(shown.x.view(), outputs.view(), context);
  const ClassProbabilities probabilities(subject, shown.x, outputs, context);
  const bool known_target = !subject.targets->information;
  for (size_t i = 0; i < rows.size(); i++) {
    const std::span<const float> row = outputs.row(i);
    if (std::ranges::any_of(row, [](float value) { return std::isnan(value); })) continue;
    const size_t which = predicted_class(info, row);
    out[i].name = info.class_names.at(which);
    out[i].probability = probabilities.of(i, which);
    if (known_target) out[i].target_probability = probabilities.of(i, subject.targets->of_row[rows[i]]);
  }
  return out;
}

std::string shown_words(size_t shown, size_t total, bool several_targets) {
  if (shown == total) return fmt::format("all {}", plural(total, "row"));
  if (shown == 0) return fmt::format("none of {}: one of them alone is too large for this file", plural(total, "row"));
  return fmt::format("{} of {}, {}", with_commas(shown), plural(total, "row"),
                     several_targets ? "stratified by target" : "drawn at random");
}

}  // namespace

std::vector<size_t> sample_of_rows(const Subject& subject, size_t count, uint64_t seed) {
  const std::vector<float> targets(subject.targets->of_row.begin(), subject.targets->of_row.end());
  return stratified_sample(targets, count, seed);
}

ShownRows shown_rows(const Study& study, const Subject& subject, const ReportOptions& options, const ImageShape* image,
                     size_t bytes, const Context& context) {
  const RowWriter writer(study, subject, options.cells, image);
  const size_t total = study.rows();
  size_t count = std::min(total, options.rows > 0 ? options.rows : kMostRows);
  ShownRows shown;
  // Rows differ in length, so they are written to see how many fit. If they do not fit, a smaller sample is drawn. It
  // holds other rows, which may be too long again, so this repeats.
  for (bool fits = false; !fits;) {
    context.check_cancelled();
    const std::vector<size_t> rows = sample_of_rows(subject, count, study.facts.seed);
    const auto predicted = predictions(subject, rows, context);
    shown.rows.clear();
    size_t used = 0;
    fits = true;
    for (size_t i = 0; i < rows.size(); i++) {
      std::string text = writer.write(rows[i], predicted[i]);
      used += text.size() + 1;
      if (used > bytes) {
        count = i;
        fits = false;
        break;
      }
      shown.rows.push_back(std::move(text));
    }
  }
  const std::vector<uint32_t>& targets = subject.targets->of_row;
  const bool several = std::ranges::adjacent_find(targets, std::not_equal_to<>()) != targets.end();
  shown.words = shown_words(shown.rows.size(), total, several);
  return shown;
}

}  // namespace assay
