#include "assay/model/metadata.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

std::vector<std::string> metadata_texts(const std::string& where,
                                        const std::vector<std::pair<std::string, std::string>>& metadata,
                                        std::string_view key) {
  const std::string* text = find_metadata(metadata, key);
  if (text == nullptr) return {};
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const bool list =
      json.is_array() && std::all_of(json.begin(), json.end(), [](const auto& each) { return each.is_string(); });
  if (!list) fail_input(fmt::format("{}: its metadata {} must be a JSON list of texts", where, in_quotes(key)));
  return json.get<std::vector<std::string>>();
}

}  // namespace assay
