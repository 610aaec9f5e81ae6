#include "assay/explain/reasons/reason_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/json_depth.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kPlaceholders = {"feature", "value", "reference", "share", "rank"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kUsualTexts = {{
    {"above", "{feature} of {value} is above {reference}"},
    {"below", "{feature} of {value} is below {reference}"},
    {"number", "{feature} of {value}"},
    {"level", "{feature} is {value}, most often it is {reference}"},
    {"common_level", "{feature} is {value}"},
    {"missing", "{feature} is missing"},
    {"group", "{feature}: {value}"},
    {"unknown", "{feature}"},
}};
constexpr size_t kLongestTemplate = 10000;

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const auto& [kind, text] : kUsualTexts) names.emplace_back(kind);
  return names;
}

// Calls text(part) and placeholder(name) for the parts of a template, in order. fail(found): braces that do not pair.
template <class Text, class Placeholder, class Fail>
void walk(std::string_view whole, const Text& text, const Placeholder& placeholder, const Fail& fail) {
  for (size_t at = 0; at < whole.size();) {
    const size_t brace = std::min(whole.find_first_of("{}", at), whole.size());
    text(whole.substr(at, brace - at));
    if (brace == whole.size()) return;
    if (brace + 1 < whole.size() && whole[brace + 1] == whole[brace]) {
      text(whole.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    const size_t end = whole.find('}', brace);
    if (whole[brace] == '}' || end == std::string_view::npos) fail();
    placeholder(whole.substr(brace + 1, end - brace - 1));
    at = end + 1;
  }
}

void check_template(const std::string& where, std::string_view whole) {
  if (whole.size() > kLongestTemplate) {
    fail_input(where, fmt::format("a text of at most {} bytes", kLongestTemplate), fmt::format("{}", whole.size()));
  }
  const auto ignore = [](std::string_view) {};
  const auto check = [&](std::string_view name) {
    if (std::ranges::find(kPlaceholders, name) != kPlaceholders.end()) return;
    std::vector<std::string> known;
    for (const std::string_view each : kPlaceholders) known.push_back(fmt::format("{{{}}}", each));
    fail_input(where, joined(known, "or"), in_quotes(fmt::format("{{{}}}", name)));
  };
  walk(whole, ignore, check, [&] {
    fail_input(where, "braces around the name of a placeholder, and {{ or }} for a brace itself", in_quotes(whole));
  });
}

json parsed_templates(std::string_view where, std::string_view text) {
  limit_json_depth(where, text, 4);  // ours are 3 deep
  try {
    return json::parse(text);
  } catch (const json::parse_error& problem) {
    fail_input(where, "templates as JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const json::exception&) {
    fail_input(where, "templates as JSON", "a number out of range");
  }
}

// The texts of TEXTS, by kind.
std::map<std::string, std::string, std::less<>> texts_in(const std::string& where, const json& given) {
  std::map<std::string, std::string, std::less<>> made;
  const auto add = [&](const std::string& at, const std::string& kind, const json& text) {
    if (!text.is_string()) fail_input(at, "a text", in_quotes(text.dump()));
    check_template(at, text.get_ref<const std::string&>());
    made[kind] = text.get<std::string>();
  };
  if (!given.is_object()) {
    for (const std::string& kind : kind_names()) add(where, kind, given);
    return made;
  }
  for (const auto& [kind, text] : given.items()) {
    if (!std::ranges::any_of(kUsualTexts, [&](const auto& each) { return each.first == kind; })) {
      fail_unknown(where, kind_names(), kind);
    }
    add(fmt::format("{}, {}", where, in_quotes(kind)), kind, text);
  }
  return made;
}

// What values are called.
std::map<std::string, std::string, std::less<>> names_in(const std::string& where, const json& given) {
  if (!given.is_object()) fail_input(where, R"(an object, {"A151": "rented", ...})", in_quotes(given.dump()));
  std::map<std::string, std::string, std::less<>> made;
  for (const auto& [value, name] : given.items()) {
    if (!name.is_string()) fail_input(fmt::format("{}, {}", where, in_quotes(value)), "a text", in_quotes(name.dump()));
    made[value] = name.get<std::string>();
  }
  return made;
}

// What is known of a reason's value, and the kind of its template.
std::string kind_of(const Reason& reason, const ShownFeature* shown) {
  if (shown == nullptr || !shown->known) return "unknown";
  if (shown->several) return "group";
  if (shown->missing[reason.row]) return "missing";
  const double number = shown->numbers[reason.row];
  if (std::isnan(number)) {
    return shown->reference.empty() || shown->reference == shown->values[reason.row] ? "common_level" : "level";
  }
  if (number > shown->reference_number) return "above";
  return number < shown->reference_number ? "below" : "number";
}

std::string percent(double share) {
  return std::isnan(share) ? "an unknown share" : fmt::format("{:.0f} %", 100 * share);
}

// The reference as text. A number has as many digits as it takes for the text to be on the reference's side of the
// row's number: "189 is above 189" helps nobody.
std::string reference_text(const ShownFeature& shown, size_t row) {
  const double number = shown.numbers[row];
  const double reference = shown.reference_number;
  if (!std::isfinite(number) || !std::isfinite(reference) || number == reference) return shown.reference;
  constexpr int kMostDigits = 17;
  std::string text = shown.reference;
  for (int digits = 4; digits <= kMostDigits; digits++) {
    std::string plain = text;
    std::erase(plain, ',');
    const double told = parse_double(plain);
    const double value = parse_double(shown.values[row]);
    if (number > reference ? value > told : value < told) break;
    text = fmt::format("{:.{}g}", reference, digits);
  }
  return text;
}

std::string filled(const ReasonTemplates& templates, std::string_view whole, const std::string& feature,
                   const Reason& reason, const ShownFeature* shown) {
  const auto known = [&](const std::string& value) {
    return value.empty() ? "unknown" : templates.called(feature, value);
  };
  std::string out;
  walk(
      whole, [&](std::string_view text) { out += text; },
      [&](std::string_view name) {
        if (name == "feature") out += feature;
        if (name == "value") out += known(reason.value);
        if (name == "reference") out += known(shown == nullptr ? std::string() : reference_text(*shown, reason.row));
        if (name == "share") out += percent(reason.share);
        if (name == "rank") fmt::format_to(std::back_inserter(out), "{}", reason.rank);
      },
      [] {});
  return out;
}

}  // namespace

ReasonTemplates::ReasonTemplates() {
  for (const auto& [kind, text] : kUsualTexts) usual_.emplace(kind, text);
}

ReasonTemplates ReasonTemplates::from_json(std::string_view where, std::string_view text,
                                           const std::vector<std::string>& features) {
  const json given = parsed_templates(where, text);
  if (!given.is_object()) {
    fail_input(where, R"(an object, {"against": ..., "for": ..., "features": ..., "values": ...})",
               in_quotes(given.dump()));
  }
  ReasonTemplates made;
  const auto each_feature = [&](const std::string& at, const json& texts, const auto& take) {
    if (!texts.is_object()) fail_input(at, R"(an object, {"age": ...})", in_quotes(texts.dump()));
    for (const auto& [feature, own] : texts.items()) {
      if (std::ranges::find(features, feature) == features.end()) {
        fail_input(at, "features or groups of the explanations",
                   fmt::format("{}{}", in_quotes(feature), suggestion(feature, features)));
      }
      take(feature, own, fmt::format("{}, {}", at, in_quotes(feature)));
    }
  };
  for (const auto& [key, texts] : given.items()) {
    const std::string at = fmt::format("{}, {}", where, in_quotes(key));
    if (key == "features") {
      each_feature(at, texts, [&](const std::string& feature, const json& own, const std::string& place) {
        made.by_feature_[feature] = texts_in(place, own);
      });
    } else if (key == "values") {
      each_feature(at, texts, [&](const std::string& feature, const json& own, const std::string& place) {
        made.values_[feature] = names_in(place, own);
      });
    } else if (key == "against" || key == "for") {
      made.by_direction_[direction_of(key)] = texts_in(at, texts);
    } else {
      fail_unknown(where, {"against", "for", "features", "values"}, key);
    }
  }
  return made;
}

std::string ReasonTemplates::called(const std::string& feature, const std::string& value) const {
  const auto names = values_.find(feature);
  if (names == values_.end()) return value;
  const auto name = names->second.find(value);
  return name == names->second.end() ? value : name->second;
}

const std::string& ReasonTemplates::find(ReasonDirection direction, const std::string& feature,
                                         const std::string& kind) const {
  const auto in = [&](const auto& map, const auto& key) -> const std::string* {
    const auto texts = map.find(key);
    if (texts == map.end()) return nullptr;
    const auto text = texts->second.find(kind);
    return text == texts->second.end() ? nullptr : &text->second;
  };
  if (const std::string* own = in(by_feature_, feature)) return *own;
  if (const std::string* own = in(by_direction_, direction)) return *own;
  return usual_.at(kind);
}

void add_texts(Reasons& reasons, const std::vector<ShownFeature>& shown, const ReasonTemplates& templates) {
  for (Reason& reason : reasons.list) {
    if (reason.rank == 0) continue;
    const ShownFeature* own = shown.empty() ? nullptr : &shown[reason.player];
    const std::string& feature = reasons.features[reason.player];
    if (own != nullptr && own->known) reason.value = own->values[reason.row];
    const std::string& text = templates.find(reasons.direction, feature, kind_of(reason, own));
    reason.text = filled(templates, text, feature, reason, own);
  }
  if (shown.empty()) return;
  std::vector<std::string> unknown;
  for (size_t j = 0; j < shown.size(); j++) {
    if (!shown[j].known) unknown.push_back(in_quotes(reasons.features[j]));
  }
  if (unknown.empty()) return;
  const size_t count = unknown.size();
  constexpr size_t kTold = 3;
  if (count > kTold) {
    unknown.resize(kTold);
    unknown.push_back(fmt::format("{} more", count - kTold));
  }
  reasons.notes.push_back(
      fmt::format("the value of {} is not known: the rows have no column of that name", joined(unknown)));
}

}  // namespace assay
