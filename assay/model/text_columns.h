// What a model says of the columns of tables before they are read: which must be read as text, even if all their cells
// look like numbers (otherwise "007" would become 7), and which it takes by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/data/io/csv.h"
#include "assay/model/engine_model.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Adds them to options.texts: the categorical columns of the encoder that is stored with a model, or else those of a
// booster's categories with texts and of a graph's text inputs. Sets options.all_texts if the only input is text. name:
// the model's.
void declare_text_columns(const std::string& name, const OnnxModel& model, TableOptions& options);

// The columns that a model takes by their names; nothing if it takes all columns, by position.
std::optional<std::vector<std::string>> columns_by_name(const std::string& name, const OnnxModel& model);
std::optional<std::vector<std::string>> columns_by_name(const EngineModel& model);

// Sets options.used to these columns and to all that the options name. Nothing is left out if a column is named by its
// position, which counts all columns.
void declare_used_columns(const std::optional<std::vector<std::string>>& taken, TableOptions& options);

}  // namespace assay
