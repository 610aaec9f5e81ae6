#include "assay/model/model_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/model/graph/onnx_parts.h"
#include "assay/model/trees/booster.h"
#include "assay/model/trees/lightgbm.h"
#include "assay/model/trees/xgboost.h"

namespace assay {
namespace {

constexpr std::string_view kWanted =
    "an ONNX model, or what save_model of XGBoost (.json, .ubj) or LightGBM (.txt) writes";

// Files that people take for models, or that are something else altogether; nothing where it may be ONNX.
std::optional<std::string_view> other_kind(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  if (start.empty()) return "an empty file";
  // Protocols 2 to 5 begin with their number.
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) {
    return "a Python pickle, which is not opened here";
  }
  if (start.starts_with("PK\x03\x04")) return "a zip archive, as PyTorch, Keras and NumPy write";
  if (start.starts_with("booster[0]:")) return "a dump of the trees as text";
  const size_t first = start.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (start[first] == '{' || start[first] == '[');
  if (json && start.find("\"tree_info\"") != std::string_view::npos) return "a dump of the trees (dump_model)";
  // ONNX is protobuf: its first bytes are no letters, and zeros or control bytes are all over it.
  const auto is_text = [](char c) {
    return c == '\t' || c == '\r' || c == '\n' || static_cast<unsigned char>(c) >= ' ';
  };
  if (!std::ranges::all_of(start, is_text)) return {};
  return json ? "JSON of another kind" : "a text of another kind";
}

}  // namespace

OnnxModel read_model(const std::string& path, const Context& context) {
  const std::string bytes = read_all(*open_bytes(path, context), kMostOnnxBytes);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_model(path, bytes, folder.empty() ? "." : folder, context);
}

OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder,
                      const Context& context) {
  // Editors leave a byte order mark; no ONNX file begins with its bytes.
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  if (looks_like_xgboost(bytes)) return booster_graph(name, read_xgboost(name, bytes, context));
  if (looks_like_lightgbm(bytes)) return booster_graph(name, read_lightgbm(name, bytes, context));
  if (const auto other = other_kind(bytes)) fail_input(name, kWanted, *other);
  return parse_onnx(name, bytes, folder, context);
}

}  // namespace assay
