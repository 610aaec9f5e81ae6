#include "assay/study/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "assay/core/error.h"
#include "assay/core/roc_area.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/data/known_levels.h"
#include "assay/model/predict_rows.h"
#include "assay/model/renamed_classes.h"

namespace assay {
namespace {

constexpr double kChance = 0.5;  // the area under the curve of scores that say nothing

std::optional<size_t> place_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return {};
  return static_cast<size_t>(found - names.begin());
}

// How much speaks for each class, for all rows that have a label.
struct LabelledScores {
  std::vector<std::vector<double>> of_class = {};  // by output of the model, then by row
  std::vector<size_t> levels = {};                 // of each row
};

// By how much an output is ahead of the largest of the others; one output as it is. The outputs of a row may all have a
// shift in common that says nothing about its class.
double ahead_of_others(std::span<const float> outputs, size_t own) {
  if (outputs.size() == 1) return outputs[0];
  float others = -std::numeric_limits<float>::infinity();
  for (size_t c = 0; c < outputs.size(); c++) {
    if (c != own) others = std::max(others, outputs[c]);
  }
  return outputs[own] == others ? 0 : static_cast<double>(outputs[own]) - others;  // also of two infinities
}

void add_scores(const Model& model, const LabelledRows& rows, const std::vector<std::string>& levels,
                LabelledScores& scores, const Context& context) {
  std::vector<size_t> place;
  for (const std::string& level : rows.labels.levels) place.push_back(*place_in(levels, level));
  predict_rows(
      model, rows.data->x.view(),
      [&](size_t begin, MatrixView<const float> outputs) {
        scores.of_class.resize(outputs.cols());
        for (size_t i = 0; i < outputs.rows(); i++) {
          const float code = rows.labels.codes[begin + i];
          const auto output = outputs.row(i);
          const bool scored = std::ranges::all_of(output, [](float v) { return !std::isnan(v); });
          if (std::isnan(code) || !scored) continue;
          scores.levels.push_back(place[static_cast<size_t>(code)]);
          for (size_t c = 0; c < output.size(); c++) scores.of_class[c].push_back(ahead_of_others(output, c));
        }
      },
      context);
}

// How well a class's score finds the rows of one level among all others.
AreaUnderCurve area_of(const std::vector<double>& scores, std::span<const size_t> levels, size_t level) {
  std::vector<size_t> is_level;
  for (const size_t each : levels) is_level.push_back(each == level ? 1 : 0);
  return area_under_curve({scores}, is_level, 1);
}

// The level whose rows the class's score finds, if there is no doubt: it finds them better than by chance, and better
// than those of any other level, by their 95 % intervals.
std::optional<size_t> level_of_class(const LabelledScores& scores, size_t output, size_t levels) {
  std::vector<AreaUnderCurve> areas;
  for (size_t level = 0; level < levels; level++) {
    areas.push_back(area_of(scores.of_class[output], scores.levels, level));
  }
  for (size_t level = 0; level < levels; level++) {
    bool clear = areas[level].interval.low > kChance;
    for (size_t other = 0; other < levels; other++) {
      clear = clear && (other == level || areas[level].interval.low > areas[other].interval.high);
    }
    if (clear) return level;
  }
  return {};
}

// For each class its level, if there is no doubt about any.
std::vector<size_t> levels_of_classes(const LabelledScores& scores, size_t classes) {
  std::vector<size_t> found;
  if (scores.of_class.size() == 1) {  // the score of the second of two classes
    const auto second = level_of_class(scores, 0, classes);
    if (second) found = {1 - *second, *second};
    return found;
  }
  for (size_t c = 0; c < scores.of_class.size(); c++) {
    const auto level = level_of_class(scores, c, classes);
    if (!level || std::ranges::find(found, *level) != found.end()) return {};
    found.push_back(*level);
  }
  return found;
}

}  // namespace

bool counts_classes(const ModelInfo& info) {
  for (size_t c = 0; c < info.class_names.size(); c++) {
    if (info.class_names[c] != std::to_string(c)) return false;
  }
  return !info.class_names.empty();
}

TextLabels text_labels(const Table& table) {
  TextLabels made;
  if (!table.label) return made;
  const Column& column = table.columns[*table.label];
  made.column = column.name;
  std::set<std::string> found;
  std::vector<std::string> texts;
  for (size_t r = 0; r < table.rows(); r++) {
    const float value = table.values(r, *table.label);
    texts.push_back(std::isnan(value) ? std::string() : KnownLevels::text(column, value));
    if (!std::isnan(value)) found.insert(texts.back());
  }
  made.levels.assign(found.begin(), found.end());
  for (size_t r = 0; r < table.rows(); r++) {
    const bool missing = std::isnan(table.values(r, *table.label));
    const auto at = std::ranges::lower_bound(made.levels, texts[r]);
    made.codes.push_back(missing ? kMissing : static_cast<float>(at - made.levels.begin()));
  }
  return made;
}

AgreedNames agreed_class_names(const Model& model, std::span<const LabelledRows> rows, const Context& context) {
  const ModelInfo& info = model.info();
  std::set<std::string> found;
  std::string column;
  for (const LabelledRows& each : rows) {
    found.insert(each.labels.levels.begin(), each.labels.levels.end());
    if (column.empty()) column = each.labels.column;
  }
  const bool known =
      std::ranges::any_of(found, [&](const auto& text) { return place_in(info.class_names, text).has_value(); });
  if (found.empty() || known || info.class_names.empty()) return {};
  const std::vector<std::string> levels(found.begin(), found.end());
  if (!counts_classes(info) || levels.size() != info.class_names.size()) {
    constexpr size_t kShown = 5;
    std::vector<std::string> shown =
        quoted_names({levels.begin(), levels.begin() + static_cast<ptrdiff_t>(std::min(kShown, levels.size()))});
    if (levels.size() > kShown) shown.push_back(fmt::format("{} more", levels.size() - kShown));
    return {{},
            fmt::format("the labels in column {}, {}, are not among the model's classes, {}: how good the model is "
                        "remains unknown",
                        in_quotes(column), joined(shown), joined(quoted_names(info.class_names)))};
  }
  LabelledScores scores;
  for (const LabelledRows& each : rows) {
    if (!each.labels.levels.empty()) add_scores(model, each, levels, scores, context);
  }
  const std::vector<size_t> of_classes = levels_of_classes(scores, levels.size());
  const std::string own = joined(quoted_names(info.class_names));
  if (of_classes.size() != levels.size()) {
    fail_argument("classes", fmt::format(": expected the names of the model's classes {}, in this order, found none; "
                                         "the labels of column {} are {}, and what the model gives for {} does not "
                                         "tell which is which",
                                         own, in_quotes(column), joined(quoted_names(levels)),
                                         plural(scores.levels.size(), "row")));
  }
  AgreedNames made;
  for (const size_t level : of_classes) made.names.push_back(levels[level]);
  const std::string why = fmt::format("the scores tell so, for {} with a label", plural(scores.levels.size(), "row"));
  made.note = levels.size() == 2 ? fmt::format("the model's class 1 is taken for {}: {}", in_quotes(made.names[1]), why)
                                 : fmt::format("the model's classes {} are taken for {}: {}", own,
                                               joined(quoted_names(made.names)), why);
  return made;
}

TextLabels take_labels(Table& table) {
  TextLabels made = text_labels(table);
  if (!table.label) return made;
  table.columns[*table.label] = {.name = made.column, .kind = ColumnKind::categorical};
  for (size_t r = 0; r < table.rows(); r++) table.values(r, *table.label) = kMissing;
  return made;
}

void set_labels_by_name(const ModelInfo& before, const std::vector<std::string>& names, const TextLabels& labels,
                        Dataset& data) {
  data.class_names = names;
  if (labels.levels.empty()) return;
  const auto all_in = [&](const std::vector<std::string>& known) {
    return std::ranges::all_of(labels.levels,
                               [&](const std::string& level) { return place_in(known, level).has_value(); });
  };
  const std::vector<std::string>& own = before.class_names;
  const bool by_name = all_in(names);
  if (!by_name && !all_in(own)) {
    const auto odd = std::ranges::find_if(labels.levels, [&](const auto& level) { return !place_in(names, level); });
    fail_argument("classes", fmt::format(": expected a name for each label of column {}, which holds {}, found {}",
                                         in_quotes(labels.column), in_quotes(*odd), joined(quoted_names(names))));
  }
  data.label_name = labels.column;
  data.labels.assign(data.rows(), kMissing);
  for (size_t r = 0; r < data.rows(); r++) {
    if (std::isnan(labels.codes[r])) continue;
    const std::string& level = labels.levels[static_cast<size_t>(labels.codes[r])];
    data.labels[r] = static_cast<float>(*place_in(by_name ? names : own, level));
  }
}

}  // namespace assay
