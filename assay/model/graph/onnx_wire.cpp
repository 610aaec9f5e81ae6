#include <fmt/format.h>

#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "assay/core/error.h"
#include "assay/model/graph/onnx_parts.h"

namespace assay {
namespace {

constexpr std::string_view kWhole = "whole protobuf fields (is this an ONNX file, and complete?)";

// What protozero found wrong, in words.
template <class Act>
auto in_our_words(std::string_view where, const Act& act) {
  try {
    return act();
  } catch (const protozero::end_of_buffer_exception&) {
    fail_input(where, kWhole, "one that is cut short");
  } catch (const protozero::varint_too_long_exception&) {
    fail_input(where, kWhole, "a number of more than 10 bytes");
  } catch (const protozero::unknown_pbf_wire_type_exception&) {
    fail_input(where, kWhole, "an unknown wire type");
  } catch (const protozero::invalid_tag_exception&) {
    fail_input(where, kWhole, "an invalid field number");
  }
}

std::string_view as_string_view(const protozero::data_view& view) { return {view.data(), view.size()}; }

}  // namespace

bool OnnxMessage::next() {
  return in_our_words(where_, [this] {
    protozero::pbf_reader reader(rest_.data(), rest_.size());
    if (!reader.next()) return false;
    number_ = reader.tag();
    // protozero asserts that the caller asks for what is there, so the value is taken here, by what it is.
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint:
        wire_ = Wire::varint;
        word_ = reader.get_uint64();
        break;
      case protozero::pbf_wire_type::length_delimited:
        wire_ = Wire::bytes;
        bytes_ = as_string_view(reader.get_view());
        break;
      default:
        wire_ = reader.wire_type() == protozero::pbf_wire_type::fixed32 ? Wire::fixed32 : Wire::fixed64;
        const char* begin = reader.data().data();
        reader.skip();
        bytes_ = {begin, static_cast<size_t>(reader.data().data() - begin)};
    }
    rest_ = as_string_view(reader.data());
    return true;
  });
}

void OnnxMessage::expect(Wire wire, std::string_view what) const {
  if (wire_ == wire) return;
  constexpr std::string_view kNames[] = {"a whole number", "8 bytes", "text, a list or a message", "4 bytes"};
  fail_input(where_, fmt::format("{} in protobuf field {}", what, number_), kNames[static_cast<size_t>(wire_)]);
}

int64_t OnnxMessage::integer() const {
  expect(Wire::varint, "a whole number");
  return static_cast<int64_t>(word_);
}

float OnnxMessage::real() const {
  expect(Wire::fixed32, "a float");
  float out = 0;
  std::memcpy(&out, bytes_.data(), sizeof(out));
  return out;
}

std::string_view OnnxMessage::bytes() const {
  expect(Wire::bytes, "text or a message");
  return bytes_;
}

std::string OnnxMessage::text() const {
  expect(Wire::bytes, "text");
  if (!valid_utf8(bytes_)) {
    fail_input(where_, fmt::format("UTF-8 text in protobuf field {}", number_), in_quotes(bytes_));
  }
  return std::string(bytes_);
}

void OnnxMessage::append_integers(std::vector<int64_t>& out) const {
  if (wire_ == Wire::varint) {
    out.push_back(integer());
    return;
  }
  expect(Wire::bytes, "whole numbers");
  in_our_words(where_, [&] {
    const char* position = bytes_.data();
    const char* const end = position + bytes_.size();
    while (position != end) out.push_back(static_cast<int64_t>(protozero::decode_varint(&position, end)));
  });
}

void OnnxMessage::append_fixed(std::string& out, Wire wire, size_t width) const {
  if (wire_ != wire) expect(Wire::bytes, fmt::format("floats of {} bytes", width));
  if (bytes_.size() % width != 0) {
    fail_input(where_, fmt::format("floats of {} bytes in protobuf field {}", width, number_),
               fmt::format("{} bytes", bytes_.size()));
  }
  out += bytes_;
}

std::string_view peek_bytes(std::string_view message, uint32_t number) {
  std::string_view found;
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (reader.tag() == number && reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        found = as_string_view(reader.get_view());
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    // What comes before the damage is the best name there is; the damage is reported by who reads the message.
    return found;
  }
  return found;
}

}  // namespace assay
