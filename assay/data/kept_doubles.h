// The cells of a table as float64, for columns that float32 would round: for models that compare doubles.
//
// Tables are float32, which suits most models. Some tree libraries compare doubles, and rounding may carry a cell
// across one of their thresholds. For such a model, ask the reader for the doubles too (TableOptions::doubles). Cost: 8
// bytes for each cell of the columns that float32 would round.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// Maps the name of a column to all its cells. Holds only numeric columns that float32 would round.
class KeptDoubles {
 public:
  // Null if float32 holds the column exactly.
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
  // Keeps these rows only, in this order.
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

// Adds one cell of a column to `cells`. `values` holds the same cells as float32. Call it in the order of rows; missing
// cells may be skipped. `cells` stays empty until the first cell that float32 rounds; the cells before it, and skipped
// ones, are then taken from `values`.
inline void keep_double(std::vector<double>& cells, MatrixView<const float> values, size_t row, size_t column,
                        double cell) {
  if (cells.empty() && (static_cast<double>(static_cast<float>(cell)) == cell || cell != cell)) return;
  while (cells.size() < row) cells.push_back(static_cast<double>(values(cells.size(), column)));
  cells.push_back(cell);
}
// Call it after the last cell: fills in the cells that were skipped at the end.
inline void finish_doubles(std::vector<double>& cells, MatrixView<const float> values, size_t column) {
  while (!cells.empty() && cells.size() < values.rows()) {
    cells.push_back(static_cast<double>(values(cells.size(), column)));
  }
}

}  // namespace assay
