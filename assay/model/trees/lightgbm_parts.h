// What the parts of the reader of LightGBM's files share; for lightgbm*.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/trees/booster.h"

namespace assay {

// Calls each(word) for the words of a text, which are separated by one or more separators.
template <class Each>
void for_lightgbm_words(std::string_view text, const Each& each, char separator = ' ') {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(separator));
    if (!word.empty()) each(word);
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : text.size());
  }
}

// Reads a text that as a whole is a number. False if it is none; value is then unchanged. Reals may be inf and nan.
bool parse_lightgbm_number(std::string_view text, double& value);
bool parse_lightgbm_number(std::string_view text, int64_t& value);

// The head of a file or one of its trees: lines "key=value".
class LightgbmSection {
 public:
  LightgbmSection() = default;
  // where: what messages start with, without a colon at its end.
  explicit LightgbmSection(std::string where) : where_(std::move(where)) {}

  // An input error if the key is there already: two sections ran together.
  void add_line(std::string_view line);
  bool has(std::string_view key) const { return values_.contains(key); }
  std::string where(std::string_view key) const;
  // An input error where the key is missing.
  std::string_view text(std::string_view key) const;
  int64_t whole(std::string_view key, int64_t least, int64_t most) const;
  // Exactly `count` numbers. Memory grows with the text, not with `count`.
  std::vector<double> reals(std::string_view key, size_t count) const;
  std::vector<int64_t> wholes(std::string_view key, size_t count) const;

 private:
  template <class T>
  std::vector<T> numbers(std::string_view key, size_t count, std::string_view kind) const;

  std::string where_;
  std::map<std::string_view, std::string_view> values_;
};

// Adds the nodes, leaves and sets of one tree. Trees belong to the targets in turn.
void add_lightgbm_tree(const LightgbmSection& tree, size_t number, Booster& booster);

// Fills booster.categories, and adds a note if it is not clear which columns the texts belong to. infos: feature_infos
// of the file, one word for each feature, or empty; listed: the parameter categorical_feature; frame:
// pandas_categorical, JSON, or empty.
void add_lightgbm_categories(std::string_view name, std::string_view infos, std::string_view listed,
                             std::string_view frame, Booster& booster);

// Adds a sentence to what users should know.
void add_lightgbm_note(Booster& booster, std::string_view sentence);

}  // namespace assay
