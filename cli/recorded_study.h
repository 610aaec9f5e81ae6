// Opens a finished study again: what its folder holds, and the model and rows that it is of.
//
// Inputs must be as they were: a file with another hash is an input error that names it. Other rows or another model
// would give other results, without a word.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "assay/archive/finished_study.h"
#include "assay/archive/study_settings.h"
#include "cli/commands.h"
#include "cli/study_arguments.h"
#include "cli/study_rerun.h"
#include "cli/study_subject.h"

namespace assay::cli {

// An input error if the file is in the study's folder, which holds what its manifest lists, and nothing else.
void require_outside(std::string_view option, const std::string& file, const std::string& folder);

// The settings of a study, as arguments with all defaults filled in, and a session that has the study's seed and knows
// where moved files are now.
struct RecordedSettings {
  StudySettings settings;
  StudyArguments arguments;
  Session session;
};

// where: new paths of inputs that were moved. An input error if the study has no such input.
RecordedSettings read_recorded_settings(const std::string& folder, const StudyOverrides& where, const Session& session);

// The model and rows of a study: of its own pool and reference, or, with `other_reference`, of the whole pool (no
// sample of it) against that one. An input error if an input has changed since, and if a model that the study trained
// is not in its folder.
std::unique_ptr<OpenedStudy> open_recorded_subject(const std::string& folder, const RecordedSettings& recorded,
                                                   const std::optional<ReferenceWords>& other_reference = {});

// Do not move: the subject of `opened` holds pointers into it.
struct RecordedStudy {
  RecordedSettings recorded;
  FinishedStudy finished;
  std::unique_ptr<OpenedStudy> opened;

  Subject subject() const { return opened->subject(); }
};

// Prints nothing and writes nothing. Cost: reads the folder, and opens model and rows as the study did.
RecordedStudy open_recorded_study(const std::string& folder, const StudyOverrides& where, const Session& session);

}  // namespace assay::cli
