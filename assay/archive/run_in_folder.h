// Runs a study into its folder. The command line and the Python package do it alike, by this one driver:
//
//   claim    ClaimedFolder makes, locks and claims the folder; the caller does this first
//   inputs   what goes in is recorded in settings.json, so that a study that goes on has the same inputs
//   open     the front end reads the rows and the model, and trains where there is none
//   plan     plan_study, told to the front end before the work begins
//   run      run_study; every finished part is kept in the folder (folder_store.h)
//   write    all other files (study_files.h)
//
// What only a front end can do comes as functions, the StudySteps. report.html is one of them: report/ is a later
// stage.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/archive/finished_study.h"
#include "assay/archive/folder_claim.h"
#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"

namespace assay {

// What is studied. The front end owns all that the subject refers to, until the study has run.
struct OpenedSubject {
  Subject subject;
  StudyFacts facts;                     // title, words for rows, pool and players, rows available, inputs
  std::vector<std::string> notes = {};  // plain sentences on the rows, for the plan
};

struct StudySteps {
  // The files that the user named, with their hashes. They are recorded before anything is trained on them.
  std::function<std::vector<StudyInput>()> inputs;
  std::function<OpenedSubject()> open;
  // Called before the run. finished: parts of the plan that an earlier run left in the folder. May be empty.
  std::function<void(const OpenedSubject& opened, const StudyPlan& plan, size_t finished)> planned = {};
  // The text of report.html.
  std::function<std::string(const FinishedStudy& finished, const Subject& subject)> page;
};

// Parts that the folder has are taken from there. The facts take what was said from the folder's settings. A study that
// fails before its first part is finished leaves nothing in the folder; one that is cancelled can always be gone on
// with. recorded: the folder of the same study by another version or vector target, where it is to be checked: every
// part is made from the recorded ones that it follows from (study/run.h). Empty otherwise.
FinishedStudy run_study_in_folder(const ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                                  const Context& context, const std::string& recorded = {});

}  // namespace assay
