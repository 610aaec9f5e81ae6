// Rows with a category or a class that no training row has.
//
// Nothing may be fitted on rows that are held out, and so neither may the list of known categories. What an encoder
// does not know it refuses (Encoder::apply): a misspelt category must not become a prediction. Where rows are none of
// the user's choice, as the test part of a table is, they are taken for "unknown" instead: a code behind those of all
// levels, or no one-hot column set. A label of an unknown class becomes a missing one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"

namespace assay {

// As Encoder::apply, but for what the encoder does not know. Each categorical feature that is a code has one level
// more, the last: "unknown", or "(unknown)" where the training rows have a category of that name.
Dataset apply_with_unknown(const Encoder& encoder, const Table& table);

struct UnknownCategories {
  std::string feature;
  size_t rows = 0;
};
// The features that have unknown categories. data: as apply_with_unknown makes it.
std::vector<UnknownCategories> unknown_categories(const Dataset& data);

// The rows whose label is none of the encoder's classes, in order. None for a regression, for a table without labels,
// and of missing labels.
std::vector<size_t> rows_of_unknown_class(const Encoder& encoder, const Table& table);

// A sentence for each feature with unknown categories, and one where so many rows have an unknown class. data: the rows
// they are among, whose source names them.
std::vector<std::string> unknown_in_words(const Dataset& data, size_t rows_of_unknown_class);

}  // namespace assay
