// Any text as groups of columns: players that partition the columns, or an assay::Error.
#include "assay/explain/players.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::string> kNames = {"a", "b", "c", "d"};
  assay::fuzz::succeeds([&] {
    const auto players = assay::players_from_json("fuzz.json", assay::fuzz::bytes_of(data, size), kNames);
    assay::fuzz::require(players.columns() == kNames.size() && players.size() > 0 && players.size() <= kNames.size());
    for (const auto& columns : players.columns_of_players()) assay::fuzz::require(!columns.empty());
  });
  return 0;
}
