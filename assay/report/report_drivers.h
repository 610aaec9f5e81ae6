// What drives the model by one explanation, for the first picture of a report: sizes with intervals and the direction
// in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "assay/explain/subject.h"
#include "assay/study/advice.h"
#include "assay/study/study.h"

namespace assay {

// "higher raises" or "higher lowers"; empty if the correlation is not clear, or NaN.
std::string_view trend_words(double trend);

// The largest players, with what their values do to the explained value in words ("higher raises it", "A14 raises, A11
// lowers it most"): [{"feature": index, "size", "low", "high", "share", "direction"}, ...].
// show_levels: whether values from the file may be named.
std::string drivers_json(const StudyEntry& entry, const EntryAdvice& advice, const Subject& subject, bool show_levels);

}  // namespace assay
