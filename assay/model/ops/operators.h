// The operators of the engine: one line each in operators.cpp, one file each in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "assay/model/ops/kernel.h"

namespace assay {

class NodeSetup;

struct Operator {
  std::string_view domain;  // "" is ONNX's own, "ai.onnx.ml", or "assay" for those of this engine alone
  std::string_view name;
  // Sets the outputs' types and dimensions and returns the kernel; an input error when the node cannot be right.
  std::unique_ptr<Kernel> (*make)(NodeSetup& setup);
};

// Whether only this engine puts it into a graph: files may hold Trees of the domain "assay" and no other.
inline bool is_engine_only(std::string_view domain, std::string_view name) {
  return domain == "assay" && name != "Trees";
}

// In the order of domain and name.
std::span<const Operator> operators();
// Null when the engine does not have it.
const Operator* find_operator(std::string_view domain, std::string_view name);

}  // namespace assay
