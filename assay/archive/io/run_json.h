// run.json: what depends on the machine and the day, kept apart from study.json so that the latter is the same bytes
// wherever a study runs. docs/study-format.md describes every field.
#pragma once

#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

// Indented, ends with a newline. Entries are those of the study, in its order; one without times has null.
std::string run_json(const Study& study, const StudyTimes& times);

// The text is hostile: what does not fit is an input error that starts with `where`.
StudyTimes times_from_json(std::string_view where, std::string_view text);

}  // namespace assay
