// run.json: the times and the machine of a run. They are not in study.json, so that it has the same bytes wherever a
// study runs. docs/study-format.md describes every field.
#pragma once

#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

// Indented, ends with a newline. Has the study's entries in their order; null for one without times.
std::string run_json(const Study& study, const StudyTimes& times);

// The text is not trusted: what is wrong is an input error that starts with `where`.
StudyTimes times_from_json(std::string_view where, std::string_view text);

}  // namespace assay
