// Which cell makes a column text where numbers are expected, for messages that a user can act on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "assay/data/table.h"

namespace assay {

struct TextCell {
  size_t row;
  std::string text;
};

// The first cell of a column of texts that is no number. If all are numbers (in quotes, say), the first that is not
// missing. Nothing if all cells are missing.
std::optional<TextCell> first_text_cell(const Table& table, size_t column);

}  // namespace assay
