// A finished study read back from its folder, whole: for those who want to look at it again.
#pragma once

#include <string>

#include "assay/archive/finished_study.h"
#include "assay/core/context.h"

namespace assay {

// study.json, scores and explanations of every entry: all that the study had, so that study_json() gives the bytes of
// the file back; and the times of run.json. The files are hostile: what does not fit is an input error that names the
// file.
FinishedStudy read_study(const std::string& folder, const Context& context);

}  // namespace assay
