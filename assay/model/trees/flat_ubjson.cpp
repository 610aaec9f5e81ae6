#include <fmt/format.h>

#include <bit>

#include "assay/core/error.h"
#include "assay/model/trees/flat_document.h"

namespace assay {
namespace {

// The bytes of a number of this type; 0: no number.
size_t size_of(char type) {
  switch (type) {
    case 'i':
    case 'U': return 1;
    case 'I': return 2;
    case 'l':
    case 'd': return 4;
    case 'L':
    case 'D': return 8;
    default: return 0;
  }
}

bool is_number(char type) { return size_of(type) != 0 || type == 'T' || type == 'F'; }

// Bytes of a number of this type, the highest first.
double number_at(const char* bytes, char type) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size_of(type); i++) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  switch (type) {
    case 'i': return static_cast<int8_t>(bits);
    case 'U': return static_cast<uint8_t>(bits);
    case 'I': return static_cast<int16_t>(bits);
    case 'l': return static_cast<int32_t>(bits);
    case 'L': return static_cast<double>(static_cast<int64_t>(bits));
    case 'd': return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    default: return std::bit_cast<double>(bits);
  }
}

class UbjsonReader : FlatReader {
 public:
  using FlatReader::FlatReader;

  FlatDocument read() {
    read_value(take_type("a value of UBJSON"), 0);
    if (at_ < bytes_.size()) fail("the end of the document");
    return std::move(document_);
  }

 private:
  // How a container begins: the type of all its values and their number, where it tells them.
  struct Head {
    char type = 0;
    bool counted = false;
    size_t count = 0;
  };

  bool next_is(char c) const { return at_ < bytes_.size() && bytes_[at_] == c; }

  bool take(char c) {
    if (!next_is(c)) return false;
    at_++;
    return true;
  }

  char take_type(std::string_view expected) {
    if (at_ >= bytes_.size()) fail(expected);
    return bytes_[at_++];
  }

  void need(size_t bytes) const {
    if (bytes > bytes_.size() - at_) {
      fail_input(name_, fmt::format("{} more bytes at byte {}", bytes, at_), fmt::format("{}", bytes_.size() - at_));
    }
  }

  double take_number(char type) {
    if (type == 'T' || type == 'F') return type == 'T' ? 1 : 0;
    need(size_of(type));
    const double number = number_at(bytes_.data() + at_, type);
    at_ += size_of(type);
    return number;
  }

  // At most the bytes that are left: whatever is counted takes at least one.
  size_t take_length() {
    const size_t begin = at_;
    const char type = take_type("a length of UBJSON");
    if (size_of(type) == 0 || type == 'd' || type == 'D') {
      at_ = begin;
      fail("a length of UBJSON");
    }
    const double length = take_number(type);
    if (!(length >= 0 && length <= static_cast<double>(bytes_.size() - at_))) {
      fail_input(name_,
                 fmt::format("a length of at most the {} bytes that are left at byte {}", bytes_.size() - at_, begin),
                 fmt::format("{}", length));
    }
    return static_cast<size_t>(length);
  }

  void take_text() {
    const size_t length = take_length();
    document_.add_text(bytes_.substr(at_, length));
    at_ += length;
  }

  Head take_head() {
    Head head;
    if (take('$')) {
      head.type = take_type("a type of UBJSON");
      // Values without bytes: a short file would hold any number of them.
      if (size_of(head.type) == 0 && std::string_view("SC[{").find(head.type) == std::string_view::npos) {
        at_--;
        fail("a type whose values have bytes");
      }
      if (!next_is('#')) fail("'#' after a type of UBJSON");
    }
    if (take('#')) {
      head.counted = true;
      head.count = take_length();
    }
    return head;
  }

  // Depth is bounded, so this may recurse.
  void read_value(char type, size_t depth) {
    if (depth > kDeepestDocument) fail(fmt::format("at most {} levels of UBJSON", kDeepestDocument));
    values_.turn();
    if (is_number(type)) {
      document_.add_number(take_number(type));
      return;
    }
    switch (type) {
      case 'Z': document_.add_null(); break;
      case 'S': take_text(); break;
      case 'C':
        need(1);
        document_.add_text(bytes_.substr(at_++, 1));
        break;
      case '[': read_array(depth); break;
      case '{': read_object(depth); break;
      default: at_--; fail("a value of UBJSON");
    }
  }

  void read_object(size_t depth) {
    const Head head = take_head();
    const size_t object = document_.open(FlatDocument::Kind::object);
    for (size_t i = 0; head.counted ? i < head.count : !take('}'); i++) {
      take_text();
      read_value(head.type != 0 ? head.type : take_type("a value of UBJSON"), depth + 1);
    }
    document_.close(object);
  }

  void read_array(size_t depth) {
    const Head head = take_head();
    const bool empty = head.counted ? head.count == 0 : next_is(']');
    const char first = head.type != 0 || empty || at_ >= bytes_.size() ? head.type : bytes_[at_];
    const bool numeric = is_number(first);
    const size_t array = document_.open(numeric ? FlatDocument::Kind::numbers : FlatDocument::Kind::list);
    if (const size_t size = size_of(head.type); size != 0) {
      read_packed(head, size);
    } else {
      for (size_t i = 0; head.counted ? i < head.count : !take(']'); i++) {
        const char type = head.type != 0 ? head.type : take_type("a value or the end of an array");
        if (is_number(type) != numeric) {
          at_--;
          fail(numeric ? "a number in an array of numbers" : "no numbers in an array that begins without");
        }
        values_.turn();
        if (numeric) {
          document_.numbers().push_back(take_number(type));
        } else {
          read_value(type, depth + 1);
        }
      }
    }
    document_.close(array);
  }

  void read_packed(const Head& head, size_t size) {
    need(head.count * size);  // cannot overflow: a count is at most the bytes of the file, which are below 2^32
    std::vector<double>& numbers = document_.numbers();
    for (size_t i = 0; i < head.count; i++, at_ += size) numbers.push_back(number_at(bytes_.data() + at_, head.type));
  }
};

}  // namespace

FlatDocument parse_flat_ubjson(std::string_view name, std::string_view bytes, const Context& context) {
  return UbjsonReader(name, bytes, context).read();
}

}  // namespace assay
