// What a model sees: a float32 matrix with names, the feature groups that move together, labels and class names.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/table.h"

namespace assay {

// Adjacent columns that stand for one raw feature: a one-hot encoding, or a single column. Groups are the players of
// coalition games, the features of baselines and the coordinates of distances.
struct FeatureGroup {
  std::string name;
  size_t first = 0;
  size_t count = 1;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<std::string> levels = {};  // of a categorical feature; one column each if one-hot (count > 1)
  // Of a number that is a truth value: what 0 and 1 are called (Column::words_of_truth); else empty.
  std::vector<std::string> words_of_truth = {};

  // What people are shown as a category: its levels, or the words of a truth value. Null: they are shown a number.
  const std::vector<std::string>* shown_levels() const {
    if (kind == ColumnKind::categorical) return &levels;
    return words_of_truth.empty() ? nullptr : &words_of_truth;
  }
};

// What ids are called that are only numbers of rows. A user's column may have this name too: see row_numbers.
inline constexpr const char* kRowNumbers = "row";

// How an encoder scaled a column: x = (cell - shift) / scale.
struct ColumnScale {
  double shift = 0;
  double scale = 1;
};

struct Dataset {
  std::string source;     // for messages
  std::string part = {};  // of the source: all, train or test; empty: not known
  Matrix x;
  std::vector<std::string> feature_names;  // of the columns of x
  std::vector<FeatureGroup> groups;        // cover the columns of x, in order
  std::string label_name;                  // empty when there are no labels
  std::vector<float> labels;               // class index, or the value of a regression; NaN where missing
  std::vector<std::string> class_names;    // empty for a regression
  std::string id_name;                     // of the column that names rows; empty when there is none
  std::vector<std::string> ids;            // names of rows, where given
  bool row_numbers = false;                // ids are numbers of rows that Assay gave, and id_name is kRowNumbers
  std::vector<size_t> item_shape = {};     // dimensions of one row, if rows are images
  std::vector<std::string> notes = {};     // what reading the cells lost, one sentence each
  // Columns of x whose numbers only stand for the user's cells, with those cells: what is shown to people.
  std::map<size_t, std::vector<double>> shown = {};
  // First columns of features (groups) in whose place an encoder put something where the user's cell was missing: which
  // rows. People are shown that it is missing.
  std::map<size_t, std::vector<bool>> imputed = {};
  std::map<size_t, ColumnScale> scaled = {};  // columns of x that an encoder scaled; people are shown cells

  size_t rows() const { return x.rows(); }
};

// The number before it was scaled, without the digits that are rounding: scaled numbers are float32.
float unscaled(double number, const ColumnScale& scale);

// The rows with these indices, in this order.
Dataset select_rows(const Dataset& data, const std::vector<size_t>& rows);

// The encoded rows as a table of numbers, labels (as text, for classes) last: what `assay data --encode` writes.
Table to_table(const Dataset& data);

// Refuses missing values: an input error that names the first column and row that has one.
void require_complete(const Dataset& data);

}  // namespace assay
