#include "assay/core/rounding.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "assay/core/text.h"

namespace assay {
namespace {

// Numbers in sentences are printed with a few digits. Whole ones are counts, which are printed with all.
constexpr double kPrinted = 1e-2;

bool is_whole(std::string_view number) { return number.find_first_of(".e") == std::string_view::npos; }

struct Token {
  std::string_view words;   // up to the number
  std::string_view number;  // empty at the end
};

Token next_token(std::string_view& text) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t begin = std::min(text.find_first_of(kDigits), text.size());
  size_t end = begin;
  while (end < text.size()) {
    const char c = text[end];
    const bool exponent = (c == '-' || c == '+') && end > begin && text[end - 1] == 'e';
    const bool inside = (c == '.' || c == 'e') && end + 1 < text.size() &&
                        std::string_view("0123456789+-").find(text[end + 1]) != std::string_view::npos;
    if (kDigits.find(c) == std::string_view::npos && !exponent && !inside) break;
    end++;
  }
  const Token token{text.substr(0, begin), text.substr(begin, end - begin)};
  text.remove_prefix(end);
  return token;
}

}  // namespace

bool same_sentence(std::string_view recorded, std::string_view found) {
  while (!recorded.empty() || !found.empty()) {
    const Token a = next_token(recorded);
    const Token b = next_token(found);
    if (a.words != b.words || a.number.empty() != b.number.empty()) return false;
    if (a.number == b.number) continue;
    if (is_whole(a.number) && is_whole(b.number)) return false;
    double x = 0;
    double y = 0;
    std::from_chars(a.number.data(), a.number.data() + a.number.size(), x);
    std::from_chars(b.number.data(), b.number.data() + b.number.size(), y);
    if (!RoundingCheck::agree(x, y, kPrinted * std::max(std::fabs(x), std::fabs(y)))) return false;
  }
  return true;
}

void RoundingCheck::words(const std::string& what, const std::string& recorded, const std::string& found) {
  if (recorded != found) fail(fmt::format("{}: recorded {}, found {}", what, in_quotes(recorded), in_quotes(found)));
}

bool RoundingCheck::numbers(const std::string& what, double recorded, double found, double tolerance) {
  if (recorded == found) return true;
  if (!agree(recorded, found, tolerance)) {
    fail(fmt::format("{}: recorded {}, found {}, which may be {:.2g} apart", what, recorded, found, tolerance));
    return false;
  }
  if (tolerance > 0 && !std::isnan(recorded)) most_ = std::max(most_, std::fabs(recorded - found) / tolerance);
  return true;
}

void RoundingCheck::sentences(const std::string& what, const std::vector<std::string>& recorded,
                              const std::vector<std::string>& found) {
  if (!std::ranges::equal(recorded, found, same_sentence)) words(what, joined(recorded), joined(found));
}

void RoundingCheck::fail(std::string difference) {
  if (difference_.empty()) difference_ = std::move(difference);
}

}  // namespace assay
