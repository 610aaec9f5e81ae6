#include "assay/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
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

// The code point of a valid sequence of this length.
char32_t code_point(std::string_view sequence) {
  constexpr std::array<unsigned char, 5> kFirstBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t point = static_cast<unsigned char>(sequence[0]) & kFirstBits[sequence.size()];
  for (const char c : sequence.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return point;
}

// Unicode's control characters beyond ASCII, format characters, and separators of lines and paragraphs (its categories
// Cc, Cf, Zl and Zp, version 16). They are invisible, and a terminal obeys some: U+009B begins a command as ESC [ does,
// and U+202E turns the rest of the line around.
struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kUnseen[] = {
    {0x80, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
};

bool unseen(char32_t point) {
  return std::ranges::any_of(kUnseen, [&](const Range& r) { return point >= r.first && point <= r.last; });
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

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (const char32_t point = length > 1 ? code_point(text.substr(0, length)) : 0; unseen(point)) {
      out += fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(point));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
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

std::vector<std::string_view> split_at(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
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
