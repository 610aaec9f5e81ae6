#include "assay/data/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include "assay/core/error.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are kept in little-endian order");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeader = size_t{1} << 16;

struct NumericType {
  char kind;
  size_t size;
  NpyType type;
};
constexpr NumericType kNumericTypes[] = {
    {'b', 1, NpyType::boolean}, {'i', 1, NpyType::int8},    {'i', 2, NpyType::int16},   {'i', 4, NpyType::int32},
    {'i', 8, NpyType::int64},   {'u', 1, NpyType::uint8},   {'u', 2, NpyType::uint16},  {'u', 4, NpyType::uint32},
    {'u', 8, NpyType::uint64},  {'f', 2, NpyType::float16}, {'f', 4, NpyType::float32}, {'f', 8, NpyType::float64},
};

std::optional<size_t> whole_number(std::string_view digits) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The literal of a Python dictionary with exactly the keys 'descr', 'fortran_order' and 'shape'. Nothing else of Python
// is understood, so nothing else can be smuggled in.
class HeaderParser {
 public:
  HeaderParser(std::string_view where, std::string_view text) : where_(where), text_(text) {}

  NpyHeader parse() {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string_literal("a key in quotes");
      bool* seen = key == "descr" ? &has_type : key == "fortran_order" ? &has_order : &has_shape;
      if (key != "descr" && key != "fortran_order" && key != "shape") {
        fail_input(where_, "the keys 'descr', 'fortran_order' and 'shape' in the NPY header", in_quotes(key));
      }
      if (*seen) fail_input(where_, "each key once in the NPY header", in_quotes(key) + " twice");
      *seen = true;
      expect(':');
      if (key == "descr") parse_type();
      if (key == "fortran_order") parse_order();
      if (key == "shape") parse_shape();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty()) fail("nothing after the dictionary");
    if (!has_type || !has_order || !has_shape) {
      fail_input(where_, "the keys 'descr', 'fortran_order' and 'shape' in the NPY header",
                 fmt::format("no '{}'", !has_type    ? "descr"
                                        : !has_order ? "fortran_order"
                                                     : "shape"));
    }
    return header_;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) {
    fail_input(where_, fmt::format("{} in the NPY header", expected), text_.empty() ? "its end" : in_quotes(text_));
  }
  [[noreturn]] void refuse_type(std::string_view what) { fail_input(where_, "an array of numbers or text", what); }
  void skip_spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("a '{}'", c));
  }
  std::string_view string_literal(std::string_view expected) {
    skip_spaces();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) fail(expected);
    const size_t end = text_.find(text_.front(), 1);
    const std::string_view value = text_.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end == std::string_view::npos || value.find('\\') != std::string_view::npos) fail(expected);
    text_.remove_prefix(end + 1);
    return value;
  }

  void parse_type() {
    skip_spaces();
    if (text_.starts_with('[') || text_.starts_with('(')) {
      refuse_type("the structured dtype " + in_quotes(text_.substr(0, text_.find(", 'fortran_order'"))));
    }
    const std::string_view name = string_literal("a dtype in quotes");
    std::string_view rest = name;
    char order = '=';
    if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) {
      order = rest.front();
      rest.remove_prefix(1);
    }
    if (rest.starts_with('O')) {
      refuse_type(fmt::format("dtype {} (Python objects; save the array as numbers or text instead)", in_quotes(name)));
    }
    const auto size = rest.empty() ? std::nullopt : whole_number(rest.substr(1));
    if (!size) refuse_type("dtype " + in_quotes(name));
    header_.big_endian = order == '>';
    if (rest.front() == 'U' || rest.front() == 'S') {
      const size_t width = rest.front() == 'U' ? 4 : 1;
      if (*size > std::numeric_limits<int32_t>::max() / width) refuse_type("dtype " + in_quotes(name));
      header_.type = rest.front() == 'U' ? NpyType::unicode : NpyType::bytes;
      header_.item_size = *size * width;
      return;
    }
    for (const auto& numeric : kNumericTypes) {
      if (numeric.kind != rest.front() || numeric.size != *size) continue;
      if (order == '|' && numeric.size > 1) break;
      header_.type = numeric.type;
      header_.item_size = numeric.size;
      return;
    }
    refuse_type("dtype " + in_quotes(name));
  }

  void parse_order() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.starts_with(word)) {
        header_.fortran_order = value;
        text_.remove_prefix(word.size());
        return;
      }
    }
    fail("True or False as 'fortran_order'");
  }

  void parse_shape() {
    bool comma = true;
    if (!accept('(')) fail("a tuple as 'shape'");
    while (!accept(')')) {
      if (!comma) fail("a ',' or ')' in 'shape'");
      skip_spaces();
      const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      const auto value = whole_number(text_.substr(0, digits));
      if (!value) fail("a whole number of 64 bits in 'shape'");
      text_.remove_prefix(digits);
      // Python 2 wrote long integers as 3L.
      if (text_.starts_with('L')) text_.remove_prefix(1);
      header_.shape.push_back(*value);
      if (header_.shape.size() > kMaxDimensions) {
        fail_input(where_, fmt::format("an array of at most {} dimensions", kMaxDimensions), "more");
      }
      comma = accept(',');
    }
    // (3) is a number to Python, not a tuple.
    if (!comma && header_.shape.size() == 1) fail("a ',' after the only dimension in 'shape'");
  }

  std::string_view where_;
  std::string_view text_;
  NpyHeader header_;
};

// Dimensions of 0 count as 1 in the overflow check: the product of some of them is taken later too.
size_t checked_byte_count(std::string_view where, const NpyHeader& header) {
  constexpr size_t kMost = std::numeric_limits<ptrdiff_t>::max();
  size_t total = std::max<size_t>(header.item_size, 1);
  bool empty = false;
  for (const size_t dimension : header.shape) {
    empty = empty || dimension == 0;
    const size_t factor = std::max<size_t>(dimension, 1);
    if (factor > kMost / total) {
      fail_input(where, "an array that fits in memory",
                 fmt::format("one of {} items of {} bytes", shape_text(header.shape), header.item_size));
    }
    total *= factor;
  }
  if (empty) return 0;
  if (header.item_size == 0) {
    fail_input(where, "items of at least one byte", "dtype " + in_quotes(dtype_text(header.type, 0)));
  }
  return total;
}

std::string read_exactly(ByteSource& source, size_t total) {
  const auto expected = fmt::format("{} bytes of array data", total);
  const auto known = source.remaining();
  if (known && *known != total) fail_input(source.name(), expected, fmt::format("{}", *known));
  std::string out;
  while (out.size() < total) {
    const size_t old_size = out.size();
    const size_t step = known ? total : std::min(total - old_size, std::max(kChunkBytes, old_size));
    out.resize(old_size + step);
    const size_t got = source.read_fully(std::span(out).subspan(old_size));
    if (got < step) fail_input(source.name(), expected, fmt::format("{}", old_size + got));
  }
  // Also lets a source that checks itself at its end (a ZIP entry's CRC) do so.
  char extra = 0;
  if (source.read({&extra, 1}) != 0) fail_input(source.name(), expected, "more");
  return out;
}

// The first dimension runs fastest in Fortran order and slowest in C order. Going through it in strips keeps both sides
// within the cache: reads are runs of a strip, and the lines written to stay open over neighbouring columns.
std::string to_c_order(const std::string& from, const std::vector<size_t>& shape, size_t item_size) {
  constexpr size_t kStrip = 64;
  const size_t rows = shape[0];
  const size_t columns = from.size() / item_size / rows;
  std::string to(from.size(), '\0');
  std::vector<size_t> index(shape.size());
  for (size_t begin = 0; begin < rows; begin += kStrip) {
    const size_t end = std::min(rows, begin + kStrip);
    for (size_t column = 0; column < columns; ++column) {
      size_t offset = 0;
      for (size_t k = shape.size() - 1; k > 0; --k) offset = (offset + index[k]) * shape[k - 1];
      for (size_t row = begin; row < end; ++row) {
        std::memcpy(to.data() + (row * columns + column) * item_size, from.data() + (offset + row) * item_size,
                    item_size);
      }
      for (size_t k = shape.size() - 1; k > 0; --k) {
        if (++index[k] < shape[k]) break;
        index[k] = 0;
      }
    }
  }
  return to;
}

}  // namespace

bool is_text(NpyType type) { return type == NpyType::unicode || type == NpyType::bytes; }

std::string dtype_text(NpyType type, size_t item_size) {
  if (type == NpyType::unicode) return fmt::format("<U{}", item_size / 4);
  if (type == NpyType::bytes) return fmt::format("|S{}", item_size);
  const auto* numeric = std::ranges::find(kNumericTypes, type, &NumericType::type);
  return fmt::format("{}{}{}", numeric->size == 1 ? '|' : '<', numeric->kind, numeric->size);
}

std::string shape_text(const std::vector<size_t>& shape) {
  return shape.empty() ? "no dimensions" : fmt::format("{}", fmt::join(shape, " x "));
}

void swap_bytes(std::string& bytes, size_t width) {
  if (width < 2) return;
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    std::reverse(bytes.data() + i, bytes.data() + i + width);
  }
}

NpyHeader read_npy_header(ByteSource& source) {
  const std::string& where = source.name();
  char start[8];
  const size_t got = source.read_fully(start);
  if (std::string_view(start, std::min(got, kMagic.size())) != kMagic) {
    fail_input(where, "an NPY file, which starts with \\x93NUMPY", "other bytes");
  }
  char length_bytes[4] = {};
  const bool whole_start = got == sizeof(start);
  const int major = whole_start ? start[6] : 0;
  if (whole_start && ((major != 1 && major != 2 && major != 3) || start[7] != 0)) {
    fail_input(where, "NPY version 1.0, 2.0 or 3.0",
               fmt::format("{}.{}", static_cast<uint8_t>(start[6]), static_cast<uint8_t>(start[7])));
  }
  const std::span length_span(length_bytes, major == 1 ? 2 : 4);
  if (!whole_start || source.read_fully(length_span) < length_span.size()) {
    fail_input(where, "a whole NPY header", "the end of the file");
  }
  uint32_t length = 0;
  std::memcpy(&length, length_bytes, sizeof(length));
  if (length > kMaxHeader) {
    fail_input(where, fmt::format("an NPY header of at most {} bytes", kMaxHeader), fmt::format("{}", length));
  }
  std::string text(length, '\0');
  if (source.read_fully(text) < length) fail_input(where, "a whole NPY header", "the end of the file");
  return HeaderParser(where, text).parse();
}

NpyArray read_npy_data(ByteSource& source, const NpyHeader& header) {
  const size_t total = checked_byte_count(source.name(), header);
  NpyArray array{header.type, header.item_size, header.shape, read_exactly(source, total)};
  if (header.big_endian)
    swap_bytes(array.bytes, array.type == NpyType::unicode ? 4 : is_text(array.type) ? 1 : array.item_size);
  if (header.fortran_order && array.shape.size() > 1 && total > 0) {
    array.bytes = to_c_order(array.bytes, array.shape, array.item_size);
  }
  return array;
}

NpyArray read_npy(ByteSource& source) {
  const NpyHeader header = read_npy_header(source);
  return read_npy_data(source, header);
}

std::string npy_header(const NpyArray& array) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kBeforeText = 10;
  // NumPy leaves room for the first dimension to grow to this many digits in place.
  constexpr size_t kGrowth = 21;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 dtype_text(array.type, array.item_size), fmt::join(array.shape, ", "),
                                 array.shape.size() == 1 ? "," : "");
  if (!array.shape.empty()) text.append(kGrowth - std::to_string(array.shape[0]).size(), ' ');
  text.append(kAlignment - (kBeforeText + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string out(kMagic);
  out += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

void write_npy(AtomicFile& file, const NpyArray& array) {
  file.write(npy_header(array));
  file.write(array.bytes);
}

}  // namespace assay
