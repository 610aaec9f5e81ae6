#include "assay/data/io/json_depth.h"

#include <fmt/format.h>

#include "assay/core/error.h"

namespace assay {

void limit_json_depth(std::string_view where, std::string_view text, size_t most) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quoted && c == '\\') {
      i++;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > most) fail_input(where, fmt::format("JSON at most {} deep", most), "deeper");
    } else if (!quoted && (c == ']' || c == '}') && depth > 0) {
      depth--;
    }
  }
}

}  // namespace assay
