// The output of `assay diff`: the difference of two studies, as text and as JSON.
#pragma once

#include <string>

#include "assay/archive/diff.h"

namespace assay {

// all: also show scores that did not change.
std::string diff_text(const StudyDiff& diff, bool all);
std::string diff_json(const StudyDiff& diff);

}  // namespace assay
