// A table as read from a file: named columns of numbers or categories, before any encoding.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
// Codes are held in float32, which is exact for whole numbers up to this; beyond it codes would collide.
inline constexpr size_t kMostLevels = size_t{1} << std::numeric_limits<float>::digits;

enum class ColumnKind { numeric, categorical };

// The value of a text that is True or False, in any case; nothing for other texts.
std::optional<bool> truth_of(std::string_view text);
// What False and True are called in a column that has only these: its own texts and, where one of the two does not
// occur, a text spelt alike. Nothing if there are other texts, or one of the two is spelt in two ways.
std::vector<std::string> truth_words(const std::vector<std::string>& levels);

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  // Categorical: the text of each code, in byte order, so that codes do not depend on the order of rows.
  std::vector<std::string> levels = {};
  // Numeric: how many numbers beyond 2^24 lost digits in float32.
  size_t rounded = 0;
  // Numeric, of truth values: what 0 and 1 are called, for people to read; else empty. To a model they are numbers.
  std::vector<std::string> words_of_truth = {};
};

// The texts of a categorical column while it is read. Codes are 0, 1, 2, ... in the order in which texts first come.
class LevelCodes {
 public:
  float code_of(std::string_view text) {
    const auto found = codes_.find(text);
    if (found != codes_.end()) return found->second;
    const auto code = static_cast<float>(codes_.size());
    codes_.emplace(text, code);
    return code;
  }
  size_t size() const { return codes_.size(); }
  std::vector<std::string> in_order_of_code() const {
    std::vector<std::string> out(codes_.size());
    for (const auto& [text, code] : codes_) out[static_cast<size_t>(code)] = text;
    return out;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, float, Hash, std::equal_to<>> codes_;
};

// values(i, j) is row i of columns[j]: a number, or the code of a level. Missing is kMissing in both.
struct Table {
  std::string source;     // the file or data set, for messages
  std::string part = {};  // of the source: all, train or test; empty: not known
  std::vector<Column> columns;
  Matrix values;
  std::optional<size_t> label;          // which column is the label, where one was named
  std::string id_name;                  // the column that names rows; empty when there is none
  std::vector<std::string> ids;         // one for each row, kept as text
  std::vector<size_t> item_shape = {};  // of one row when rows are images: {28, 28}

  size_t rows() const { return values.rows(); }
};

// The index of the name that is meant by an exact name or a position (1 is the first, -1 the last). An input error that
// starts with `where` and lists the names if there is none.
size_t find_column(std::string_view where, const std::vector<std::string>& names, std::string_view name_or_position);

std::vector<std::string> column_names(const Table& table);

// The values of a column that are not missing.
std::vector<double> defined_values(const Matrix& values, size_t column);

// The rows with these indices, in this order.
Table select_rows(const Table& table, const std::vector<size_t>& rows);

// Says that the table is this part of its source (all, train or test), for messages too.
void set_part(Table& table, const std::string& part);

// The rows of one table below those of another with the same columns; categories are matched by their text. An input
// error when names or kinds of columns differ.
Table stacked(const Table& top, const Table& bottom);

// Renumbers the codes of a categorical column so that its levels are in byte order and every level occurs.
void sort_levels(Table& table, size_t column);

}  // namespace assay
