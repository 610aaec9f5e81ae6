// Reads a finished study back from its folder.
#pragma once

#include <string>

#include "assay/archive/finished_study.h"
#include "assay/core/context.h"

namespace assay {

// Reads study.json, the scores and explanations of every entry, and the times in run.json. study_json() of the result
// has the bytes of the file. The files are not trusted: what is wrong is an input error that names the file.
FinishedStudy read_study(const std::string& folder, const Context& context);

}  // namespace assay
