#include "assay/data/row_column.h"

namespace assay {

RowColumn row_column(const Table& table, const KeptDoubles* doubles, size_t column) {
  const Column& from = table.columns[column];
  RowColumn made{.name = from.name, .kind = from.kind};
  made.levels = from.levels;
  if (!from.words_of_truth.empty()) {
    made.kind = ColumnKind::categorical;
    made.levels = from.words_of_truth;
  }
  const std::vector<double>* wide = doubles == nullptr ? nullptr : doubles->find(from.name);
  if (wide != nullptr && made.kind == ColumnKind::numeric) {
    made.values = *wide;
    return made;
  }
  made.values.reserve(table.rows());
  for (size_t row = 0; row < table.rows(); row++) made.values.push_back(table.values(row, column));
  return made;
}

RowColumn select_rows(const RowColumn& column, std::span<const size_t> rows) {
  RowColumn made{.name = column.name, .kind = column.kind, .levels = column.levels};
  made.values.reserve(rows.size());
  for (const size_t row : rows) made.values.push_back(column.values[row]);
  return made;
}

}  // namespace assay
