#include "assay/data/text_codes.h"

#include <mutex>

namespace assay {

float TextCodes::code(size_t column, std::string_view text) {
  const std::unique_lock lock(mutex_);
  Column& known = columns_[column];
  const auto found = known.codes.find(text);
  if (found != known.codes.end()) return static_cast<float>(found->second);
  const size_t code = known.texts.size();
  known.codes.emplace(known.texts.emplace_back(text), code);
  return static_cast<float>(code);
}

const std::string* TextCodes::find(size_t column, float code) const {
  const std::shared_lock lock(mutex_);
  const auto known = columns_.find(column);
  if (known == columns_.end() || !(code >= 0) || code >= static_cast<float>(known->second.texts.size())) return nullptr;
  return &known->second.texts[static_cast<size_t>(code)];
}

std::vector<std::string> TextCodes::texts(size_t column) const {
  const std::shared_lock lock(mutex_);
  const auto known = columns_.find(column);
  if (known == columns_.end()) return {};
  return {known->second.texts.begin(), known->second.texts.end()};
}

}  // namespace assay
