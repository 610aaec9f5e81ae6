// Finds the category of a table's cell among those that a model knows.
//
// A reader takes a column for numbers if all its cells look like numbers; "007" and "7" are then the same cell. A cell
// of such a column is looked up by the shortest text of its number. The column is refused if some category is a number
// in another spelling ("007"), because that spelling is lost. A text is looked up as it is. If every category is a
// number in its shortest form, other spellings match: "1.0" is 1. If all categories are True and False, the numbers 1
// and 0 match them: CSV has words, Parquet and pandas numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/data/table.h"

namespace assay {

class KnownLevels {
 public:
  explicit KnownLevels(const std::vector<std::string>& levels);

  // An input error if the column was read as numbers and its cells may have lost their spelling or digits.
  void check(const Table& table, size_t column) const;

  // The position of the cell's category; nothing if the model does not know it. The cell must not be missing.
  std::optional<size_t> find(const Column& column, float value) const;

  // The cell's text, for messages.
  static std::string text(const Column& column, float value);

 private:
  std::unordered_map<std::string, size_t> positions_;
  std::string respelt_;      // a category that is a number, but not in the shortest form; empty where there is none
  bool all_numbers_ = true;  // every category is a number in its shortest form
  bool all_truth_ = true;    // every category is True or False, in any case
  std::optional<size_t> truth_[2] = {};  // the positions of False and True
};

}  // namespace assay
