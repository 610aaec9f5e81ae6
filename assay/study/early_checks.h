// What is wrong with the words of a study whatever its model is: found before a table is read or a network is trained.
#pragma once

#include <string_view>

#include "assay/study/plan.h"

namespace assay {

// No study takes less: reading, trying a method and writing the files alone take longer.
inline constexpr double kLeastStudySeconds = 0.05;

// The seconds that a word means (seconds_from). An argument error about "time" if no study could be that short.
double study_seconds(std::string_view word);

// Throws an argument error about "members" unless each of them is a method, and one of options.methods if these are
// named.
void check_members(const StudyOptions& options);

}  // namespace assay
