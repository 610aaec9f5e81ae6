// Arrow's types, as far as the reader needs them, and their names in messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// The types a table can be made of.
enum class ArrowValue {
  null,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  text,        // utf8: int32 offsets
  large_text,  // utf8: int64 offsets
  text_view,   // utf8: short texts in place, longer ones in any of several buffers
  decimal32,   // whole numbers that a power of ten divides
  decimal64,
  decimal128,
};

// The type of a format string of the C data interface; nothing if a table cannot hold it.
std::optional<ArrowValue> arrow_value(std::string_view format);

// Any format string in words: "tsu:UTC" is "timestamps".
std::string arrow_type_words(std::string_view format);

// The decimal digits behind the point of a decimal type, which may be negative; 0 for other types.
int arrow_scale(std::string_view format);

bool is_text(ArrowValue type);
bool is_whole(ArrowValue type);

// How many buffers an array of this type has: none, two (validity, values), or three for text (validity, offsets,
// bytes). For text views the least number, three: validity, views and sizes. Any number of text buffers lie before the
// sizes.
int arrow_buffer_count(ArrowValue type);

// The first line of a message from Arrow, safe to show: a hostile file can put control characters into it.
std::string arrow_message(const char* message);

}  // namespace assay
