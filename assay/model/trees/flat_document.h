// Documents of JSON and of universal binary JSON (UBJSON, draft 12) as boosters write them: megabytes of arrays of
// numbers in a few objects.
//
// Everything lies in three flat arrays, numbers in 8 bytes each, so that a document takes no more than some ten times
// the memory of its text whatever it holds. Two departures from JSON: NaN, Infinity and -Infinity are numbers, which
// XGBoost writes for a tree that has them; and an array holds numbers alone or no number at all. Truth values are 1 and
// 0.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/budget.h"
#include "assay/core/context.h"

namespace assay {

class FlatDocument {
 public:
  enum class Kind : uint8_t { missing, null, number, text, numbers, list, object };

  // A value of a document. The document must outlive it.
  class Value {
   public:
    Value(const FlatDocument& document, size_t at) : document_(&document), at_(at) {}

    Kind kind() const { return document_->entries_[at_].kind; }
    bool exists() const { return kind() != Kind::missing; }
    // For messages: "a text", "an array of numbers".
    std::string_view kind_words() const;
    // What a number, a text or an array of numbers holds; for other kinds NaN or empty.
    double number() const;
    std::string_view text() const;
    std::span<const double> numbers() const;
    // The items of a list; none for other kinds.
    std::vector<Value> items() const;
    // The value of an object under this key, the last if there are several. One that does not exist if there is none.
    Value operator[](std::string_view key) const;

   private:
    const FlatDocument* document_;
    size_t at_;
  };

  FlatDocument() : entries_(1) {}
  Value root() const { return {*this, entries_.size() > 1 ? size_t{1} : size_t{0}}; }

  // For parsers: add values in the order of the text. Those between open and close belong to that list or object; in an
  // object, keys (as texts) and values alternate.
  void add_null() { entries_.push_back({Kind::null, 0, 0}); }
  void add_number(double number) { entries_.push_back({Kind::number, 0, std::bit_cast<uint64_t>(number)}); }
  void add_text(std::string_view text) {
    entries_.push_back({Kind::text, static_cast<uint32_t>(text.size()), texts_.size()});
    texts_ += text;
  }
  size_t open(Kind kind) {
    entries_.push_back({kind, 0, kind == Kind::numbers ? numbers_.size() : 0});
    return entries_.size() - 1;
  }
  void close(size_t at) {
    Entry& entry = entries_[at];
    if (entry.kind == Kind::numbers) {
      entry.count = static_cast<uint32_t>(numbers_.size() - entry.first);
    } else {
      entry.first = entries_.size();
    }
  }
  // To append to an open array of numbers.
  std::vector<double>& numbers() { return numbers_; }

 private:
  struct Entry {
    Kind kind = Kind::missing;
    uint32_t count = 0;  // bytes of a text, numbers of an array
    uint64_t first = 0;  // of a text or array of numbers; the entry after a list or object; the bits of a number
  };

  size_t after(size_t at) const;

  std::vector<Entry> entries_;  // the first stands for all values that do not exist
  std::vector<double> numbers_;
  std::string texts_;
};

// An input error "<name>: expected ..., found ... at byte N" where bytes are not such a document. Both stop when the
// context is cancelled.
FlatDocument parse_flat_json(std::string_view name, std::string_view bytes, const Context& context = {});
FlatDocument parse_flat_ubjson(std::string_view name, std::string_view bytes, const Context& context = {});

// Both refuse documents that are deeper or larger than any that a library writes.
inline constexpr size_t kDeepestDocument = 32;

// What both parsers have: the bytes, how far they are read, and the document so far.
class FlatReader {
 public:
  FlatReader(std::string_view name, std::string_view bytes, const Context& context);

 protected:
  // An input error that tells what is at this byte instead.
  [[noreturn]] void fail(std::string_view expected) const;

  std::string_view name_;
  std::string_view bytes_;
  size_t at_ = 0;
  Interruptible values_;
  FlatDocument document_;
};

}  // namespace assay
