#include "assay/data/io/csv_part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "assay/core/error.h"
#include "assay/data/io/plain_cells.h"
#include "assay/data/io/plain_number.h"

namespace assay {
namespace {

static_assert(kPlainNumberReads <= kCsvPadding);

// What databases, pandas and spreadsheets write where a number is missing.
constexpr std::array<std::string_view, 12> kMissingNumbers = {"NULL", "Null", "null", "None", "N/A",  "n/a",
                                                              "#N/A", "#NA",  "<NA>", "NAN",  "-nan", "-NaN"};

// Null if no row is known to start behind this place. Only for text without quotes.
const char* row_start_behind(const char* from, const char* end) {
  const auto size = static_cast<size_t>(end - from);
  const void* found = std::memchr(from, '\n', size);
  // An old file may have CR alone. The last byte tells nothing, because an LF may follow.
  if (found == nullptr && size > 0) found = std::memchr(from, '\r', size - 1);
  return found == nullptr ? nullptr : static_cast<const char*>(found) + 1;
}

}  // namespace

CsvCells::CsvCells(const TableOptions& options)
    : missing_(TableOptions().missing), keeps_doubles_(options.doubles != nullptr) {
  missing_.insert(missing_.end(), options.missing.begin(), options.missing.end());
  for (const std::string& word : options.missing) {
    if (const auto number = parse_number(word); number && std::isfinite(number->value)) {
      missing_numbers_.push_back(parse_double(word));
    }
  }
}

bool CsvCells::missing(std::string_view cell, bool quoted, CsvRole role) const {
  if (quoted) return cell.empty() && role == CsvRole::numeric;
  if (std::ranges::find(missing_, cell) != missing_.end()) return true;
  return role == CsvRole::numeric && std::ranges::find(kMissingNumbers, cell) != kMissingNumbers.end();
}

std::optional<ParsedNumber> CsvCells::number_in(std::string_view cell, bool quoted) {
  auto number = parse_number(cell);
  if (number && quoted && !std::isfinite(number->value)) number.reset();
  return number;
}

void CsvPart::start(const std::vector<CsvColumn>& columns, const CsvCells& cells) {
  rows_ = 0;
  values_.clear();
  ids_.clear();
  turned_.clear();
  has_turned_.assign(columns.size(), false);
  rounded_.assign(columns.size(), 0);
  doubles_.assign(cells.keeps_doubles() ? columns.size() : 0, {});
  width_ = 0;
  numbers_from_.assign(columns.size(), 0);
  for (size_t j = columns.size(); j-- > 0;) {
    if (has_values(columns[j].role)) ++width_;
    if (columns[j].role != CsvRole::numeric) continue;
    numbers_from_[j] = 1 + (j + 1 < columns.size() ? numbers_from_[j + 1] : 0);
  }
}

void CsvPart::read(CsvParser& parser, const std::vector<CsvColumn>& columns, const CsvCells& cells,
                   std::vector<LevelCodes>& levels) {
  start(columns, cells);
  // Cells that must be looked at as doubles are looked at one by one.
  const bool one_by_one = cells.keeps_doubles() || !cells.missing_numbers().empty();
  for (; parser.next(); ++rows_) {
    const auto row = parser.cells();
    values_.resize(values_.size() + width_);
    float* const out = values_.data() + rows_ * width_;
    size_t place = 0;  // in the row of values
    for (size_t j = 0; j < row.size();) {
      if (const size_t numbers = one_by_one ? 0 : numbers_from_[j]; numbers > 0) {
        const size_t plain = read_plain_cells(&row[j], numbers, out + place);
        j += plain;
        place += plain;
        if (plain == numbers) continue;
      }
      if (columns[j].role == CsvRole::id) {
        ids_.emplace_back(row[j]);
      } else if (has_values(columns[j].role)) {
        out[place] = columns[j].role == CsvRole::numeric ? number(parser, j, columns, cells, place)
                                                         : category(parser, j, columns, cells, levels[j]);
        ++place;
      }
      ++j;
    }
  }
}

float CsvPart::category(const CsvParser& parser, size_t column, const std::vector<CsvColumn>& columns,
                        const CsvCells& cells, LevelCodes& levels) {
  const std::string_view cell = parser.cells()[column];
  if (cells.missing(cell, parser.quoted_cell(column), CsvRole::categorical)) return kMissing;
  const float code = levels.code_of(cell);
  if (levels.size() > kMostLevels) {
    fail_input(parser.where(column, columns[column].name), "at most 2^24 different categories",
               "more (is this an id column?)");
  }
  return code;
}

// A numeric cell that is not a plain number, or must be looked at as a double.
float CsvPart::number(const CsvParser& parser, size_t column, const std::vector<CsvColumn>& columns,
                      const CsvCells& cells, size_t place) {
  const std::string_view cell = parser.cells()[column];
  const bool quoted = parser.quoted_cell(column);
  PlainDecimal decimal;
  ParsedNumber number{};
  const bool plain =
      read_plain_decimal(cell.data(), cell.data() + cell.size(), decimal) && plain_float32(decimal, number);
  // Numbers first, because most cells are; what "nan" gives is missing all the same.
  const auto slow = plain ? std::nullopt : CsvCells::number_in(cell, quoted);
  if (!plain && !slow) {
    if (cells.missing(cell, quoted, CsvRole::numeric)) return kMissing;
    if (columns[column].declared) {
      fail_input(parser.where(column, columns[column].name), "a number (float32)", in_quotes(cell));
    }
    if (!has_turned_[column]) turned_.push_back(column);
    has_turned_[column] = true;
    return kMissing;
  }
  if (slow) number = *slow;
  double wide = 0;
  if (!plain || !plain_float64(decimal, wide)) wide = parse_double(cell);
  if (std::ranges::count(cells.missing_numbers(), wide) > 0) return kMissing;
  if (number.rounded) ++rounded_[column];
  if (cells.keeps_doubles() && !std::isnan(number.value)) {
    keep_double(doubles_[column], values(), rows_, place, wide);
  }
  return number.value;
}

std::vector<const char*> csv_part_starts(const char* begin, const char* end, size_t part_bytes, CsvParser& parser) {
  std::vector<const char*> starts{begin};
  const bool simple = std::memchr(begin, '"', static_cast<size_t>(end - begin)) == nullptr &&
                      parser.delimiter() != '\n' && parser.delimiter() != '\r';
  if (simple) {
    while (static_cast<size_t>(end - starts.back()) > part_bytes) {
      const char* start = row_start_behind(starts.back() + part_bytes, end);
      if (start == nullptr) break;
      starts.push_back(start);
    }
    return starts;
  }
  parser.set_text(begin, end, false);
  try {
    while (parser.next()) {
      if (static_cast<size_t>(parser.position() - starts.back()) >= part_bytes) starts.push_back(parser.position());
    }
  } catch (const Error&) {
    return starts;  // Whoever reads the last part comes to the same row.
  }
  return starts;
}

}  // namespace assay
