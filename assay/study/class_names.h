// Which of a table's labels is which class of a model that only counts its classes: 0, 1, ...
//
// The model's scores decide. A class is the label whose rows its score finds among all others better than by chance and
// better than the rows of any other label: areas under ROC curves, by their 95 % intervals. If that is not clear for
// every class, or two classes are the same label, the user must say. Scores and not predicted classes: a frequent class
// would decide alone how many rows are predicted right, and a model that is tuned to miss no case of a rare class is
// right less often than not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/data/table.h"
#include "assay/model/model.h"

namespace assay {

// Whether the classes are only counted.
bool counts_classes(const ModelInfo& info);

// The texts of a label column that occur, in byte order, and for each row its text's index, NaN where it is missing.
struct TextLabels {
  std::string column = {};
  std::vector<std::string> levels = {};
  std::vector<float> codes = {};
};
// Of a table's label column; numbers are taken as their text. No levels without a label.
TextLabels text_labels(const Table& table);

// The same, and takes the labels out of the column: a model whose classes have other names would refuse them.
TextLabels take_labels(Table& table);

// Rows as the model takes them, with their labels.
struct LabelledRows {
  const Dataset* data = nullptr;
  TextLabels labels = {};
};

struct AgreedNames {
  std::vector<std::string> names = {};  // of the classes; empty: the labels do not say, and nothing is wrong with that
  std::string note = {};                // a sentence
};

// Names for a model that counts its classes, from labels in words. No names if the model names its classes itself, if
// labels are its names, or if there are not as many labels as classes; the note then says why there are no labels. Runs
// the model. Throws an input error about the argument "classes" if no order of the labels fits clearly.
AgreedNames agreed_class_names(const Model& model, std::span<const LabelledRows> rows, const Context& context);

// Sets the labels of `data`, rows of a model whose classes the user named. Labels are those names, or what they were
// before. An input error about the argument "classes" names a label that is neither.
void set_labels_by_name(const ModelInfo& before, const std::vector<std::string>& names, const TextLabels& labels,
                        Dataset& data);

}  // namespace assay
