// A finished study read back from its folder, whole: for those who want to look at it again.
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

// study.json, scores and explanations of every entry: all that the study had, so that study_json() of it and of
// assess() gives the bytes of the file back. The files are hostile: what does not fit is an input error that names the
// file.
Study read_study(const std::string& folder, const Context& context);

// What its run.json says of the time that it took.
StudyTimes read_study_times(const std::string& folder, const Context& context);

}  // namespace assay
