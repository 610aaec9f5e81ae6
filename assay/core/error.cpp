#include "assay/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <system_error>

namespace assay {
namespace {

// Levenshtein distance; names here are short, so the quadratic form is enough.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

void fail_input(std::string_view where, std::string_view expected, std::string_view found) {
  throw Error(ErrorKind::input, fmt::format("{}: expected {}, found {}", where, expected, found));
}

void fail_input(std::string message) { throw Error(ErrorKind::input, std::move(message)); }

void fail_io(std::string_view path, std::string_view action, int error_number) {
  throw Error(ErrorKind::io, fmt::format("{}: cannot {}: {}", path, action,
                                         std::generic_category().message(error_number)));
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > kLongest) {
    // Never cut a UTF-8 sequence in two: drop the continuation bytes and their lead.
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (out.size() > 1 && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "...";
  }
  return out + "'";
}

std::string suggestion(std::string_view unknown, const std::vector<std::string>& known) {
  // Names come from outside: a very long one is no typing slip and is not worth the quadratic search.
  if (unknown.size() > 64) return "";
  size_t best = std::max<size_t>(1, (unknown.size() + 1) / 3) + 1;
  const std::string* match = nullptr;
  for (const auto& name : known) {
    if (name.size() > 64) continue;
    const size_t distance = edit_distance(unknown, name);
    if (distance < best) {
      best = distance;
      match = &name;
    }
  }
  return match ? fmt::format(" (did you mean {}?)", in_quotes(*match)) : "";
}

std::string joined(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace assay
