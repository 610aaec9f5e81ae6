// How a study was made and how it ran, as pairs of names and texts for a report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/study/study.h"

namespace assay {

using FactPairs = std::vector<std::pair<std::string, std::string>>;

FactPairs fact_pairs(const Study& study);
// "the model gives 0.28 for them on average, 0.29 for the pool"; empty where nothing is known.
std::string model_at_reference(const ReferenceFacts& facts);
FactPairs run_pairs(const StudyTimes& times);
// [[name, value], ...]
std::string json_pairs(const FactPairs& pairs);
std::string json_of_inputs(const Study& study);
std::string json_of_left_out(const Study& study);

}  // namespace assay
