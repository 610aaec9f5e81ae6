// Opens what a study is about: model (trained if there is none), rows, pool, players, targets and references.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/study/find_cohorts.h"
#include "assay/study/study.h"
#include "cli/model_rows.h"
#include "cli/study_arguments.h"

namespace assay::cli {

// Do not move: the subject holds pointers into it.
struct OpenedStudy {
  ModelRows rows;
  StudyFacts facts;                // those that only the program knows
  std::vector<std::string> notes;  // plain sentences on the rows
  CohortWish cohorts;              // the groups of rows that --cohort names

  Subject subject() const { return rows.subject.view(); }
};

// Fills in defaults: the parts of a data set, the name of the folder. An input error says what is missing.
void fill_in(StudyArguments& arguments);

// Throws an input error if model, data or pool is not a regular file (data and pool may also name a data set), or if an
// input file is inside the study's folder, where files may be replaced or removed.
void check_inputs(const StudyArguments& arguments, const Session& session);

// One class or output of a model, as --target says.
TargetChoice studied_target(const ModelInfo& info, const std::string& said);

// The files that the arguments name, with their hashes.
std::vector<StudyInput> file_inputs(const StudyArguments& arguments, const Session& session);

// Without a model, trains one and writes it to `folder`/model.onnx, unless an earlier run left one there.
std::unique_ptr<OpenedStudy> open_study(StudyArguments arguments, const std::string& folder, const Session& session);

}  // namespace assay::cli
