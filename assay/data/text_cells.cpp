#include "assay/data/text_cells.h"

#include <cmath>

#include "assay/data/io/number.h"

namespace assay {

std::optional<TextCell> first_text_cell(const Table& table, size_t column) {
  std::optional<TextCell> first;
  for (size_t i = 0; i < table.rows(); i++) {
    const float code = table.values(i, column);
    if (std::isnan(code)) continue;
    const std::string& text = table.columns[column].levels[static_cast<size_t>(code)];
    if (!parse_number(text)) return TextCell{i, text};
    if (!first) first = TextCell{i, text};
  }
  return first;
}

}  // namespace assay
