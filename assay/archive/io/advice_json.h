// The advice of a study as the object "advice" of study.json. docs/study-format.md describes every field.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "assay/archive/io/json_parts.h"
#include "assay/study/advice.h"
#include "assay/study/study.h"

namespace assay {

Json advice_json(const Study& study, const Advice& advice);

}  // namespace assay
