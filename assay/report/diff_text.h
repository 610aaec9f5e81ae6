// What `assay diff` says: the difference of two studies, for people and as JSON.
#pragma once

#include <string>

#include "assay/archive/diff.h"

namespace assay {

// all: also scores that did not change.
std::string diff_text(const StudyDiff& diff, bool all);
std::string diff_json(const StudyDiff& diff);

}  // namespace assay
