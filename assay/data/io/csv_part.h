// Cells of a CSV table as numbers: what they mean, and the rows of a part of the file. Parts are read independently of
// each other, several at a time, and then put together in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/csv.h"
#include "assay/data/io/csv_parser.h"
#include "assay/data/io/number.h"
#include "assay/data/table.h"

namespace assay {

enum class CsvRole : uint8_t { numeric, categorical, id, left_out };

// Whether a column is one of the table's, and not what names rows or is left out.
inline bool has_values(CsvRole role) { return role == CsvRole::numeric || role == CsvRole::categorical; }

// What is known of a column before its cells are read.
struct CsvColumn {
  std::string name;
  CsvRole role = CsvRole::numeric;
  bool declared = false;  // by the options, so that it must be so
};

// What a cell means, by the options.
class CsvCells {
 public:
  explicit CsvCells(const TableOptions& options);

  // In quotes there is text, also where it is empty; among numbers an empty text can only mean that there is none, and
  // so can words such as NULL and n/a, which may be a level among texts.
  bool missing(std::string_view cell, bool quoted, CsvRole role) const;
  // In quotes "inf" and "nan" are words.
  static std::optional<ParsedNumber> number_in(std::string_view cell, bool quoted);
  // Numbers that stand for missing cells ("-999"), however a cell writes them ("-999.0").
  const std::vector<double>& missing_numbers() const { return missing_numbers_; }
  bool keeps_doubles() const { return keeps_doubles_; }

 private:
  std::vector<std::string> missing_;
  std::vector<double> missing_numbers_;
  bool keeps_doubles_;
};

// The rows of a part of the file. May be filled again and again; its memory is kept.
class CsvPart {
 public:
  // Reads the rows of the parser's text. Codes of categories are those of `levels`, one for each column, which get the
  // texts that they lack. A column that turns out to be categorical is noted; its cells are then passed over, and
  // values mean nothing.
  void read(CsvParser& parser, const std::vector<CsvColumn>& columns, const CsvCells& cells,
            std::vector<LevelCodes>& levels);

  size_t rows() const { return rows_; }
  // Columns of the file without the one that names rows.
  MatrixView<float> values() { return {values_.data(), rows_, width_}; }
  std::vector<std::string>& ids() { return ids_; }
  // For each column of the file: how many numbers beyond 2^24 lost digits, and the doubles (kept_doubles.h) if the
  // options ask for them.
  const std::vector<size_t>& rounded() const { return rounded_; }
  const std::vector<std::vector<double>>& doubles() const { return doubles_; }
  // Columns of the file that turned out to be categorical.
  const std::vector<size_t>& turned() const { return turned_; }

 private:
  void start(const std::vector<CsvColumn>& columns, const CsvCells& cells);
  float number(const CsvParser& parser, size_t column, const std::vector<CsvColumn>& columns, const CsvCells& cells,
               size_t place);
  static float category(const CsvParser& parser, size_t column, const std::vector<CsvColumn>& columns,
                        const CsvCells& cells, LevelCodes& levels);

  size_t rows_ = 0;
  size_t width_ = 0;
  std::vector<float> values_;
  std::vector<std::string> ids_;
  std::vector<size_t> rounded_;
  std::vector<std::vector<double>> doubles_;
  std::vector<size_t> turned_;
  std::vector<bool> has_turned_;
  std::vector<size_t> numbers_from_;  // for each column: how many numeric ones there are from here on, side by side
};

// Places where rows start, at least part_bytes apart, from `begin` on: where the text can be cut into parts. The parser
// is used where quotes may hold line ends.
std::vector<const char*> csv_part_starts(const char* begin, const char* end, size_t part_bytes, CsvParser& parser);

}  // namespace assay
