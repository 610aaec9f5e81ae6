#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::string wanted_and_found(const std::string& text, const char* wanted) {
  return fmt::format("expected {}, found {}", wanted, in_quotes(text));
}

}  // namespace

std::string whole_number(const std::string& text) {
  return parsed<uint64_t>(text) ? "" : wanted_and_found(text, "a whole number from 0 to 2^64 - 1");
}

std::string positive_whole_number(const std::string& text) {
  const auto number = parsed<uint64_t>(text);
  return number && *number > 0 ? "" : wanted_and_found(text, "a whole number from 1 on");
}

std::string distance_or_radius(const std::string& text) {
  const auto number = parsed<double>(text);
  return number && *number >= 0 && std::isfinite(*number) ? "" : wanted_and_found(text, "a number from 0 on");
}

std::string share_of_one(const std::string& text) {
  const auto number = parsed<double>(text);
  return number && *number >= 0 && *number <= 1 ? "" : wanted_and_found(text, "a number from 0 to 1");
}

void refuse_json_and_table(const std::string& out, const Session& session) {
  if (!session.json || out != "-") return;
  fail_input("--out", "the name of a file beside --json, which prints to standard output itself", "-");
}

std::optional<OutputUnit> unit_of(const std::string& word) {
  if (word == "margin") return OutputUnit::margin;
  if (word == "probability") return OutputUnit::probability;
  if (word == "log_odds") return OutputUnit::log_odds;
  return {};
}

}  // namespace assay::cli
