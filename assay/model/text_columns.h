// Which columns of a table a model knows by the texts of their cells: they are to be read as texts even where all of
// them look like numbers, or "007" in a file of one row would be 7.
#pragma once

#include <string>

#include "assay/data/io/csv.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Names them in options.texts: those of the encoder that is stored with a model, of a booster's categories, and of a
// graph's inputs of texts; all of them where texts are all that a graph takes. name: of the model, for messages.
void declare_text_columns(const std::string& name, const OnnxModel& model, TableOptions& options);

}  // namespace assay
