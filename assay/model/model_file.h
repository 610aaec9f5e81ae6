// Model files of all kinds as graphs: ONNX, XGBoost's .json and .ubj, LightGBM's .txt. What a file is shows its
// content, not its name.
#pragma once

#include <string>
#include <string_view>

#include "assay/model/graph/onnx.h"

namespace assay {

// A model file, plain, .gz or .xz.
OnnxModel read_model(const std::string& path);
// A model in memory; name is for messages. External data of ONNX is read from folder; refused when that is empty.
OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder);

}  // namespace assay
