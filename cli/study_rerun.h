// Runs a study again from what its folder says, for `assay verify`.
#pragma once

#include <string>

#include "cli/commands.h"

namespace assay::cli {

// New paths of inputs that were moved; empty: not moved.
struct StudyOverrides {
  std::string model = {};
  std::string data = {};
  std::string pool = {};
};

// Runs the study of `folder` again in the folder `into`. Prints nothing. If this version and vector target made the
// study, all is made again and must have the same bytes. Otherwise every part is made from recorded parts; a model that
// the study trained is copied. compare_study_folders says how closely each part must agree.
void rerun_study(const std::string& folder, const std::string& into, const StudyOverrides& where,
                 const Session& session);

}  // namespace assay::cli
