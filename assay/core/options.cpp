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

template <class Number>
bool parse_whole(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

std::string real_range(double least, double most) {
  if (std::isinf(least) && std::isinf(most)) return "any number";
  if (std::isinf(most)) return fmt::format("{} or more", least);
  if (std::isinf(least)) return fmt::format("{} or less", most);
  return fmt::format("{} to {}", least, most);
}

std::string integer_range(int64_t least, int64_t most) {
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

namespace detail {

OptionSetter::OptionSetter(const Spec& spec) : spec_(spec), used_(spec.options.size()) {}

const std::string* OptionSetter::take(std::string_view name) {
  known_.emplace_back(name);
  for (size_t i = 0; i < spec_.options.size(); ++i) {
    if (spec_.options[i].first == name) {
      used_[i] = true;
      return &spec_.options[i].second;
    }
  }
  return nullptr;
}

void OptionSetter::refuse(std::string_view name, std::string_view expected, std::string_view found) const {
  fail_input(fmt::format("{}, option {}", one_line(spec_.name), name), expected, in_quotes(found));
}

void OptionSetter::integer(std::string_view name, int64_t& value, std::string_view, std::string_view, int64_t least,
                           int64_t most) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  if (!parse_whole(*text, value) || value < least || value > most) {
    refuse(name, fmt::format("a whole number, {}", integer_range(least, most)), *text);
  }
}

void OptionSetter::real(std::string_view name, double& value, std::string_view, std::string_view, double least,
                        double most) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  // Written so that NaN is refused too.
  if (!parse_whole(*text, value) || !(value >= least && value <= most)) {
    refuse(name, fmt::format("a number, {}", real_range(least, most)), *text);
  }
}

void OptionSetter::flag(std::string_view name, bool& value, std::string_view) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  if (*text != "true" && *text != "false") refuse(name, "true or false", *text);
  value = *text == "true";
}

void OptionSetter::choice(std::string_view name, std::string& value, std::string_view,
                          const std::vector<std::string>& words) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  if (std::ranges::find(words, *text) == words.end()) refuse(name, joined(words, "or"), *text);
  value = *text;
}

void OptionSetter::real_or(std::string_view name, std::optional<double>& value, std::string_view word, std::string_view,
                           std::string_view, double least, double most) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  double number = 0;
  if (*text == word) {
    value.reset();
  } else if (parse_whole(*text, number) && number >= least && number <= most) {
    value = number;
  } else {
    refuse(name, fmt::format("{}, or a number, {}", word, real_range(least, most)), *text);
  }
}

void OptionSetter::integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word,
                              std::string_view, std::string_view, int64_t least, int64_t most) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  int64_t number = 0;
  if (*text == word) {
    value.reset();
  } else if (parse_whole(*text, number) && number >= least && number <= most) {
    value = number;
  } else {
    refuse(name, fmt::format("{}, or a whole number, {}", word, integer_range(least, most)), *text);
  }
}

void OptionSetter::reals(std::string_view name, std::vector<double>& value, std::string_view, std::string_view,
                         double least, double most) {
  const std::string* text = take(name);
  if (text == nullptr) return;
  std::string_view inside = *text;
  // An open bracket is an error of the list itself, so brackets come in pairs here.
  if (inside.starts_with('[') && inside.ends_with(']')) inside = inside.substr(1, inside.size() - 2);
  std::vector<double> numbers;
  for (size_t begin = 0; begin <= inside.size();) {
    const size_t end = std::min(inside.find(',', begin), inside.size());
    double number = 0;
    if (!parse_whole(inside.substr(begin, end - begin), number) || !(number >= least && number <= most)) {
      refuse(name, fmt::format("numbers in [ ] joined by commas, each {}", real_range(least, most)), *text);
    }
    numbers.push_back(number);
    begin = end + 1;
  }
  value = std::move(numbers);
}

void OptionSetter::finish() const {
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const auto& name = spec_.options[i].first;
    const std::string known = known_.empty() ? "it has none" : fmt::format("its options are {}", joined(known_));
    fail_input(fmt::format("{} has no option {}{}; {}", one_line(spec_.name), in_quotes(name), suggestion(name, known_),
                           known));
  }
}

void OptionLister::integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit,
                           int64_t least, int64_t most) {
  fields.push_back({std::string(name), fmt::format("{}", value), std::string(meaning), std::string(unit),
                    integer_range(least, most)});
}

void OptionLister::real(std::string_view name, double& value, std::string_view meaning, std::string_view unit,
                        double least, double most) {
  fields.push_back(
      {std::string(name), fmt::format("{}", value), std::string(meaning), std::string(unit), real_range(least, most)});
}

void OptionLister::flag(std::string_view name, bool& value, std::string_view meaning) {
  fields.push_back({std::string(name), value ? "true" : "false", std::string(meaning), "", "true or false"});
}

void OptionLister::choice(std::string_view name, std::string& value, std::string_view meaning,
                          const std::vector<std::string>& words) {
  fields.push_back({std::string(name), value, std::string(meaning), "", joined(words, "or")});
}

void OptionLister::real_or(std::string_view name, std::optional<double>& value, std::string_view word,
                           std::string_view meaning, std::string_view unit, double least, double most) {
  fields.push_back({std::string(name), value ? fmt::format("{}", *value) : std::string(word), std::string(meaning),
                    std::string(unit), fmt::format("{}, or {}", word, real_range(least, most))});
}

void OptionLister::integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word,
                              std::string_view meaning, std::string_view unit, int64_t least, int64_t most) {
  fields.push_back({std::string(name), value ? fmt::format("{}", *value) : std::string(word), std::string(meaning),
                    std::string(unit), fmt::format("{}, or {}", word, integer_range(least, most))});
}

void OptionLister::reals(std::string_view name, std::vector<double>& value, std::string_view meaning,
                         std::string_view unit, double least, double most) {
  fields.push_back({std::string(name), fmt::format("[{}]", fmt::join(value, ",")), std::string(meaning),
                    std::string(unit), fmt::format("numbers in [ ], each {}", real_range(least, most))});
}

}  // namespace detail
std::string spec_text(const Spec& spec) {
  std::string text = spec.name;
  for (const auto& [name, value] : spec.options) text += fmt::format(":{}={}", name, value);
  return text;
}

}  // namespace assay
