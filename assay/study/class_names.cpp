#include "assay/study/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/data/known_levels.h"
#include "assay/explain/target.h"
#include "assay/model/predict_rows.h"
#include "assay/model/renamed_classes.h"
#include "assay/study/quality.h"

namespace assay {
namespace {

constexpr double kClearShare = 0.5;

std::optional<size_t> place_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return {};
  return static_cast<size_t>(found - names.begin());
}

// How many rows with a label have it as the predicted class, if label number i is class number i.
struct InOrder {
  size_t right = 0;
  size_t rows = 0;
};

void count_in_order(const Model& model, const LabelledRows& rows, const std::vector<std::string>& levels,
                    InOrder& counted, const Context& context) {
  std::vector<size_t> place;
  for (const std::string& level : rows.labels.levels) place.push_back(*place_in(levels, level));
  predict_rows(
      model, rows.data->x.view(),
      [&](size_t begin, MatrixView<const float> outputs) {
        for (size_t i = 0; i < outputs.rows(); i++) {
          const float code = rows.labels.codes[begin + i];
          if (std::isnan(code)) continue;
          counted.rows++;
          if (place[static_cast<size_t>(code)] == predicted_class(model.info(), outputs.row(i))) counted.right++;
        }
      },
      context);
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
  InOrder counted;
  for (const LabelledRows& each : rows) {
    if (!each.labels.levels.empty()) count_in_order(model, each, levels, counted, context);
  }
  const bool reversed = levels.size() == 2 && 2 * counted.right < counted.rows;
  const size_t right = reversed ? counted.rows - counted.right : counted.right;
  const double share = static_cast<double>(right) / static_cast<double>(counted.rows);
  if (!(wilson_interval(right, counted.rows).low > kClearShare)) {
    fail_argument("classes",
                  fmt::format(": expected the names of the model's classes {}, in this order, found none; the labels "
                              "of column {} are {}, and {} of {} would be predicted right {}: too few to tell which is "
                              "which",
                              joined(quoted_names(info.class_names)), in_quotes(column), joined(quoted_names(levels)),
                              with_commas(right), plural(counted.rows, "row"),
                              levels.size() == 2 ? "at best" : "in the order of the alphabet"));
  }
  AgreedNames made{levels, {}};
  if (reversed) std::ranges::reverse(made.names);
  made.note =
      levels.size() == 2
          ? fmt::format("the model's class 1 is taken for {}: so {:.3g} % of {} with a label are predicted right",
                        in_quotes(made.names[1]), 100 * share, plural(counted.rows, "row"))
          : fmt::format(
                "the model's classes {} are taken for {}, in the order of the alphabet: so {:.3g} % of {} "
                "with a label are predicted right",
                joined(quoted_names(info.class_names)), joined(quoted_names(made.names)), 100 * share,
                plural(counted.rows, "row"));
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
