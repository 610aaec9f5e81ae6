// What a model file says about itself beside its graph: pairs of a key and a text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// The text of a key, the first where there are several; null when there is none.
inline const std::string* find_metadata(const std::vector<std::pair<std::string, std::string>>& metadata,
                                        std::string_view key) {
  const auto found =
      std::ranges::find(metadata, key, [](const auto& entry) -> std::string_view { return entry.first; });
  return found == metadata.end() ? nullptr : &found->second;
}

// Empty if there is no such entry.
inline std::string metadata_text(const std::vector<std::pair<std::string, std::string>>& metadata,
                                 std::string_view key) {
  const std::string* found = find_metadata(metadata, key);
  return found == nullptr ? std::string() : *found;
}

// A JSON list of texts; empty when there is none. Anything else is an input error that starts with `where`.
std::vector<std::string> metadata_texts(const std::string& where,
                                        const std::vector<std::pair<std::string, std::string>>& metadata,
                                        std::string_view key);

}  // namespace assay
