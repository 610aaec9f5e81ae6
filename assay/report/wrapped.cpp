#include "assay/report/wrapped.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/text.h"

namespace assay {
namespace {

// The words of a text; a number stays with its error and its percent sign.
std::vector<std::string> unbroken_words(const std::string& text) {
  std::vector<std::string> words;
  bool glue = false;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, to - from);
    from = to + 1;
    if (word.empty()) continue;
    if (!words.empty() && (glue || word == "+-" || word.starts_with('%'))) {
      words.back() += fmt::format(" {}", word);
    } else {
      words.push_back(word);
    }
    glue = word == "+-";
  }
  return words;
}

}  // namespace

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string wrapped(std::string_view sentence, std::string_view start, std::string_view indent, size_t width) {
  std::string out;
  std::string line(start);
  bool fresh = true;  // no word on the line yet
  for (const std::string& word : unbroken_words(one_line(sentence))) {
    if (!fresh && code_points(line) + 1 + code_points(word) > width) {
      out += fmt::format("{}\n", line);
      line = indent;
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  return fmt::format("{}{}\n", out, line);
}

}  // namespace assay
