// The rows of a graph model: which features fill which inputs, and which columns of a table are those features.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"
#include "assay/data/text_codes.h"
#include "assay/model/graph/graph.h"
#include "assay/model/graph/row_runner.h"
#include "assay/model/model.h"
#include "assay/model/trees/double_cells.h"

namespace assay {

struct GraphInputs {
  std::vector<RowInput> inputs;
  std::vector<std::string> feature_names;
  bool named = false;  // the names are those of columns; else they only number the features
  // LightGBM writes the spaces of names as underscores: a column "Marital Status" is its feature "Marital_Status".
  bool underscored = false;
  // What the library puts before the number of a feature that has no name: "Column_" or "f".
  std::string generated = {};
  size_t fixed_batch = 0;            // 0, or the only number of rows that the file declares
  std::shared_ptr<TextCodes> texts;  // of text features: what their numbers stand for
  std::vector<bool> is_text;
  // Whether numbers stand for categories: as positions in `levels`, which then lists all, or as codes if it is empty.
  std::vector<bool> is_category;
  std::vector<std::vector<std::string>> levels;
  std::vector<bool> is_float;   // float32, as tables hold numbers
  std::vector<bool> is_double;  // float64, which tables round to float32
  std::string step = {};        // an operator of the graph that jumps, such as Greater; empty: none does
};

// Whether the model takes a column of this name, as tables or as LightGBM spell it.
bool names_column(const GraphInputs& inputs, const std::string& name);

// Reads the graph's inputs. `names`, when not empty, are the features' names as the file tells them. features: how many
// there are, for a graph that leaves it open. An input error names an input of a type or rank that rows cannot fill.
GraphInputs find_inputs(const Graph& graph, std::vector<std::string> names, std::optional<size_t> features);

// The features of a table's rows; see EngineModel::features_of. cells: finds the float32 numbers that stand for the
// table's doubles; null: cells are rounded to float32. With doubles, `shown` of the result has those that float32 does
// not hold.
Dataset gather_features(const GraphInputs& inputs, const ModelInfo& info, const Table& table, const DoubleCells* cells,
                        const KeptDoubles* doubles);

// Notes in data.notes where float32 cells are not what a model sees that takes some columns as doubles: cells that
// differ by little of their size, and cells at a threshold. step: an operator of the model that jumps; empty where none
// is.
void note_lost_digits(const std::string& model, const std::vector<bool>& is_double, std::string_view step,
                      Dataset& data);

// The label column of a table as class indices (or values of a regression). No labels when none of its classes is one
// of the model's; an input error when only some are.
void gather_labels(const ModelInfo& info, const Table& table, Dataset& data);

}  // namespace assay
