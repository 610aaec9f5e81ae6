// study.json: the results of a study and how they were made. docs/study-format.md describes every field. The same study
// gives the same bytes: no times, and paths as the user wrote them (weights beside a model: where they were found).
//
// A StudySummary is the part of it that `assay gate`, `assay diff` and `assay verify` read back.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/evaluate/scores.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// Indented, ends with a newline. Rankings with `ranks` must have one item for each entry.
std::string study_json(const Study& study, const Assessment& assessment);

struct CriterionSummary {
  std::string spec;  // with options of user or plan: "faithfulness:subset=2"; unique
  std::string name;  // without options: "faithfulness"
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
  std::string stem;  // names its files; valid_stem(), and unique even where case does not count
  EntryKind kind = EntryKind::method;
  std::vector<ScoreSummary> scores = {};  // one for each criterion, in their order
};

// What explanations are recommended for.
inline constexpr std::string_view kAims[] = {"overall", "faithfulness", "stability", "simplicity"};

struct StudySummary {
  std::string title;
  std::string version;  // of Assay
  uint64_t seed = 0;
  size_t rows = 0;  // that were studied
  std::vector<CriterionSummary> criteria = {};
  std::vector<EntrySummary> entries = {};
  std::vector<StudyInput> inputs = {};
  // (aim, name of the entry) for each recommendation of the advice; aims without one are left out.
  std::vector<std::pair<std::string, std::string>> recommended = {};
};

// The deepest nesting that readers of study.json accept. The files that we write are 8 deep.
inline constexpr size_t kStudyJsonDepth = 12;

// The text is not trusted: all that is read is checked, and what is wrong is an input error that starts with `where`.
// Unknown fields are ignored.
StudySummary study_summary_from_json(std::string_view where, std::string_view text);

}  // namespace assay
