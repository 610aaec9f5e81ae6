// Which columns of a table a model knows by the texts of their cells: they are to be read as texts even where all of
// them look like numbers, or "007" in a file of one row would be 7.
#pragma once

#include <string>
#include <vector>

#include "assay/model/graph/onnx.h"

namespace assay {

struct TextColumns {
  std::vector<std::string> names = {};
  bool all = false;  // all columns but the label: a graph of texts alone, which takes columns by position
};

// Of the encoder that is stored with a model, of a booster's categories, and of a graph's inputs of texts. name: of the
// model, for messages.
TextColumns text_columns(const std::string& name, const OnnxModel& model);

}  // namespace assay
