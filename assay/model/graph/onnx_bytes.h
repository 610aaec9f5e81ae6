// The elements of a tensor in a file, as bytes: its own, or a part of the file's bytes that many tensors share. Weights
// are most of a model, and copies of them would be most of the time that loading takes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

class OnnxBytes {
 public:
  OnnxBytes() = default;
  OnnxBytes(std::string own) : own_(std::move(own)) {}  // NOLINT(google-explicit-constructor): it is used as a string
  // Bytes that stay as they are for as long as `keeper` lives.
  OnnxBytes(std::shared_ptr<const void> keeper, std::string_view part) : keeper_(std::move(keeper)), part_(part) {}

  std::string_view view() const { return keeper_ == nullptr ? std::string_view(own_) : part_; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
  size_t size() const { return view().size(); }
  bool empty() const { return view().empty(); }
  const char* data() const { return view().data(); }
  char operator[](size_t i) const { return view()[i]; }
  // Null where the bytes are the tensor's own.
  const std::shared_ptr<const void>& keeper() const { return keeper_; }

  // What changes bytes makes them the tensor's own first.
  char* data() { return owned().data(); }
  void resize(size_t size) { owned().resize(size); }
  void assign(const char* bytes, size_t size) { *this = std::string(bytes, size); }

  friend bool operator==(const OnnxBytes& a, const OnnxBytes& b) { return a.view() == b.view(); }
  friend bool operator==(const OnnxBytes& a, const std::string& b) { return a.view() == b; }
  friend bool operator==(const OnnxBytes& a, const char* b) { return a.view() == b; }

 private:
  std::string& owned() {
    if (keeper_ != nullptr) *this = std::string(part_);
    return own_;
  }

  std::string own_;
  std::shared_ptr<const void> keeper_;
  std::string_view part_;
};

}  // namespace assay
