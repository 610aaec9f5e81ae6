// All rows of a CSV table, below its header: read into one buffer, a block at a time, whose parts are parsed on all
// threads. The result does not depend on their number, nor does the message about a bad row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/csv_part.h"
#include "assay/data/table.h"

namespace assay {

// Vectors have an entry for each column of the file; values lack the column that names rows.
struct CsvBody {
  Matrix values;
  std::vector<std::string> ids;
  std::vector<LevelCodes> levels;
  std::vector<size_t> rounded;               // as Column::rounded
  std::vector<std::vector<double>> doubles;  // as KeptDoubles holds them; only where asked for
};

// The form of the file, from its first rows.
struct CsvForm {
  std::vector<CsvColumn> columns;
  bool has_header = false;
  char delimiter = '\0';
  size_t skip_lines = 0;
};

// Nothing if a column turned out to be categorical after all: its role is corrected, and so are those of all other such
// columns.
std::optional<CsvBody> read_csv_body(const ByteOpener& open, CsvForm& form, const CsvCells& cells,
                                     const Context& context);

}  // namespace assay
