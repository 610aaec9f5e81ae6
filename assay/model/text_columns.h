// Which columns of a table must be read as text for a model, even if all their cells look like numbers: otherwise "007"
// would become 7.
#pragma once

#include <string>

#include "assay/data/io/csv.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Adds them to options.texts: the categorical columns of the encoder that is stored with a model, or else those of a
// booster's categories with texts and of a graph's text inputs. Sets options.all_texts if the only input is text. name:
// the model's.
void declare_text_columns(const std::string& name, const OnnxModel& model, TableOptions& options);

}  // namespace assay
