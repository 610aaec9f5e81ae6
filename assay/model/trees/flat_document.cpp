#include "assay/model/trees/flat_document.h"

#include <fmt/format.h>

#include <limits>

#include "assay/core/error.h"

namespace assay {

std::string_view FlatDocument::Value::kind_words() const {
  switch (kind()) {
    case Kind::missing: return "nothing";
    case Kind::null: return "null";
    case Kind::number: return "a number";
    case Kind::text: return "a text";
    case Kind::numbers: return "an array of numbers";
    case Kind::list: return "an array without numbers";
    case Kind::object: return "an object";
  }
  return "nothing";
}

double FlatDocument::Value::number() const {
  return kind() == Kind::number ? std::bit_cast<double>(document_->entries_[at_].first)
                                : std::numeric_limits<double>::quiet_NaN();
}

std::string_view FlatDocument::Value::text() const {
  if (kind() != Kind::text) return {};
  const Entry& entry = document_->entries_[at_];
  return std::string_view(document_->texts_).substr(entry.first, entry.count);
}

std::span<const double> FlatDocument::Value::numbers() const {
  if (kind() != Kind::numbers) return {};
  const Entry& entry = document_->entries_[at_];
  return std::span(document_->numbers_).subspan(entry.first, entry.count);
}

std::vector<FlatDocument::Value> FlatDocument::Value::items() const {
  std::vector<Value> items;
  if (kind() != Kind::list) return items;
  const size_t end = document_->entries_[at_].first;
  for (size_t at = at_ + 1; at < end; at = document_->after(at)) items.emplace_back(*document_, at);
  return items;
}

FlatDocument::Value FlatDocument::Value::operator[](std::string_view key) const {
  Value found(*document_, 0);
  if (kind() != Kind::object) return found;
  const size_t end = document_->entries_[at_].first;
  for (size_t at = at_ + 1; at < end;) {
    const Value candidate(*document_, at + 1);
    if (Value(*document_, at).text() == key) found = candidate;
    at = document_->after(at + 1);
  }
  return found;
}

size_t FlatDocument::after(size_t at) const {
  const Entry& entry = entries_[at];
  return entry.kind == Kind::list || entry.kind == Kind::object ? entry.first : at + 1;
}

FlatReader::FlatReader(std::string_view name, std::string_view bytes, const Context& context)
    : name_(name), bytes_(bytes), values_(context) {
  // Counts of entries are kept in 32 bits.
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (bytes.size() >= kMost) fail_input(name, "less than 4 GiB", fmt::format("{} bytes", bytes.size()));
}

void FlatReader::fail(std::string_view expected) const {
  const std::string found = at_ < bytes_.size() ? in_quotes(bytes_.substr(at_, 1)) : std::string("the end of the file");
  fail_input(name_, expected, fmt::format("{} at byte {}", found, at_));
}

}  // namespace assay
