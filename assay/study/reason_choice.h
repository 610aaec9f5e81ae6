// Which of a study's explanations reasons are taken from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/advice.h"
#include "assay/study/study.h"

namespace assay {

struct ReasonChoice {
  size_t entry = 0;  // a method of the study
  std::string why;   // one sentence
};

// The recommended explanation, if it is a method that adds up. Otherwise the faithful method that adds up and is
// nearest to it: by the mean distance of unit vectors over the rows. If there is none, the recommended one. name: one
// that the user wants instead; empty: none. An input error if the study recommends nothing, and for aggregates, which
// cannot be made again with another background.
ReasonChoice choose_for_reasons(const Study& study, const Advice& advice, std::string_view name);

// Explanations of the study's methods that are faithful, add up and speak for themselves (no aliases), for agreement.
std::vector<const Explanations*> faithful_methods(const Study& study, const Advice& advice);

}  // namespace assay
