// What a plan chose where the user said nothing and where the answer may depend on a clock or on more than the
// settings: pairs of a name and a value, as text.
//
// They are recorded with the study's settings. A study that is resumed or verified takes recorded choices as they are,
// so its results depend on no clock.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Names that plan_study chooses under a time limit. Front ends apply kRowsChoice and kBackgroundChoice when they open
// the rows, and plan_study the others.
inline constexpr std::string_view kTimeChoice = "time";        // the limit in seconds; there is one: all is chosen
inline constexpr std::string_view kMethodsChoice = "methods";  // joined by commas
inline constexpr std::string_view kRowsChoice = "sample";      // how many rows are studied
inline constexpr std::string_view kBackgroundChoice = "background";   // how many rows of the pool stand for absent ones
inline constexpr std::string_view kAggregatesChoice = "aggregators";  // "all", "none" or some
inline constexpr std::string_view kCurvesChoice = "curves";           // "all" or "none"
inline constexpr std::string_view kVariationsChoice = "variations";   // "all" or "none"
inline constexpr std::string_view kMembersChoice = "members";         // joined by commas

struct StudyChoices {
  std::vector<std::pair<std::string, std::string>> made = {};  // each name once

  bool empty() const { return made.empty(); }
  // Null if it was not chosen.
  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(made, name, &std::pair<std::string, std::string>::first);
    return found == made.end() ? nullptr : &found->second;
  }
  bool is(std::string_view name, std::string_view value) const {
    const std::string* found = find(name);
    return found != nullptr && *found == value;
  }
  void set(std::string_view name, std::string value) {
    const auto found = std::ranges::find(made, name, &std::pair<std::string, std::string>::first);
    if (found != made.end()) {
      found->second = std::move(value);
    } else {
      made.emplace_back(name, std::move(value));
    }
  }
  friend bool operator==(const StudyChoices&, const StudyChoices&) = default;
};

}  // namespace assay
