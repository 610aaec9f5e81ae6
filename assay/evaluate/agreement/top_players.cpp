#include "assay/evaluate/agreement/top_players.h"

#include <fmt/format.h>

namespace assay {

std::optional<Refusal> refuses_top(std::optional<int64_t> k, size_t players) {
  if (!k || static_cast<size_t>(*k) <= players) return {};
  return fmt::format("needs k of at most the {} players, and k is {}", players, *k);
}

}  // namespace assay
