// Runs a study in its folder, for the command line and the Python package (the front ends):
//
//   claim    the caller first makes, locks and claims the folder (ClaimedFolder)
//   inputs   inputs are recorded in settings.json, to check later that a resumed study has the same ones
//   open     the front end reads the rows and the model, or trains a model if there is none
//   plan     plan_study; what it chose is recorded in settings.json. If it chose fewer rows, the front end opens the
//            subject again. A study that is replaced is removed now, since this one can be made. The front end may
//            show the plan before the work begins
//   run      run_study; every finished part is kept in the folder (folder_store.h)
//   write    all other files (study_files.h)
//
// What only a front end can do is passed as functions: StudySteps. Making report.html is one of them, because report/
// is a later stage.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/archive/finished_study.h"
#include "assay/archive/folder_claim.h"
#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/find_cohorts.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"

namespace assay {

// What is studied. The front end owns all that the subject refers to, and keeps it until the study has run.
struct OpenedSubject {
  Subject subject;
  StudyFacts facts;                     // title, words for rows, pool and players, rows available, inputs
  std::vector<std::string> notes = {};  // plain sentences on the rows, for the plan
  CohortWish cohorts = {};              // the groups of rows that the user wants
};

struct StudySteps {
  // The files that the user named, with their hashes. Recorded before anything is trained on them.
  std::function<std::vector<StudyInput>()> inputs;
  // May be called more than once: each time what it returned before is gone. It applies the choices of rows and
  // background (study/choices.h), where there are such.
  std::function<OpenedSubject(const StudyChoices& choices)> open;
  // Called before the run, when the folder is this study's own; may be empty. finished: how many entries an earlier run
  // left in the folder.
  std::function<void(const OpenedSubject& opened, const StudyPlan& plan, size_t finished)> planned = {};
  // The text of report.html.
  std::function<std::string(const FinishedStudy& finished, const Subject& subject)> page;
};

struct PlannedSubject {
  OpenedSubject opened;
  StudyPlan plan;
};

// Opens what is studied and plans it, again with fewer rows if the time of options.seconds, of which opening is a part,
// is too short. `open` is that of StudySteps.
PlannedSubject open_and_plan(const std::function<OpenedSubject(const StudyChoices& choices)>& open,
                             StudyOptions options, const Context& context);

// Entries that are in the folder already are not made again. A study that fails before its first entry is finished
// leaves nothing in the folder, or the study that it would have replaced, if it fails before it is planned. A cancelled
// study can always be resumed. Fills facts.settings from the folder's.
// recorded: empty, or the folder of the same study made by another version or vector target, to be checked: every part
// is then made from recorded parts (study/run.h).
FinishedStudy run_study_in_folder(ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                                  const Context& context, const std::string& recorded = {});

}  // namespace assay
