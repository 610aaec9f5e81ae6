// Any text as study.json: a summary whose parts fit together, or an assay::Error.
#include <set>
#include <string>

#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/study_json.h"
#include "assay/core/text.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::fuzz::require;
  assay::fuzz::succeeds([&] {
    const auto study = assay::study_summary_from_json("fuzz.json", assay::fuzz::bytes_of(data, size));
    std::set<std::string> stems;
    for (const assay::EntrySummary& entry : study.entries) {
      require(assay::valid_stem(entry.stem) && stems.insert(assay::lower_case(entry.stem)).second);
      require(entry.scores.size() == study.criteria.size());
      for (const assay::ScoreSummary& score : entry.scores) require(score.coverage >= 0 && score.coverage <= 1);
    }
  });
  return 0;
}
