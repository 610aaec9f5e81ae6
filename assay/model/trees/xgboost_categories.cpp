#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/error.h"
#include "assay/model/trees/xgboost_parts.h"

namespace assay {
namespace {

// Bytes of all texts in one array of numbers from -128 to 255, and where each begins. Nothing where they are not all
// ASCII: from a table of pandas XGBoost 3.1 and 3.2 count characters for bytes, so that texts begin elsewhere and the
// last ones are cut; from one of Arrow they do not, and the file does not tell which it was.
std::vector<std::string> category_texts(std::string_view where, FlatDocument::Value encoding) {
  const auto offsets = xgboost_numbers(where, encoding, "offsets");
  const auto values = xgboost_numbers(where, encoding, "values");
  for (const double value : values) {
    if (!(value >= -128 && value <= 255)) fail_input(where, "bytes in values", fmt::format("{}", value));
  }
  std::vector<std::string> texts;
  if (std::ranges::any_of(values, [](double value) { return value < 0 || value > 127; })) return texts;
  for (size_t k = 0; k + 1 < offsets.size(); k++) {
    const double begin = std::floor(offsets[k]);
    const double end = std::floor(offsets[k + 1]);
    // Each begins where the last one ended, so they take no more than there is.
    if (!(begin >= 0 && begin <= end && end <= static_cast<double>(values.size()))) {
      fail_input(where, fmt::format("offsets in order and within {} bytes", values.size()),
                 fmt::format("{} before {}", begin, end));
    }
    std::string text;
    for (const double value : values.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))) {
      text += static_cast<char>(static_cast<int>(value));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

// Numbers as a table would show them: whole ones without a point, others with as few digits as tell them apart. Those
// beyond 2^53, which a double does not hold exactly, are called by their code, and then `unsure` is set: a cell that
// holds such a number is refused, for it is none of these texts.
std::vector<std::string> category_numbers(std::string_view where, FlatDocument::Value encoding, bool& unsure) {
  std::vector<std::string> texts;
  for (const double value : xgboost_numbers(where, encoding, "values")) {
    if (!(std::abs(value) < 0x1p53)) {
      unsure = true;
      texts.push_back(fmt::format("code {}", texts.size()));
      continue;
    }
    texts.push_back(value == std::floor(value) ? fmt::format("{}", static_cast<int64_t>(value))
                                               : fmt::format("{}", value));
  }
  return texts;
}

}  // namespace

std::string read_xgboost_categories(std::string_view where, FlatDocument::Value model,
                                    std::span<const std::string> types, Booster& booster) {
  for (size_t i = 0; i < types.size(); i++) {
    if (types[i] == "c") booster.categories[i];
  }
  const auto cats = model["cats"];
  if (!cats.exists()) return {};
  const auto encodings = xgboost_list(where, cats, "enc");
  if (!encodings.empty() && encodings.size() != booster.features) {
    fail_input(where, fmt::format("categories (enc) of {} features", booster.features),
               fmt::format("{}", encodings.size()));
  }
  std::string unsure;
  for (size_t i = 0; i < encodings.size(); i++) {
    const std::string place = fmt::format("{}: categories of feature {}", where, i);
    bool some_unsure = false;
    auto texts = encodings[i]["offsets"].exists() ? category_texts(place, encodings[i])
                                                  : category_numbers(place, encodings[i], some_unsure);
    if (some_unsure || (texts.empty() && !xgboost_numbers(place, encodings[i], "values").empty())) {
      unsure += fmt::format("{}{}", unsure.empty() ? "" : ", ", i);
    }
    if (texts.empty()) continue;
    std::set<std::string_view> seen;
    for (const std::string& text : texts) {
      if (!seen.insert(text).second) fail_input(place, "each once", fmt::format("{} twice", in_quotes(text)));
    }
    booster.categories[i] = std::move(texts);
  }
  return unsure;
}

}  // namespace assay
