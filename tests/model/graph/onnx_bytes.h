// Bytes of ONNX files for tests, put together by an encoder that shares nothing with the library's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/model/graph/onnx.h"

namespace assay::onnx_bytes {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  return out + static_cast<char>(value);
}
inline std::string number(int field, int64_t value) {
  return varint(field * 8U) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(int field, const std::string& value) {
  return varint(field * 8U + 2) + varint(value.size()) + value;
}
template <class T>
std::string as_bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
inline std::string fixed(int field, float value) { return varint(field * 8U + 5) + as_bytes(value); }
inline std::string fixed(int field, double value) { return varint(field * 8U + 1) + as_bytes(value); }

inline std::string in_model(const std::string& graph) { return number(1, 8) + bytes(7, graph); }
inline std::string model_with(const std::string& tensor) { return in_model(bytes(5, tensor)); }
inline std::string node(const std::string& name, const std::string& op, const std::string& rest = "") {
  return bytes(1, bytes(3, name) + bytes(4, op) + rest);
}

// A tensor named w: its type, dimensions one by one, and what else it has.
inline std::string tensor(OnnxElement type, const std::vector<int64_t>& dims, const std::string& data) {
  std::string out;
  for (const int64_t size : dims) out += number(1, size);
  return out + number(2, static_cast<int64_t>(type)) + bytes(8, "w") + data;
}

}  // namespace assay::onnx_bytes
