// The names that a ZipMap gives to the columns of a classifier's scores.
#pragma once

#include <string>
#include <vector>

#include "assay/model/graph/onnx.h"

namespace assay {

// The keys of the maps as text, in the order of the columns.
std::vector<std::string> zip_map_keys(const OnnxNode& node);

}  // namespace assay
