// A study that has run or was read back from its folder, with its assessment and times.
#pragma once

#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

struct FinishedStudy {
  Study study;
  Assessment assessment;
  StudyTimes times;
};

}  // namespace assay
