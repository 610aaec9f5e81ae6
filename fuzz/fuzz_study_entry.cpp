// Any text as the files of a study's folder: scores of an entry, study.json, the manifest, settings. Parts that fit
// together, or an assay::Error, nothing else. What was read can be written and read again, to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/report/manifest.h"
#include "assay/report/study_json.h"
#include "assay/report/study_settings.h"
#include "assay/study/io/entry_json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_share(double value) { return value >= 0 && value <= 1; }

void check_entry(std::string_view text) {
  const assay::StudyEntry entry = assay::entry_from_json("fuzz.json", text);
  require(assay::valid_stem(entry.stem));
  for (const assay::Scores& scores : entry.scores) {
    require(scores.standard_error.empty() || scores.standard_error.size() == scores.values.size());
    require(is_share(scores.coverage) && !(scores.interval.low > scores.interval.high));
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
  const std::string written = assay::entry_json(entry);
  require(assay::entry_json(assay::entry_from_json("again.json", written)) == written);
}

void check_study(std::string_view text) {
  const assay::StudySummary study = assay::study_summary_from_json("fuzz.json", text);
  std::set<std::string> stems;
  for (const assay::EntrySummary& entry : study.entries) {
    require(assay::valid_stem(entry.stem) && stems.insert(assay::lower_case(entry.stem)).second);
    require(entry.scores.size() == study.criteria.size());
    for (const assay::ScoreSummary& score : entry.scores) require(is_share(score.coverage));
  }
}

void check_manifest(std::string_view text) {
  const assay::Manifest manifest = assay::manifest_from_json("fuzz.json", text);
  for (const auto& [name, hash] : manifest.outputs) {
    require(!name.empty() && name[0] != '/' && hash.size() == 64);
    const std::string inside = '/' + name + '/';
    require(inside.find("/../") == std::string::npos);
  }
  const std::string written = assay::manifest_json(manifest.inputs, manifest.outputs);
  const assay::Manifest again = assay::manifest_from_json("again.json", written);
  require(assay::manifest_json(again.inputs, again.outputs) == written);
}

void check_settings(std::string_view text) {
  const assay::StudySettings settings = assay::settings_from_json("fuzz.json", std::string(text));
  const std::string written = assay::settings_json(settings);
  require(assay::settings_json(assay::settings_from_json("again.json", written)) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (void (*check)(std::string_view) : {check_entry, check_study, check_manifest, check_settings}) {
    try {
      check(text);
    } catch (const assay::Error&) {
    }
  }
  return 0;
}
