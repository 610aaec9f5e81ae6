// What the reader of ONNX files is made of: protobuf messages, tensors, files of external data. For onnx_read.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// The most that protobuf allows for a message, and so for a model file; larger weights go to external data.
inline constexpr uint64_t kMostOnnxBytes = INT32_MAX;

// As parse_onnx of onnx.h; stops when the context is cancelled. Memory stays within some 64 times the bytes: an empty
// name of two bytes becomes a string of 32 bytes, in a list that grows by doubling.
//
// keeper: what owns the bytes, where that may outlive the call; null otherwise. Large tensors then stay where they lie,
// and the bytes before them may change: they are for this call alone.
OnnxModel parse_onnx(std::string name, std::string_view bytes, const std::string& folder, const Context& context,
                     const std::shared_ptr<void>& keeper = nullptr);

// One protobuf message, read field by field. Everything that is wrong with its encoding, a known field of another wire
// type included, is an input error that starts with `where`. Both arguments must outlive the message.
class OnnxMessage {
 public:
  OnnxMessage(const std::string& where, std::string_view bytes) : where_(where), rest_(bytes) {}

  // Moves to the next field; false at the end. A field nobody asks for is skipped.
  bool next();
  uint32_t number() const { return number_; }

  // The field's value; an input error if its wire type differs. Numbers of 32 bits are cut from 64, as protobuf does.
  int64_t integer() const;
  float real() const;
  std::string_view bytes() const;
  // Bytes that must be UTF-8.
  std::string text() const;

  // Elements of a repeated field of numbers: one, or many where they are packed. Floats and doubles are appended as the
  // bytes they are.
  void append_integers(std::vector<int64_t>& out) const;
  void append_floats(std::string& out) const { append_fixed(out, Wire::fixed32, 4); }
  void append_doubles(std::string& out) const { append_fixed(out, Wire::fixed64, 8); }

 private:
  enum class Wire { varint, fixed64, bytes, fixed32 };
  void expect(Wire wire, std::string_view what) const;
  void append_fixed(std::string& out, Wire wire, size_t width) const;

  const std::string& where_;
  std::string_view rest_;
  uint32_t number_ = 0;
  Wire wire_ = Wire::varint;
  uint64_t word_ = 0;            // of a varint
  std::string_view bytes_ = {};  // of all others
};

// The last field with this number that holds bytes; empty if there is none. Stops without an error where the message is
// damaged. For errors, which need the name of a thing before the thing is read.
std::string_view peek_bytes(std::string_view message, uint32_t number);

// The files beside a model that hold its large tensors. A location is refused when it is absolute, has a "..", or leads
// out of the folder through a link.
class OnnxExternalFiles {
 public:
  // folder: where the files are; empty: there are none.
  explicit OnnxExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  // size bytes at offset; errors start with `where`. All reads of one file together may take four times its size (equal
  // weights may be stored once), so that a small model cannot ask for a large file again and again.
  std::string read(std::string_view where, const std::string& location, uint64_t offset, uint64_t size);

 private:
  class File;
  File& open(std::string_view where, const std::string& location);

  std::string folder_;
  std::map<std::string, std::shared_ptr<File>> open_ = {};  // by canonical path
  std::map<std::string, uint64_t> taken_ = {};              // bytes, by canonical path
};

// The number as an element type; an input error when ONNX has no such type.
OnnxElement read_onnx_element(std::string_view where, int64_t number);

// A TensorProto. `where` names the tensor; keeper: see parse_onnx. The message cannot be read again.
OnnxTensor read_onnx_tensor(const std::string& where, std::string_view message, OnnxExternalFiles& external,
                            const std::shared_ptr<void>& keeper);

}  // namespace assay
