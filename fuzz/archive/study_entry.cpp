// Any text as scores/NAME.json of a study: an entry whose parts fit together and which is written again to the same
// bytes, or an assay::Error.
#include <string>

#include "assay/archive/io/entry_json.h"
#include "fuzz/harness.h"

namespace {

using assay::fuzz::require;

void check(const assay::StudyEntry& entry) {
  require(assay::valid_stem(entry.stem));
  for (const assay::Scores& scores : entry.scores) {
    require(scores.standard_error.empty() || scores.standard_error.size() == scores.values.size());
    require(scores.coverage >= 0 && scores.coverage <= 1 && !(scores.interval.low > scores.interval.high));
    for (const assay::ScoreTable& table : scores.tables) {
      require(table.labels.empty() || table.labels.size() == table.rows.size());
      for (const auto& row : table.rows) require(row.size() == table.columns.size());
    }
  }
  for (const assay::Curve& curve : entry.curves) {
    require(curve.mean.size() == curve.x.size() && curve.error.size() == curve.x.size());
    require(curve.coverage.size() == curve.x.size());
  }
  for (const assay::Variation& each : entry.variations) require(each.mean.size() == each.criteria.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    const assay::StudyEntry entry = assay::entry_from_json("fuzz.json", assay::fuzz::bytes_of(data, size));
    check(entry);
    const std::string written = assay::entry_json(entry);
    require(assay::entry_json(assay::entry_from_json("again.json", written)) == written);
  });
  return 0;
}
