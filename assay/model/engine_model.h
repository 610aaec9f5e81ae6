// A model that our engine computes: an ONNX graph, or a booster, whose file becomes a graph too (model_file.h). Rows of
// numbers go in, the explained outputs come out, with derivatives if the graph has them.
//
// Features are the elements of one row of the graph's inputs, in the order of the inputs. A text feature is a number
// too: the code of its text (data/text_codes.h). Assay's own files carry the encoder of the rows they were
// trained on, so that raw tables can be predicted.
//
// Which value is explained: where the graph ends in Softmax, LogSoftmax or Sigmoid, or in a classifier node with a
// post-transform, the margin is the value before it; a graph that has only probabilities explains those and says so in
// info().note. Log-odds come from margins: z_c - ln sum over other classes of exp z (for a sigmoid, the margin itself).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/encoder.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"
#include "assay/data/text_codes.h"
#include "assay/model/graph/graph.h"
#include "assay/model/graph/row_runner.h"
#include "assay/model/model.h"

namespace assay {

struct EngineModelOptions {
  // Nothing: the margin where there is one. Asking for what the graph cannot give is an input error.
  std::optional<OutputUnit> unit = {};
  // How many features a row has, for graphs that leave it open.
  std::optional<size_t> features = {};
  // What the numbers of text features stand for; models that share it can take each other's rows. Null: its own.
  std::shared_ptr<TextCodes> texts = {};
};

class EngineModel : public Model {
 public:
  // Both keep to the context's budget, in which the weights of the file do not count, and stop when it is cancelled.
  static std::unique_ptr<EngineModel> load(const std::string& path, const EngineModelOptions& options = {},
                                           const Context& context = {});
  // name: for messages
  static std::unique_ptr<EngineModel> from_onnx(std::string name, OnnxModel model,
                                                const EngineModelOptions& options = {}, const Context& context = {});

  virtual const Graph& graph() const = 0;
  virtual const std::vector<RowInput>& inputs() const = 0;
  // The encoder that Assay stored with the model; null in files of others.
  virtual const Encoder* encoder() const = 0;

  // What the numbers of text features stand for.
  virtual const std::shared_ptr<TextCodes>& texts() const = 0;

  // The features of a table's rows: through the encoder where there is one; by the names of columns where the model has
  // several inputs or knows its features' names; else all columns but the label, in order, which must be as many as
  // there are features. An input error names a column that is missing or of the wrong kind. doubles: those of the same
  // table; a model that compares doubles needs them, and for every model they fill the result's `shown` where float32
  // does not hold them. Null: the float32 cells are used.
  virtual Dataset features_of(const Table& table, const KeptDoubles* doubles = nullptr) const = 0;

  // Whether features_of finds this column by its name. Nothing if the model takes all columns by position.
  virtual std::optional<bool> takes_column(const std::string& name) const = 0;

  // These rows of all features as float32. If the trees of the model compare doubles, a cell becomes a number on which
  // every branch decides as on the cell. An input error names the row (counted from 0), the column and the cell without
  // such a number. For other models, cells are rounded. names: of the columns, for that message.
  virtual Matrix narrowed(std::string_view source, const std::vector<std::string>& names,
                          MatrixView<const double> rows) const = 0;
  virtual bool compares_doubles() const = 0;
  // Whether some input is float64, so that float32 rows lose digits.
  virtual bool takes_doubles() const = 0;

  // The graph's own outputs as a table, one row for each of rows. An output with one element per row is a column of its
  // name. Others have the columns output.0, output.1, ..., or output.class if a ZipMap names the classes.
  virtual Table own_outputs(MatrixView<const float> rows, const Context& context) const = 0;

  // Rows that one block of a run holds, and bytes of memory it takes on each thread.
  virtual size_t block_rows() const = 0;
  virtual size_t block_bytes() const = 0;
};

// The names of metadata that Assay writes into its files.
inline constexpr std::string_view kEncoderKey = "assay.encoder";
inline constexpr std::string_view kFeatureNamesKey = "assay.feature_names";  // JSON list
inline constexpr std::string_view kClassNamesKey = "assay.class_names";      // JSON list
inline constexpr std::string_view kTrainingKey = "assay.training";           // JSON: the recipe

}  // namespace assay
