#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "assay/core/error.h"
#include "assay/model/graph/onnx_parts.h"

namespace assay {
namespace {

// The fields of a TensorProto that can hold its elements, in the order of kFormNames.
enum class Form { float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data };
constexpr std::array<std::string_view, 7> kFormNames = {"float_data", "int32_data",  "string_data", "int64_data",
                                                        "raw_data",   "double_data", "uint64_data"};

// A tensor as the file has it.
struct Stored {
  OnnxTensor tensor;                // without its elements
  std::string floats = {};          // of float_data or double_data, as bytes
  std::vector<int64_t> words = {};  // of int32_data, int64_data or uint64_data
  std::string_view raw = {};
  std::vector<std::string> strings = {};
  std::array<bool, kFormNames.size()> has = {};
  bool external = false;
  std::string location = {};
  std::optional<uint64_t> offset = {};
  std::optional<uint64_t> length = {};
};

uint64_t external_number(const std::string& where, std::string_view key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_input(where, fmt::format("a whole number as the {} of its external data", key), in_quotes(text));
  }
  return value;
}

void read_external_entry(const std::string& where, std::string_view message, Stored& out) {
  OnnxMessage entry(where, message);
  std::string key;
  std::string value;
  while (entry.next()) {
    if (entry.number() == 1) key = entry.text();
    if (entry.number() == 2) value = entry.text();
  }
  if (key == "location") out.location = value;
  if (key == "offset") out.offset = external_number(where, key, value);
  if (key == "length") out.length = external_number(where, key, value);
}

Stored read_fields(const std::string& where, std::string_view message) {
  Stored out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    const auto mark = [&](Form form, bool present = true) { out.has[static_cast<size_t>(form)] |= present; };
    switch (fields.number()) {
      case 1: fields.append_integers(out.tensor.dims); break;
      case 2: out.tensor.type = read_onnx_element(where, fields.integer()); break;
      case 3: fail_input(where, "a whole tensor", "a segment of one");
      case 4:
        fields.append_floats(out.floats);
        mark(Form::float_data, !out.floats.empty());
        break;
      case 5:
        fields.append_integers(out.words);
        mark(Form::int32_data, !out.words.empty());
        break;
      case 6:
        out.strings.emplace_back(fields.bytes());
        mark(Form::string_data);
        break;
      case 7:
        fields.append_integers(out.words);
        mark(Form::int64_data, !out.words.empty());
        break;
      case 8: out.tensor.name = fields.text(); break;
      case 9:
        out.raw = fields.bytes();
        mark(Form::raw_data, !out.raw.empty());
        break;
      case 10:
        fields.append_doubles(out.floats);
        mark(Form::double_data, !out.floats.empty());
        break;
      case 11:
        fields.append_integers(out.words);
        mark(Form::uint64_data, !out.words.empty());
        break;
      case 13: read_external_entry(where, fields.bytes(), out); break;
      case 14: {
        const int64_t location = fields.integer();
        if (location != 0 && location != 1) {
          fail_input(where, "0 (inside) or 1 (external) as data_location", fmt::format("{}", location));
        }
        out.external = location == 1;
        break;
      }
      default: break;
    }
  }
  return out;
}

// The field that holds elements of this type when raw_data does not.
Form typed_form(OnnxElement type) {
  switch (type) {
    case OnnxElement::float32:
    case OnnxElement::complex64: return Form::float_data;
    case OnnxElement::float64:
    case OnnxElement::complex128: return Form::double_data;
    case OnnxElement::int64: return Form::int64_data;
    case OnnxElement::uint32:
    case OnnxElement::uint64: return Form::uint64_data;
    case OnnxElement::string: return Form::string_data;
    default: return Form::int32_data;
  }
}

// What a word of int32_data or uint64_data may be: a number of the type, or the bits of an element (of several, where
// they have 2 or 4 bits).
struct WordRange {
  int64_t low;
  int64_t high;
};
WordRange word_range(OnnxElement type) {
  switch (type) {
    case OnnxElement::boolean: return {0, 1};
    case OnnxElement::int8: return {INT8_MIN, INT8_MAX};
    case OnnxElement::int16: return {INT16_MIN, INT16_MAX};
    case OnnxElement::int32: return {INT32_MIN, INT32_MAX};
    case OnnxElement::uint32: return {0, UINT32_MAX};
    case OnnxElement::int64:
    case OnnxElement::uint64: return {INT64_MIN, INT64_MAX};
    case OnnxElement::uint16:
    case OnnxElement::float16:
    case OnnxElement::bfloat16: return {0, UINT16_MAX};
    case OnnxElement::float6e2m3:
    case OnnxElement::float6e3m2: return {0, 63};
    default: return {0, UINT8_MAX};
  }
}

std::string pack_words(const std::string& where, const Stored& stored) {
  const OnnxElement type = stored.tensor.type;
  const WordRange range = word_range(type);
  const bool six_bits = type == OnnxElement::float6e2m3 || type == OnnxElement::float6e3m2;
  const size_t width = onnx_byte_count(type, 1);
  std::string out(six_bits ? onnx_byte_count(type, stored.words.size()) : stored.words.size() * width, '\0');
  for (size_t i = 0; i < stored.words.size(); ++i) {
    const int64_t word = typed_form(type) == Form::int32_data ? static_cast<int32_t>(stored.words[i]) : stored.words[i];
    if (word < range.low || word > range.high) {
      fail_input(where, fmt::format("{} from {} to {}", onnx_type_name(type), range.low, range.high),
                 fmt::format("{} as value {}", word, i + 1));
    }
    if (!six_bits) {
      std::memcpy(out.data() + i * width, &word, width);
      continue;
    }
    for (size_t bit = 0; bit < 6; ++bit) {
      const size_t at = 6 * i + bit;
      out[at / 8] = static_cast<char>(out[at / 8] | ((word >> bit & 1) << (at % 8)));
    }
  }
  return out;
}

void check_external(const std::string& where, const Stored& stored, size_t expected) {
  if (stored.tensor.type == OnnxElement::string) fail_input(where, "text inside the model file", "external data");
  if (stored.location.empty()) fail_input(where, "the location of its external data", "none");
  if (stored.length.value_or(expected) != expected) {
    fail_input(where,
               fmt::format("{} bytes of external data for {} ({})", expected, onnx_type_name(stored.tensor.type),
                           onnx_shape_text(stored.tensor.dims)),
               fmt::format("a length of {}", *stored.length));
  }
}

// Large tensors stay in the file's bytes, at an address that numbers of four bytes can have: they are moved to the one
// before, over the end of the length that stands there.
OnnxBytes kept_bytes(std::string_view raw, const std::shared_ptr<void>& keeper) {
  constexpr size_t kLarge = size_t{1} << 16;
  constexpr size_t kNumber = 4;
  if (keeper == nullptr || raw.size() < kLarge) return std::string(raw);
  const size_t beyond = reinterpret_cast<uintptr_t>(raw.data()) % kNumber;
  char* to = const_cast<char*>(raw.data()) - beyond;
  if (beyond != 0) std::memmove(to, raw.data(), raw.size());
  return {keeper, {to, raw.size()}};
}

}  // namespace

OnnxElement read_onnx_element(std::string_view where, int64_t number) {
  constexpr auto kLast = static_cast<int64_t>(OnnxElement::float6e3m2);
  if (number < 0 || number > kLast) {
    fail_input(where, fmt::format("an element type of ONNX (1 to {})", kLast), fmt::format("{}", number));
  }
  return static_cast<OnnxElement>(number);
}

OnnxTensor read_onnx_tensor(const std::string& where, std::string_view message, OnnxExternalFiles& external,
                            const std::shared_ptr<void>& keeper) {
  Stored stored = read_fields(where, message);
  OnnxTensor& tensor = stored.tensor;
  if (tensor.type == OnnxElement::undefined) fail_input(where, "an element type", "none");
  const size_t count = onnx_element_count(where, tensor.dims);
  const size_t expected = onnx_byte_count(tensor.type, count);

  const auto used = std::ranges::count(stored.has, true);
  const auto first = static_cast<size_t>(std::ranges::find(stored.has, true) - stored.has.begin());
  if (stored.external) {
    if (used > 0) fail_input(where, "external data alone", fmt::format("{} too", kFormNames[first]));
    check_external(where, stored, expected);
    tensor.raw = external.read(where, stored.location, stored.offset.value_or(0), expected);
    return std::move(tensor);
  }

  const Form form = used == 0 ? typed_form(tensor.type) : static_cast<Form>(first);
  const bool fits = form == typed_form(tensor.type) || (form == Form::raw_data && tensor.type != OnnxElement::string);
  if (used > 1 || !fits) {
    std::vector<std::string> found;
    for (size_t i = 0; i < stored.has.size(); ++i) {
      if (stored.has[i]) found.emplace_back(kFormNames[i]);
    }
    fail_input(
        where,
        fmt::format("{} in {}{}", onnx_type_name(tensor.type), kFormNames[static_cast<size_t>(typed_form(tensor.type))],
                    tensor.type == OnnxElement::string ? "" : " or raw_data"),
        joined(found));
  }
  if (form == Form::string_data) {
    if (stored.strings.size() != count) {
      fail_input(where, fmt::format("{} strings ({})", count, onnx_shape_text(tensor.dims)),
                 fmt::format("{}", stored.strings.size()));
    }
    tensor.strings = std::move(stored.strings);
    return std::move(tensor);
  }
  if (form == Form::raw_data) {
    if (stored.raw.size() == expected) tensor.raw = kept_bytes(stored.raw, keeper);
  } else if (form == Form::float_data || form == Form::double_data) {
    tensor.raw = std::move(stored.floats);
  } else {
    tensor.raw = pack_words(where, stored);
  }
  const size_t found = form == Form::raw_data ? stored.raw.size() : tensor.raw.size();
  if (found != expected) {
    fail_input(where,
               fmt::format("{} bytes for {} ({})", expected, onnx_type_name(tensor.type), onnx_shape_text(tensor.dims)),
               used == 0 ? "none" : fmt::format("{} in {}", found, kFormNames[static_cast<size_t>(form)]));
  }
  return std::move(tensor);
}

}  // namespace assay
