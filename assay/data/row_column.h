// One column beside rows, in the user's own units and words. It need not be a feature of the model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

namespace assay {

struct RowColumn {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<double> values = {};       // one for each row: a number, or the index of a level. NaN: missing
  std::vector<std::string> levels = {};  // of a categorical column

  size_t rows() const { return values.size(); }
};

// The column of a table. doubles: those of the same table, or null.
RowColumn row_column(const Table& table, const KeptDoubles* doubles, size_t column);

// The rows with these indices, in this order.
RowColumn select_rows(const RowColumn& column, std::span<const size_t> rows);

}  // namespace assay
