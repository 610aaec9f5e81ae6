// What the reader of Arrow data needs to know about types, and how it speaks of them.
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
};

// The type a format string of the C data interface stands for, where a table can hold it.
std::optional<ArrowValue> arrow_value(std::string_view format);

// Any format string in words: "tsu:UTC" is "timestamps".
std::string arrow_type_words(std::string_view format);

bool is_text(ArrowValue type);
bool is_whole(ArrowValue type);

// How many buffers an array of this type has: none, validity and values, or validity, offsets and bytes. Of text views
// it is the least: validity, views and the sizes of the buffers between them, of which there may be any number.
int arrow_buffer_count(ArrowValue type);

// The first line of a message from Arrow, safe to show: a hostile file can put control characters into it.
std::string arrow_message(const char* message);

}  // namespace assay
