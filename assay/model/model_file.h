// Reads model files of all kinds as graphs: ONNX, XGBoost's .json and .ubj, LightGBM's .txt. The format is detected
// from content, not from the extension.
#pragma once

#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// A model file, plain, .gz or .xz. Both stop when the context is cancelled. docs/security.md states how much memory a
// file may take; tests/hostile measures it.
OnnxModel read_model(const std::string& path, const Context& context = {});
// A model in memory; name is for messages. External data of ONNX is read from folder; refused when that is empty.
OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder,
                      const Context& context = {});

}  // namespace assay
