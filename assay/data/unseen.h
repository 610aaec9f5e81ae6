// Rows with a category or a class that no training row has.
//
// Nothing may be fitted on rows that are held out, so the list of known categories comes from training rows alone.
// Encoder::apply refuses categories that it does not know: a misspelt one must not become a prediction. But the user
// does not choose the rows in the test part of a table. There an unknown category is taken for "unknown" instead: a
// code behind those of all levels, or no one-hot column set. A label of an unknown class becomes a missing one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"

namespace assay {

// As Encoder::apply, but accepts categories and classes that the encoder does not know. Each categorical feature that
// is a code gets one more level, the last: "unknown", or "(unknown)" if the training rows have a category of that name.
Dataset apply_with_unknown(const Encoder& encoder, const Table& table);

struct UnknownCategories {
  std::string feature;
  size_t rows = 0;
};
// The features with unknown categories, and how many rows have one. data: as apply_with_unknown makes it.
std::vector<UnknownCategories> unknown_categories(const Dataset& data);

// The rows whose label is none of the encoder's classes, ascending. Missing labels do not count. Empty for a regression
// and for a table without labels.
std::vector<size_t> rows_of_unknown_class(const Encoder& encoder, const Table& table);

// A sentence for each feature of `data` with unknown categories, and one more if rows_of_unknown_class is above 0.
std::vector<std::string> unknown_in_words(const Dataset& data, size_t rows_of_unknown_class);

}  // namespace assay
