// Cells of a table as its file has them, where float32 rounds them: for models that compare doubles.
//
// Tables are float32. Most models take them so; some libraries of trees do not, and rounding may carry a cell across
// one of their thresholds. Who reads a table for such a model asks for its doubles too, beside the table
// (TableOptions::doubles): 8 bytes a cell of the columns that need them, which nobody else pays.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// By the name of a column all its cells; columns that float32 holds, and categories, are not there.
class KeptDoubles {
 public:
  // Null where float32 holds the column.
  const std::vector<double>* find(std::string_view column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? nullptr : &found->second;
  }
  void set(std::string column, std::vector<double> cells) {
    if (!cells.empty()) columns_.insert_or_assign(std::move(column), std::move(cells));
  }
  void erase(std::string_view column) {
    if (const auto found = columns_.find(column); found != columns_.end()) columns_.erase(found);
  }
  // These rows in place of all.
  void select(const std::vector<size_t>& rows) {
    for (auto& [name, cells] : columns_) {
      std::vector<double> chosen;
      for (const size_t row : rows) chosen.push_back(cells[row]);
      cells = std::move(chosen);
    }
  }
  const std::map<std::string, std::vector<double>, std::less<>>& columns() const { return columns_; }

 private:
  std::map<std::string, std::vector<double>, std::less<>> columns_;
};

// Collects the cells of one column of `values`, which they are narrowed into. They come in the order of their rows;
// what is missing may be left out. cells stays empty as long as float32 holds all of them.
inline void keep_double(std::vector<double>& cells, MatrixView<const float> values, size_t row, size_t column,
                        double cell) {
  if (cells.empty() && (static_cast<double>(static_cast<float>(cell)) == cell || cell != cell)) return;
  while (cells.size() < row) cells.push_back(static_cast<double>(values(cells.size(), column)));
  cells.push_back(cell);
}
// The same for what was left out at the end.
inline void finish_doubles(std::vector<double>& cells, MatrixView<const float> values, size_t column) {
  while (!cells.empty() && cells.size() < values.rows()) {
    cells.push_back(static_cast<double>(values(cells.size(), column)));
  }
}

}  // namespace assay
