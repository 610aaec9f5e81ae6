// study.json: the results of a study and where they came from, the same bytes for the same study. No clock times; paths
// as the user wrote them. docs/study-format.md describes every field.
//
// study_json writes it whole. What `assay gate` and `assay diff` need of it is read back as a StudySummary.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/evaluate/scores.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// Indented, ends with a newline. Scores and, where it ranks, the assessment must have one item for each entry.
std::string study_json(const Study& study, const Assessment& assessment);

struct CriterionSummary {
  std::string spec;  // as the user wrote it: "faithfulness:subset=2"; unique
  std::string name;  // of the table: "faithfulness"
  Direction direction = Direction::neither;
};

// What is undefined is NaN.
struct ScoreSummary {
  double mean = NAN;
  double mean_error = NAN;
  Interval interval = {NAN, NAN};
  double coverage = 0;  // 0 to 1
};

struct EntrySummary {
  std::string name;  // unique
  std::string stem;  // of its files, valid_stem(): safe as the name of a file; unique whatever the case
  EntryKind kind = EntryKind::method;
  std::vector<ScoreSummary> scores = {};  // one for each criterion, in their order
};

struct StudySummary {
  std::string title;
  std::string version;  // of Assay
  uint64_t seed = 0;
  size_t rows = 0;  // that were studied
  std::vector<CriterionSummary> criteria = {};
  std::vector<EntrySummary> entries = {};
  std::vector<StudyInput> inputs = {};
};

// Of study.json, for whoever reads more of it; our own are 8 deep.
inline constexpr size_t kStudyJsonDepth = 12;

// The text is hostile: all that is read is checked, and what does not fit is an input error that starts with `where`.
// Fields that are not known are ignored.
StudySummary study_summary_from_json(std::string_view where, std::string_view text);

}  // namespace assay
