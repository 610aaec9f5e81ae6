// Groups of rows, as study.json holds them.
#pragma once

#include <string>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/study/study.h"

namespace assay {

Json cohorts_json(const Study& study);
// document: study.json. Older ones have no groups. What does not fit the features is an input error.
StudyCohorts cohorts_from_json(const JsonFields& document, const std::vector<std::string>& features);

}  // namespace assay
