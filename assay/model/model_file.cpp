#include "assay/model/model_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "assay/core/aligned_memory.h"
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

// A whole file, owned by all who still need its bytes. One of weights lies in large pages.
struct FileBytes {
  std::shared_ptr<void> keeper;
  std::string_view bytes;
};

FileBytes read_file(ByteSource& source) {
  constexpr uint64_t kLarge = uint64_t{8} << 20;
  const uint64_t expected = source.remaining().value_or(0);
  std::shared_ptr<void> memory;
  std::string_view begin;
  if (expected >= kLarge && expected <= kMostOnnxBytes) {
    memory = std::shared_ptr<void>(aligned_memory(expected), &std::free);
    const std::span<char> room(static_cast<char*>(memory.get()), expected);
    begin = {room.data(), source.read_fully(room)};
  }
  std::string rest = read_all(source, kMostOnnxBytes - begin.size());
  if (rest.empty() && !begin.empty()) return {std::move(memory), begin};
  rest.insert(0, begin);
  const auto text = std::make_shared<std::string>(std::move(rest));
  return {text, *text};
}

OnnxModel parse_kept(const std::string& name, std::string_view bytes, const std::string& folder, const Context& context,
                     const std::shared_ptr<void>& keeper) {
  // Editors leave a byte order mark; no ONNX file begins with its bytes.
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  if (looks_like_xgboost(bytes)) return booster_graph(name, read_xgboost(name, bytes, context));
  if (looks_like_lightgbm(bytes)) return booster_graph(name, read_lightgbm(name, bytes, context));
  if (const auto other = other_kind(bytes)) fail_input(name, kWanted, *other);
  return parse_onnx(name, bytes, folder, context, keeper);
}

}  // namespace

OnnxModel read_model(const std::string& path, const Context& context) {
  const FileBytes file = read_file(*open_bytes(path, context));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_kept(path, file.bytes, folder.empty() ? "." : folder, context, file.keeper);
}

OnnxModel parse_model(const std::string& name, std::string_view bytes, const std::string& folder,
                      const Context& context) {
  return parse_kept(name, bytes, folder, context, nullptr);
}

}  // namespace assay
