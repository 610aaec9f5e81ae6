// The first screen of a finished study: how good the model is, what drives it, which explanation to use and what that
// costs. At most about 25 lines; everything else is in study_table() and study_conclusions().
#pragma once

#include <string>

#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

std::string first_screen(const Study& study, const Assessment& assessment, const StudyTimes& times);

}  // namespace assay
