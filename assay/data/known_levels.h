// The categories that a model knows, looked up by the cells of a table.
//
// A reader takes a column for numbers where all of its cells look like them, and then "007" and "7" are one cell. So a
// cell of such a column is looked up by the shortest text of its number, and where some category is a number in another
// spelling, which would be lost, the column is refused. Texts are looked up as they are. Where every category is a
// number in its shortest form, other spellings of it are too: "1.0" is 1. Where all categories are True and False, the
// numbers 1 and 0 are these: CSV has them as words, Parquet and pandas as numbers.
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

  // An input error for a column of numbers whose cells may have had another spelling.
  void check(const Table& table, size_t column) const;

  // The position of the category of a cell that is not missing; nothing where it is none of them.
  std::optional<size_t> find(const Column& column, float value) const;

  // The cell's text, for messages.
  static std::string text(const Column& column, float value);

 private:
  std::unordered_map<std::string, size_t> positions_;
  std::string respelt_;      // a category that is a number, but not in the shortest form; empty where there is none
  bool all_numbers_ = true;  // in the shortest form
  bool all_truth_ = true;    // True and False, in whatever case
  std::optional<size_t> truth_[2] = {};  // the positions of False and True
};

}  // namespace assay
