// Model files of all kinds as graphs: ONNX, XGBoost's .json and .ubj, LightGBM's .txt. What a file is shows its
// content, not its name.
#pragma once

#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// A model file, plain, .gz or .xz. Both stop when the context is cancelled. Reading takes at most 16 times the bytes of
// the (unpacked) file: numbers of two characters become 8 bytes in a table and 8 more in a tensor.
OnnxModel read_model(const std::string& path, const Context& context = {});
// A model in memory; name is for messages. External data of ONNX is read from folder; refused when that is empty.
OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder,
                      const Context& context = {});

}  // namespace assay
