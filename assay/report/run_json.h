// run.json: what depends on the machine and the day, kept apart from study.json so that the latter is the same bytes
// wherever a study runs. docs/study-format.md describes every field.
#pragma once

#include <string>

#include "assay/study/study.h"

namespace assay {

// Indented, ends with a newline. Entries are those of the study, in its order; one without times has null.
std::string run_json(const Study& study, const StudyTimes& times);

}  // namespace assay
