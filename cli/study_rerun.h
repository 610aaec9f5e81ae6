// Runs a study again from what its folder says, for `assay verify`.
#pragma once

#include <string>

#include "cli/commands.h"

namespace assay::cli {

// Where inputs are now; empty: where they were.
struct StudyOverrides {
  std::string model = {};
  std::string data = {};
  std::string pool = {};
};

// The study of `folder`, made anew in the folder `into`. Prints nothing. Where it was recorded by this version with
// this vector target, everything is made anew and must have the same bytes. Otherwise every part is made from the
// recorded ones that it follows from, beginning with the model where the study trained it: compare_study_folders says
// how near each must be.
void rerun_study(const std::string& folder, const std::string& into, const StudyOverrides& where,
                 const Session& session);

}  // namespace assay::cli
