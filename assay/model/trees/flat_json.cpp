#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "assay/model/trees/flat_document.h"

namespace assay {
namespace {

class JsonReader : FlatReader {
 public:
  using FlatReader::FlatReader;

  FlatDocument read() {
    read_value(0);
    skip_space();
    if (at_ < bytes_.size()) fail("the end of the document");
    return std::move(document_);
  }

 private:
  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  void skip_space() {
    while (at_ < bytes_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) at_++;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= bytes_.size() || bytes_[at_] != c) return false;
    at_++;
    return true;
  }

  bool take_word(std::string_view word) {
    if (!bytes_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Depth is bounded, so this may recurse.
  void read_value(size_t depth) {
    if (depth > kDeepestDocument) fail(fmt::format("at most {} levels of JSON", kDeepestDocument));
    values_.turn();
    skip_space();
    double number = 0;
    if (take_number(number)) {
      document_.add_number(number);
    } else if (take_word("null")) {
      document_.add_null();
    } else if (peek() == '"') {
      read_text();
    } else if (take('[')) {
      read_array(depth);
    } else if (take('{')) {
      read_object(depth);
    } else {
      fail("a value of JSON");
    }
  }

  void read_object(size_t depth) {
    const size_t object = document_.open(FlatDocument::Kind::object);
    for (bool first = true; !take('}'); first = false) {
      if (!first && !take(',')) fail("',' or '}' in an object of JSON");
      skip_space();
      if (peek() != '"') fail("a key of JSON in double quotes");
      read_text();
      if (!take(':')) fail("':' after a key of JSON");
      read_value(depth + 1);
    }
    document_.close(object);
  }

  void read_array(size_t depth) {
    skip_space();
    double number = 0;
    if (take_number(number)) {
      read_numbers(number);
      return;
    }
    const size_t list = document_.open(FlatDocument::Kind::list);
    for (bool first = true; !take(']'); first = false) {
      if (!first && !take(',')) fail("',' or ']' in an array of JSON");
      skip_space();
      if (const size_t here = at_; take_number(number)) {
        at_ = here;
        fail("no numbers in an array that begins without");
      }
      read_value(depth + 1);
    }
    document_.close(list);
  }

  void read_numbers(double number) {
    const size_t array = document_.open(FlatDocument::Kind::numbers);
    std::vector<double>& numbers = document_.numbers();
    numbers.push_back(number);
    while (!take(']')) {
      if (!take(',')) fail("',' or ']' in an array of JSON");
      skip_space();
      if (!take_number(number)) fail("a number in an array of numbers");
      values_.turn();
      numbers.push_back(number);
    }
    document_.close(array);
  }

  bool take_number(double& number) {
    const char c = peek();
    if (c == '-' || (c >= '0' && c <= '9')) {
      number = take_digits();
    } else if (c == 't' && take_word("true")) {
      number = 1;
    } else if (c == 'f' && take_word("false")) {
      number = 0;
    } else if (c == 'N' && take_word("NaN")) {
      number = std::numeric_limits<double>::quiet_NaN();
    } else if (c == 'I' && take_word("Infinity")) {
      number = std::numeric_limits<double>::infinity();
    } else {
      return false;
    }
    return true;
  }

  double take_digits() {
    if (take_word("-Infinity")) return -std::numeric_limits<double>::infinity();
    double number = 0;
    const char* const begin = bytes_.data() + at_;
    const char* const end = bytes_.data() + bytes_.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    // from_chars takes words for infinity and NaN too.
    if (error != std::errc() || !std::isfinite(number)) fail("a number of JSON that a double can hold");
    // These are float32 written with as few digits as tell them apart. Reading a double and rounding it rounds twice;
    // where that differs from the nearest float32, this is it.
    float nearest = 0;
    if (std::from_chars(begin, stop, nearest).ec == std::errc() && nearest != static_cast<float>(number)) {
      number = static_cast<double>(nearest);
    }
    at_ += static_cast<size_t>(stop - begin);
    return number;
  }

  void read_text() {
    at_++;
    const size_t stop = std::min(bytes_.find_first_of("\"\\", at_), bytes_.size());
    if (stop < bytes_.size() && bytes_[stop] == '"') {
      document_.add_text(bytes_.substr(at_, stop - at_));
      at_ = stop + 1;
      return;
    }
    std::string text;
    while (peek() != '"' || at_ >= bytes_.size()) {
      if (at_ >= bytes_.size()) fail("'\"' at the end of a text");
      if (bytes_[at_] == '\\') {
        at_++;
        read_escape(text);
      } else {
        text += bytes_[at_++];
      }
    }
    at_++;
    document_.add_text(text);
  }

  void read_escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (const size_t which = kLetters.find(c); which != std::string_view::npos) {
      text += kMeanings[which];
      at_++;
      return;
    }
    if (c != 'u') fail("an escape of JSON after '\\'");
    at_++;
    uint32_t code = read_hex();
    if (code >= 0xD800 && code < 0xDC00 && take_word("\\u")) {
      const uint32_t low = read_hex();
      if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a pair of surrogates");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
      fail("a pair of surrogates");
    }
    append_utf8(text, code);
  }

  uint32_t read_hex() {
    uint32_t code = 0;
    const std::string_view digits = bytes_.substr(std::min(at_, bytes_.size()), 4);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || error != std::errc() || stop != digits.data() + 4) fail("four hexadecimal digits");
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& text, uint32_t code) {
    const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0 | code >> 6);
    } else if (code < 0x10000) {
      add(0xE0 | code >> 12);
      add(0x80 | (code >> 6 & 0x3F));
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
      add(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) add(0x80 | (code & 0x3F));
  }
};

}  // namespace

FlatDocument parse_flat_json(std::string_view name, std::string_view bytes, const Context& context) {
  return JsonReader(name, bytes, context).read();
}

}  // namespace assay
