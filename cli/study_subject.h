// What a study is of, opened: model (trained where there is none), rows, pool, players, targets and references.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/study/study.h"
#include "cli/model_rows.h"
#include "cli/study_arguments.h"

namespace assay::cli {

// Do not move it: the subject holds pointers into it.
struct OpenedStudy {
  ModelRows rows;
  StudyFacts facts;                // what the program knows of it
  std::vector<std::string> notes;  // plain sentences on the rows

  Subject subject() const { return rows.subject.view(); }
};

// Fills in what the user left unsaid: the parts of a data set, the name of the folder. An input error says what is
// missing.
void complete(StudyArguments& arguments);

// An input error for an input that is no data set and no regular file, or that lies in the folder of the study, whose
// files come and go.
void check_inputs(const StudyArguments& arguments, const Session& session);

// The files that the arguments name, with their hashes.
std::vector<StudyInput> file_inputs(const StudyArguments& arguments, const Session& session);

// Trains where there is no model: into `folder`/model.onnx, unless an earlier run left it there.
std::unique_ptr<OpenedStudy> open_study(StudyArguments arguments, const std::string& folder, const Session& session);

}  // namespace assay::cli
