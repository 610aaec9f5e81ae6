#include "assay/report/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "assay/core/text.h"

namespace assay {
namespace {

void append(std::string& out, double value, int digits = 6) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "{:.{}g}", value, digits);
  } else {
    out += "null";
  }
}

template <class T>
std::string number_list(std::span<const T> values, int digits) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); i++) {
    if (i > 0) out += ',';
    append(out, static_cast<double>(values[i]), digits);
  }
  return out + "]";
}

}  // namespace

std::string json_text(std::string_view text) {
  const nlohmann::json quoted = std::string(text);
  return script_safe_json(quoted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string json_number(double value) {
  std::string out;
  append(out, value);
  return out;
}

std::string json_numbers(std::span<const double> values, int digits) { return number_list(values, digits); }
std::string json_numbers(std::span<const float> values, int digits) { return number_list(values, digits); }

std::string json_steps(std::span<const double> values) {
  constexpr double kSteps = 500;
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) return json_numbers(values);
    largest = std::max(largest, std::fabs(value));
  }
  const double step = largest > 0 ? largest / kSteps : 1;
  std::vector<long> steps;
  steps.reserve(values.size());
  for (const double value : values) steps.push_back(std::lround(value / step));
  return fmt::format(R"({{"step":{:.6g},"steps":[{}]}})", step, fmt::join(steps, ","));
}

std::string json_list(const std::vector<std::string>& parts) { return fmt::format("[{}]", fmt::join(parts, ",")); }

std::string json_object(const JsonMembers& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    out += json_text(name);
    out += ':';
    out += value;
  }
  return out + "}";
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(json_text(text));
  return json_list(parts);
}

std::string valid_text(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  // The JSON writer replaces such bytes.
  const nlohmann::json quoted = std::string(text);
  const std::string fixed = quoted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(fixed).get<std::string>();
}

std::string script_safe_json(std::string_view json) {
  const std::string valid = valid_text(json);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); i++) {
    const std::string_view rest = std::string_view(valid).substr(i);
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (rest[0] == '<' || rest[0] == '>' || rest[0] == '&') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(rest[0]));
    } else {
      out += rest[0];
    }
  }
  return out;
}

std::string cut_text(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
  return fmt::format("{}...", text.substr(0, end));
}

}  // namespace assay
