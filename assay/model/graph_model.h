// A model from an ONNX graph, which files of boosters are read into (model_file.h): rows of numbers in, the explained
// outputs out, with derivatives where the graph has them.
//
// Features are the elements of one row of the graph's inputs, in the order of the inputs. A text feature is a number
// too: the position of its text in the feature's levels. Assay's own files carry the encoder of the rows they were
// trained on, so that raw tables can be predicted.
//
// Which value is explained: where the graph ends in Softmax, LogSoftmax or Sigmoid, or in a classifier node with a
// post-transform, the margin is the value before it; a graph that has only probabilities explains those and says so in
// info().note. Log-odds come from margins: z_c - ln sum over other classes of exp z (a sigmoid's are its margin).
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
#include "assay/model/graph/graph.h"
#include "assay/model/graph/row_runner.h"
#include "assay/model/model.h"

namespace assay {

struct GraphModelOptions {
  // Nothing: the margin where there is one. Asking for what the graph cannot give is an input error.
  std::optional<OutputUnit> unit = {};
  // How many features a row has, for graphs that leave it open.
  std::optional<size_t> features = {};
};

class GraphModel : public Model {
 public:
  // Both keep to the context's budget beside the weights in the file, and stop when it is cancelled.
  static std::unique_ptr<GraphModel> load(const std::string& path, const GraphModelOptions& options = {},
                                          const Context& context = {});
  // name: for messages
  static std::unique_ptr<GraphModel> from_onnx(std::string name, OnnxModel model, const GraphModelOptions& options = {},
                                               const Context& context = {});

  virtual const Graph& graph() const = 0;
  virtual const std::vector<RowInput>& inputs() const = 0;
  // The encoder that Assay stored with the model; null in files of others.
  virtual const Encoder* encoder() const = 0;

  // The features of a table's rows: through the encoder where there is one; by the names of columns where the model has
  // several inputs or knows its features' names; else all columns but the label, in order, which must be as many as
  // there are features. Adds text that a text feature has not had yet to its levels. An input error names a column that
  // is missing or of the wrong kind.
  // doubles: of the same table, where the model compares them; null: they are what float32 holds.
  virtual Dataset features_of(const Table& table, const KeptDoubles* doubles = nullptr) = 0;

  // The float32 rows that stand for these rows of all features, where the trees of the model compare doubles: every
  // branch decides on both alike. Else the numbers rounded. An input error names the row (counted from 0), the column
  // and the cell for which there is no such number. names: of the columns, for that message.
  virtual Matrix narrowed(std::string_view source, const std::vector<std::string>& names,
                          MatrixView<const double> rows) const = 0;
  virtual bool compares_doubles() const = 0;
  // Whether some input is of doubles, of which rows lose digits.
  virtual bool takes_doubles() const = 0;

  // The graph's own outputs as a table, one row for each of rows: a column named as the output where it has one
  // element per row, else output.0, output.1, ...; output.class where a ZipMap names them.
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
