// What stands for absent features: the field `reference_facts` of study.json's facts, and `reference` of its advice.
#pragma once

#include "assay/archive/io/json_parts.h"
#include "assay/study/study.h"

namespace assay {

Json reference_facts_json(const ReferenceFacts& facts);
// facts: the object that has the field. Files of older versions do not have it.
ReferenceFacts reference_facts_from(const JsonFields& facts);

}  // namespace assay
