// Which texts stand for the codes of categorical features.
//
// The Python package writes the categories of the category columns of a training frame, in the order of its columns,
// but not which columns those are. Mostly they are LightGBM's categorical features. But it also writes ordered
// categories, which are numbers to LightGBM, and category columns that the user's own list of categorical features
// leaves out. And it does not write plain numbers of that list, which are categorical to LightGBM.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/trees/lightgbm_parts.h"

namespace assay {
namespace {

using Texts = std::vector<std::string>;

// What feature_infos say of one feature: "[least:most]" of a number, "code:code:..." of a category, where -1 stands for
// missing values, or "none" of one that never varied.
struct FeatureInfo {
  bool category = false;
  bool known = false;
  bool whole = true;
  double least = 0;
  double most = 0;

  // Whether a column of so many categories may look like this.
  bool fits(size_t categories) const {
    return !known || (whole && least >= 0 && most < static_cast<double>(categories));
  }
};

FeatureInfo info_of(std::string_view where, std::string_view word) {
  FeatureInfo made;
  if (word == "none") return made;
  made.known = true;
  made.category = !word.starts_with('[');
  std::string_view list = word;
  if (!made.category) {
    list.remove_prefix(1);
    if (list.ends_with(']')) list.remove_suffix(1);
  }
  bool first = true;
  const auto add = [&](std::string_view text) {
    double value = 0;
    if (!parse_lightgbm_number(text, value)) {
      fail_input(where, "[least:most], a list of categories or none", in_quotes(word));
    }
    if (made.category && value < 0) return;
    made.whole = made.whole && value == std::trunc(value) && std::isfinite(value);
    made.least = first ? value : std::min(made.least, value);
    made.most = first ? value : std::max(made.most, value);
    first = false;
  };
  for_lightgbm_words(list, add, ':');
  return made;
}

// As a table has it: whole numbers without a point.
std::string category_text(std::string_view where, const nlohmann::json& category) {
  if (category.is_string()) return category.get<std::string>();
  if (category.is_boolean()) return category.get<bool>() ? "True" : "False";
  if (category.is_number_integer()) return category.dump();
  if (!category.is_number_float()) fail_input(where, "texts and numbers", category.type_name());
  const auto value = category.get<double>();
  if (value == std::trunc(value) && std::fabs(value) < 1e15) return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{}", value);
}

// One list of texts for each category column of the frame.
std::vector<Texts> frame_texts(std::string_view name, std::string_view frame) {
  std::vector<Texts> made;
  if (frame.empty()) return made;
  const std::string where = fmt::format("{}, pandas_categorical", name);
  const auto json = nlohmann::json::parse(frame, nullptr, false);
  if (json.is_null()) return made;
  if (!json.is_array())
    fail_input(where, "a list of lists in JSON", json.is_discarded() ? "what is no JSON" : json.type_name());
  for (const auto& column : json) {
    if (!column.is_array())
      fail_input(where, "a list of lists in JSON", fmt::format("{} in the list", column.type_name()));
    Texts& texts = made.emplace_back();
    for (const auto& category : column) texts.push_back(category_text(where, category));
  }
  return made;
}

// The columns of the lists, in order: the categorical features where there are as many, else the only columns that they
// fit. Nothing where there is more than one way, or none.
std::optional<std::vector<size_t>> columns_of(const std::vector<Texts>& lists, const std::vector<FeatureInfo>& infos,
                                              const std::map<size_t, Texts>& categorical) {
  if (lists.size() == categorical.size()) {
    std::vector<size_t> made;
    for (const auto& [feature, texts] : categorical) {
      if (!infos[feature].fits(lists[made.size()].size())) break;
      made.push_back(feature);
    }
    if (made.size() == lists.size()) return made;
  }
  // The way of the first columns that fit and that of the last ones enclose all others.
  std::vector<size_t> first;
  for (size_t f = 0; f < infos.size() && first.size() < lists.size(); f++) {
    if (infos[f].fits(lists[first.size()].size())) first.push_back(f);
  }
  std::vector<size_t> last;
  for (size_t f = infos.size(); f-- > 0 && last.size() < lists.size();) {
    if (infos[f].fits(lists[lists.size() - 1 - last.size()].size())) last.push_back(f);
  }
  std::reverse(last.begin(), last.end());
  if (first.size() != lists.size() || first != last) return std::nullopt;
  return first;
}

}  // namespace

void add_lightgbm_categories(std::string_view name, std::string_view infos, std::string_view listed,
                             std::string_view frame, Booster& booster) {
  std::vector<FeatureInfo> known;
  const std::string where = fmt::format("{}, feature_infos", name);
  for_lightgbm_words(infos, [&](std::string_view word) { known.push_back(info_of(where, word)); });
  if (known.empty()) known.resize(booster.features);
  if (known.size() != booster.features) {
    fail_input(where, fmt::format("{} of them", booster.features), fmt::format("{}", known.size()));
  }
  for (size_t f = 0; f < known.size(); f++) {
    if (known[f].category) booster.categories[f];
  }
  // Those that never varied are told by the parameter alone, which may also hold names.
  const auto add_listed = [&](std::string_view word) {
    int64_t feature = 0;
    if (!parse_lightgbm_number(word, feature) || feature < 0) return;
    if (static_cast<uint64_t>(feature) < booster.features) booster.categories[static_cast<size_t>(feature)];
  };
  for_lightgbm_words(listed, add_listed, ',');

  std::vector<Texts> lists = frame_texts(name, frame);
  if (lists.empty()) return;
  const auto columns = columns_of(lists, known, booster.categories);
  if (!columns) {
    add_lightgbm_note(booster,
                      "The file has the texts of categories but does not tell of which features: categories are the "
                      "codes of the training table, 0, 1, 2 and so on.");
    return;
  }
  for (size_t i = 0; i < lists.size(); i++) booster.categories[(*columns)[i]] = std::move(lists[i]);
}

}  // namespace assay
