// From a plan to the files of a finished study: what `assay study` and the Python package do alike once both know what
// is studied.
#pragma once

#include <cstddef>
#include <string>

#include "assay/core/context.h"
#include "assay/report/study_settings.h"
#include "assay/study/assess.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"

namespace assay {

struct FinishedStudy {
  Study study;
  Assessment assessment;
  StudyTimes times;
};

// Parts of the plan that an earlier run left in the folder.
size_t finished_parts(const StudyPlan& plan, const std::string& folder);

// Runs the plan into a folder that is claimed, and writes everything (study_files.h). Parts that the folder has are
// taken from there. The facts take what was said from the settings. cells: whether report.html shows values of rows.
// recorded: the folder of the same study by another version or vector target, where it is to be checked: every part is
// made from the recorded ones that it follows from (run.h). Empty otherwise.
FinishedStudy finish_study(const StudySubject& subject, const StudyPlan& plan, StudyFacts facts,
                           const std::string& folder, const StudySettings& settings, bool cells, const Context& context,
                           const std::string& recorded = {});

}  // namespace assay
