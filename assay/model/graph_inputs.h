// The rows of a graph model: which features fill which inputs, and which columns of a table are those features.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"
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
  // What the library calls features that have no names: "Column_" before their number, or "f".
  std::string generated = {};
  size_t fixed_batch = 0;  // 0, or the only number of rows that the file declares
  // For text features: what their numbers stand for. Empty for all others.
  std::vector<std::vector<std::string>> levels;
  std::vector<bool> is_text;
  // Of numbers that stand for categories: codes, or positions in the levels where there are any, which are then all.
  std::vector<bool> is_category;
  std::vector<bool> is_float;   // float32, as tables hold numbers
  std::vector<bool> is_double;  // float64, of which tables lose digits
  std::string step = {};        // an operator of the graph that jumps, as Greater does; empty where none is
};

// Reads the graph's inputs. `names`, when not empty, are the features' names as the file tells them. features: how many
// there are, for a graph that leaves it open. An input error names an input of a type or rank that rows cannot fill.
GraphInputs find_inputs(const Graph& graph, std::vector<std::string> names, std::optional<size_t> features);

// The features of a table's rows; see GraphModel::features_of. Adds new text to inputs.levels. cells: what finds the
// numbers that stand for the table's doubles; null where cells are what float32 makes of them.
Dataset gather_features(GraphInputs& inputs, const ModelInfo& info, const Table& table, const DoubleCells* cells,
                        const KeptDoubles* doubles);

// The label column of a table as class indices (or values of a regression). No labels when none of its classes is one
// of the model's; an input error when only some are.
void gather_labels(const ModelInfo& info, const Table& table, Dataset& data);

}  // namespace assay
