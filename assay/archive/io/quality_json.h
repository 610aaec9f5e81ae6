// The fields `quality` of study.json.
#pragma once

#include "assay/archive/io/json_parts.h"
#include "assay/study/quality.h"

namespace assay {

Json quality_json(const ModelQuality& quality);
// facts: the object that has the field. Files of earlier versions have none: then only the accuracy is known.
ModelQuality quality_from_json(const JsonFields& facts);
// What quality_json made.
ModelQuality quality_from_fields(const JsonFields& fields);

}  // namespace assay
