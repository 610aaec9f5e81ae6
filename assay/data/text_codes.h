// Texts as numbers, for models that take texts: a row holds the code of a text, and the model looks the text up.
//
// Tables add their texts. A code keeps its meaning, since nothing is ever taken out, so all models and tables of a job
// can share one of these. May be used from several threads.
#pragma once

#include <cstddef>
#include <deque>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay {

class TextCodes {
 public:
  // The code of a text in a column: 0, 1, ... in the order in which texts come.
  float code(size_t column, std::string_view text);
  // Null where no text has this code.
  const std::string* find(size_t column, float code) const;
  // All texts of a column, by their codes.
  std::vector<std::string> texts(size_t column) const;

 private:
  struct Column {
    std::deque<std::string> texts;  // whose elements stay where they are
    std::unordered_map<std::string_view, size_t> codes;
  };

  mutable std::shared_mutex mutex_;
  std::unordered_map<size_t, Column> columns_;
};

}  // namespace assay
