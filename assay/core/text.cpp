#include "assay/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

// The length of the valid UTF-8 sequence at the start of the text; 0 when there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t count) {
    if (text.size() <= count) return false;
    for (size_t i = 1; i <= count; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return false;
    }
    return true;
  };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF && continues(1)) return 2;
  if ((byte(0) & 0xF0) == 0xE0 && continues(2)) {
    const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = byte(0) == 0xED && byte(1) > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4 && continues(3)) {
    const bool overlong = byte(0) == 0xF0 && byte(1) < 0x90;
    const bool beyond_unicode = byte(0) == 0xF4 && byte(1) > 0x8F;
    return overlong || beyond_unicode ? 0 : 4;
  }
  return 0;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

namespace {

// Whether a terminal may take this character of UTF-8 for an order: control characters, also those above ASCII (U+009B
// is the start of an escape sequence), line ends of Unicode, and what turns the direction of the text around it.
bool commands_terminal(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return (byte(0) == 0xC2 && byte(1) < 0xA0) || character == "\u061C";
  if (character.size() != 3) return false;
  return character == "\u200E" || character == "\u200F" || (character >= "\u2028" && character <= "\u202E") ||
         (character >= "\u2066" && character <= "\u2069");
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0 || commands_terminal(character)) {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return fmt::format("'{}'", one_line(text));
  // Never cut a UTF-8 sequence in two: what would be left of it is dropped.
  size_t end = kLongest;
  while (end > kLongest - 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", one_line(text.substr(0, end)));
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
