#include "assay/core/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "assay/core/error.h"

namespace assay {
namespace {

// The parts of text between separators that stand outside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view where, std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth < 0) fail_input(where, "a '[' before each ']'", in_quotes(text));
    if (text[i] == separator && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (depth > 0) fail_input(where, "a ']' for each '['", in_quotes(text));
  parts.push_back(text.substr(begin));
  return parts;
}

Spec parse_item(std::string_view where, std::string_view text) {
  const auto parts = split_outside_brackets(where, text, ':');
  if (parts[0].empty()) fail_input(where, "a name, as in name:option=value", in_quotes(text));
  Spec spec{std::string(parts[0])};
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos || equals == 0) {
      fail_input(where, fmt::format("option=value after {}:", one_line(parts[0])), in_quotes(parts[i]));
    }
    const std::string name(parts[i].substr(0, equals));
    if (std::ranges::any_of(spec.options, [&](const auto& option) { return option.first == name; })) {
      fail_input(where, fmt::format("option {} of {} once", in_quotes(name), one_line(parts[0])), "it twice");
    }
    spec.options.emplace_back(name, parts[i].substr(equals + 1));
  }
  return spec;
}

// Whether all of the text is a number of this range, which NaN is not.
template <class Number>
bool parse_within(std::string_view text, Number& value, Number least, Number most) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty() && value >= least && value <= most;
}

// The same, or the word, which leaves the value empty.
template <class Number>
bool parse_or_word(std::string_view text, std::string_view word, std::optional<Number>& value, Number least,
                   Number most) {
  value.reset();
  return text == word || parse_within(text, value.emplace(), least, most);
}

std::string real_range(double least, double most) {
  if (std::isinf(least) && std::isinf(most)) return "any number";
  if (std::isinf(most)) return fmt::format("{} or more", least);
  if (std::isinf(least)) return fmt::format("{} or less", most);
  return fmt::format("{} to {}", least, most);
}

std::string whole_range(int64_t least, int64_t most) {
  return most == INT64_MAX ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
}

}  // namespace

std::vector<Spec> parse_specs(std::string_view where, std::string_view text) {
  std::vector<Spec> specs;
  for (const auto item : split_outside_brackets(where, text, ',')) specs.push_back(parse_item(where, item));
  return specs;
}

Spec parse_spec(std::string_view where, std::string_view text) {
  auto specs = parse_specs(where, text);
  if (specs.size() != 1) fail_input(where, "one item", fmt::format("{}", specs.size()));
  return std::move(specs[0]);
}

std::string spec_text(const Spec& spec) {
  std::string text = spec.name;
  for (const auto& [name, value] : spec.options) text += fmt::format(":{}={}", name, value);
  return text;
}

OptionVisitor::OptionVisitor(const Spec& spec) : spec_(spec), used_(spec.options.size()) {}

const std::string* OptionVisitor::given(std::string_view name) {
  for (size_t i = 0; i < spec_.options.size(); ++i) {
    if (spec_.options[i].first == name) {
      used_[i] = true;
      return &spec_.options[i].second;
    }
  }
  return nullptr;
}

void OptionVisitor::refuse(std::string_view name, std::string_view expected, std::string_view found) const {
  fail_input(fmt::format("{}, option {}", one_line(spec_.name), name), expected, in_quotes(found));
}

void OptionVisitor::list(OptionKind kind, std::string_view name, std::string value, std::string_view meaning,
                         std::string_view unit, std::string range) {
  fields_.push_back(
      {kind, std::string(name), std::move(value), std::string(meaning), std::string(unit), std::move(range)});
}

void OptionVisitor::integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit,
                            int64_t least, int64_t most) {
  const std::string range = whole_range(least, most);
  if (const std::string* text = given(name); text != nullptr && !parse_within(*text, value, least, most)) {
    refuse(name, fmt::format("a whole number, {}", range), *text);
  }
  list(OptionKind::integer, name, fmt::format("{}", value), meaning, unit, range);
}

void OptionVisitor::real(std::string_view name, double& value, std::string_view meaning, std::string_view unit,
                         double least, double most) {
  const std::string range = real_range(least, most);
  if (const std::string* text = given(name); text != nullptr && !parse_within(*text, value, least, most)) {
    refuse(name, fmt::format("a number, {}", range), *text);
  }
  list(OptionKind::real, name, fmt::format("{}", value), meaning, unit, range);
}

void OptionVisitor::flag(std::string_view name, bool& value, std::string_view meaning) {
  if (const std::string* text = given(name)) {
    if (*text != "true" && *text != "false") refuse(name, "true or false", *text);
    value = *text == "true";
  }
  list(OptionKind::flag, name, value ? "true" : "false", meaning, "", "true or false");
}

void OptionVisitor::choice(std::string_view name, std::string& value, std::string_view meaning,
                           const std::vector<std::string>& words) {
  if (const std::string* text = given(name)) {
    if (std::ranges::find(words, *text) == words.end()) refuse(name, joined(words, "or"), *text);
    value = *text;
  }
  list(OptionKind::word, name, value, meaning, "", joined(words, "or"));
}

void OptionVisitor::real_or(std::string_view name, std::optional<double>& value, std::string_view word,
                            std::string_view meaning, std::string_view unit, double least, double most) {
  const std::string range = real_range(least, most);
  if (const std::string* text = given(name); text != nullptr && !parse_or_word(*text, word, value, least, most)) {
    refuse(name, fmt::format("{}, or a number, {}", word, range), *text);
  }
  list(OptionKind::real, name, value ? fmt::format("{}", *value) : std::string(word), meaning, unit,
       fmt::format("{}, or {}", word, range));
}

void OptionVisitor::integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word,
                               std::string_view meaning, std::string_view unit, int64_t least, int64_t most) {
  const std::string range = whole_range(least, most);
  if (const std::string* text = given(name); text != nullptr && !parse_or_word(*text, word, value, least, most)) {
    refuse(name, fmt::format("{}, or a whole number, {}", word, range), *text);
  }
  list(OptionKind::integer, name, value ? fmt::format("{}", *value) : std::string(word), meaning, unit,
       fmt::format("{}, or {}", word, range));
}

void OptionVisitor::reals(std::string_view name, std::vector<double>& value, std::string_view meaning,
                          std::string_view unit, double least, double most) {
  const std::string range = real_range(least, most);
  if (const std::string* text = given(name)) {
    std::string_view inside = *text;
    // An open bracket is an error of the list itself, so brackets come in pairs here.
    if (inside.starts_with('[') && inside.ends_with(']')) inside = inside.substr(1, inside.size() - 2);
    value.clear();
    for (size_t begin = 0; begin <= inside.size();) {
      const size_t end = std::min(inside.find(',', begin), inside.size());
      double number = 0;
      if (!parse_within(inside.substr(begin, end - begin), number, least, most)) {
        refuse(name, fmt::format("numbers in [ ] joined by commas, each {}", range), *text);
      }
      value.push_back(number);
      begin = end + 1;
    }
  }
  list(OptionKind::reals, name, fmt::format("[{}]", fmt::join(value, ",")), meaning, unit,
       fmt::format("numbers in [ ], each {}", range));
}

void OptionVisitor::finish() const {
  std::vector<std::string> names;
  for (const OptionInfo& field : fields_) names.push_back(field.name);
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const auto& name = spec_.options[i].first;
    const std::string known = names.empty() ? "it has none" : fmt::format("its options are {}", joined(names));
    fail_input(fmt::format("{} has no option {}{}; {}", one_line(spec_.name), in_quotes(name), suggestion(name, names),
                           known));
  }
}

}  // namespace assay
