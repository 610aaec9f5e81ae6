// From raw tables to what a model sees: fitted on training rows, applied to any rows, stored with the model as JSON.
//
// Numeric columns may be imputed, then scaled. Categorical columns become a code (label) or 0/1 columns that form one
// feature group (one_hot). Missing values stay NaN unless imputed. A categorical column with missing values in training
// has "missing" as a level of its own, the first one, which is what label encoders make of Adult's '?'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/data/table.h"

namespace assay {

struct EncoderOptions {
  std::string categorical = "label";
  std::string scale = "none";
  std::string impute = "none";
  double constant = 0;
  bool missing_level = true;
  std::string task = "auto";

  void describe(OptionVisitor& visit) {
    visit.choice("categorical", categorical, "how categories become numbers", {"label", "one_hot"});
    visit.choice("scale", scale, "numeric columns to mean 0 and deviation 1, or to 0..1",
                 {"none", "standardise", "min_max"});
    visit.choice("impute", impute,
                 "what replaces missing numbers; categories take their mode (with constant: their missing level)",
                 {"none", "mean", "median", "mode", "constant"});
    visit.real("constant", constant, "the number that impute=constant puts in", "raw units", -3e38, 3e38);
    visit.flag("missing_level", missing_level, "a missing category is a level of its own where training rows had one");
    visit.choice("task", task, "numeric labels are classes when whole and at most 20 different (auto)",
                 {"auto", "classification", "regression"});
  }
};

// Reads what users write: label or one_hot, with options as in one_hot:scale=standardise. `option` names it in errors.
EncoderOptions encoder_options(std::string_view option, const std::string& encode);

// How one raw column is encoded.
struct ColumnEncoding {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  // Categorical. With missing_level the code of level i is i + 1, and 0 is "missing".
  std::vector<std::string> levels = {};
  bool missing_level = false;
  bool one_hot = false;
  // Numeric: (value - shift) / scale.
  double shift = 0;
  double scale = 1;
  // What replaces a missing value: a number (before shift and scale) or the code of a level. NaN: nothing does.
  double fill = 0;

  // The levels in order of their codes, "missing" first where it is one.
  std::vector<std::string> all_levels() const;
};

class Encoder {
 public:
  // An input error if a column to be imputed or made one-hot has no value at all, or a column to be scaled has an
  // infinite value.
  static Encoder fit(const Table& training, const EncoderOptions& options);

  // Columns are matched by name; others are ignored. An input error names a column that is missing or of the wrong
  // kind, and a category or class that training did not have. Labels are encoded where the table has the label column.
  Dataset apply(const Table& table) const;

  const std::vector<ColumnEncoding>& columns() const { return columns_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  // The column that labels came from; empty when training had none.
  const std::string& label() const { return label_; }
  std::vector<std::string> feature_names() const;
  // Zero in raw units: numbers 0, codes 0, no one-hot column set; then scaled like any other row.
  std::vector<float> zero_row() const;

  std::string to_json() const;
  // `where` names the file the text came from. The text is hostile: everything in it is checked.
  static Encoder from_json(std::string_view where, std::string_view text);

 private:
  void encode_labels(const Table& table, Dataset& out) const;

  std::vector<ColumnEncoding> columns_;
  std::string label_;                     // name of the label column; empty when training had none
  std::vector<std::string> class_names_;  // empty for a regression
  std::vector<size_t> item_shape_;
};

}  // namespace assay
