// The field `quality` of study.json's facts.
#pragma once

#include "assay/archive/io/json_parts.h"
#include "assay/study/quality.h"

namespace assay {

Json quality_json(const ModelQuality& quality);
// facts: the object that has the field. Files of earlier versions have none: then only the accuracy is known.
ModelQuality quality_from_json(const JsonFields& facts);

}  // namespace assay
