#include "assay/model/model_file.h"

#include <filesystem>

#include "assay/data/io/bytes.h"
#include "assay/model/graph/onnx_parts.h"
#include "assay/model/trees/booster.h"
#include "assay/model/trees/lightgbm.h"
#include "assay/model/trees/xgboost.h"

namespace assay {

OnnxModel read_model(const std::string& path) {
  const std::string bytes = read_all(*open_bytes(path), kMostOnnxBytes);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_model(path, bytes, folder.empty() ? "." : folder);
}

OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder) {
  if (looks_like_xgboost(bytes)) return booster_graph(name, read_xgboost(name, bytes));
  if (looks_like_lightgbm(bytes)) return booster_graph(name, read_lightgbm(name, bytes));
  return parse_onnx(name, bytes, folder);
}

}  // namespace assay
