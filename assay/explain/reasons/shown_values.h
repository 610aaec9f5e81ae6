// The values of a row's features in the user's own units and words, and what they are at the reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"
#include "assay/explain/explanations.h"
#include "assay/explain/players.h"

namespace assay {

// What people read of one feature.
struct ShownFeature {
  bool known = false;                    // whether there is a column for it; if not, all else is empty
  bool several = false;                  // a group of several columns
  std::vector<std::string> values = {};  // by row; "missing" where it is
  std::vector<double> numbers = {};      // by row, for a column of numbers; NaN for others
  std::vector<bool> missing = {};        // by row; a level may be called "missing" too. Empty for several columns
  std::string reference = {};     // the mean, or the most frequent level, of the reference's rows; empty: not known
  double reference_number = NAN;  // the mean
};

// For each feature, the columns of a table that it stands for.
using FeatureColumns = std::vector<std::vector<std::string>>;

// Each feature a column of its own name.
FeatureColumns columns_named_alike(std::span<const std::string> features);
// Whether the words for players (SubjectWords::players) say that the user grouped columns.
bool are_given_groups(std::string_view players);
// These columns as this table calls them: by the same name; else, if there is just one, by a name that differs only in
// having spaces for underscores: LightGBM writes "Marital Status" as "Marital_Status".
FeatureColumns columns_named_alike(FeatureColumns columns, const Table& table);
// The columns behind the features of explanations, as far as these say. None for features of files that only say that
// there are groups: a group may be called like a column that it is not.
FeatureColumns columns_of(const Explanations& explanations);
// The columns of a table that players of encoded rows stand for: one-hot columns stand for the column before encoding.
FeatureColumns columns_of_players(const Players& players, const Dataset& data);
// The columns of groups of these features.
FeatureColumns grouped_columns(const FeatureColumns& columns, const Players& groups);

// doubles: cells of columns that float32 rounds; may be null. reference: the rows that stand for an absent feature;
// null if they are not known.
std::vector<ShownFeature> shown_features(const FeatureColumns& columns, const Table& rows, const KeptDoubles* doubles,
                                         const Table* reference);

// Encoded rows as a table in raw units: numbers as before they were scaled, and levels by their names.
// like: a data set with the same columns. encoder: of the model; null if it has none.
Table decoded_table(MatrixView<const float> rows, const Dataset& like, const Encoder* encoder);
// The same of a data set, in which cells are missing that were missing in the user's table.
Table decoded_table(const Dataset& data, const Encoder* encoder);

}  // namespace assay
