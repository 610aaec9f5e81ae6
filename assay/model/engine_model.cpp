#include "assay/model/engine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "assay/core/budget.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/unseen.h"
#include "assay/model/affine_entry.h"
#include "assay/model/graph_head.h"
#include "assay/model/graph_inputs.h"
#include "assay/model/graph_rows.h"
#include "assay/model/metadata.h"
#include "assay/model/model_file.h"
#include "assay/model/open_batch.h"
#include "assay/model/output_table.h"
#include "assay/model/probability_trial.h"
#include "assay/model/randomise.h"
#include "assay/model/train/recipe.h"
#include "assay/model/tree_scores.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

class OnnxEngineModel final : public EngineModel,
                              public Differentiable,
                              public Rescalable,
                              public AffineEntry,
                              public TreeScores,
                              public Trainable,
                              public Randomisable {
 public:
  OnnxEngineModel(Graph graph, const EngineModelOptions& options, size_t fixed_batch, const Context& context) {
    if (const std::string* json = find_metadata(graph.metadata(), kEncoderKey); json != nullptr) {
      encoder_ = Encoder::from_json(graph.name(), *json);
    }
    if (const std::string* unseen = find_metadata(graph.metadata(), kUnseenKey); unseen != nullptr) {
      check_unseen(fmt::format("{}, {}", graph.name(), kUnseenKey), *unseen);
      takes_unknown_ = takes_unknown(graph.metadata());
    }
    inputs_ = find_inputs(graph, metadata_texts(graph.name(), graph.metadata(), kFeatureNamesKey), options.features);
    inputs_.fixed_batch = fixed_batch;
    inputs_.texts = options.texts != nullptr ? options.texts : std::make_shared<TextCodes>();
    info_.name = graph.name();
    info_.feature_names = inputs_.feature_names;
    const Shape& shape = inputs_.inputs[0].row_shape;
    if (inputs_.inputs.size() == 1 && shape.size() > 1) info_.item_shape.assign(shape.begin(), shape.end());
    GraphHead head = find_head(graph);
    context.check_cancelled();
    fetch_ = explained_value(graph, head, options.unit, info_);
    graph_ = std::make_shared<Graph>(std::move(graph));
    try {
      predict_ = runner({fetch_}, false, context);
    } catch (const Error& error) {
      // What lies behind the output may not be numbers by row; the output itself must be.
      if (options.unit || fetch_ == head.output || error.kind() == ErrorKind::cancelled) throw;
      fetch_ = head.output;
      predict_ = runner({fetch_}, false, context);
      info_.unit = OutputUnit::value;
      info_.note = "the graph's output itself";
      head.classification = false;
    }
    predict_->check_rows_apart(context);
    if (!is_floating(predict_->fetched(0).type)) {
      fail_input(fmt::format("{}: the explained value {} is {}, not numbers", info_.name, in_quotes(fetch_),
                             onnx_type_name(predict_->fetched(0).type)));
    }
    if (info_.unit == OutputUnit::probability && head.margin.empty() &&
        !gives_probabilities(info_.name, *predict_, inputs_.inputs, info_.features(), context)) {
      if (options.unit) {
        fail_input(
            fmt::format("{}: output probability is not available: its scores are not between 0 and 1", info_.name));
      }
      info_.unit = OutputUnit::margin;
      info_.note = "scores as the graph gives them: they are not between 0 and 1";
      head.link = Link::none;
    }
    // Sigmoids of more than two classes need not sum to 1.
    const bool sigmoid = head.link == Link::sigmoid && !head.one_vs_rest && predict_->width(0) <= 2;
    info_.margin_link = head.link == Link::softmax ? MarginLink::softmax
                        : sigmoid                  ? MarginLink::sigmoid
                                                   : MarginLink::unknown;
    info_.value_is_prediction = !head.transformed && find_metadata(graph_->metadata(), kOnlyScoresKey) == nullptr;
    const std::string note = metadata_text(graph_->metadata(), kNoteKey);
    if (!note.empty()) info_.note += fmt::format("{}{}", info_.note.empty() ? "" : "; ", note);
    info_.caution = metadata_text(graph_->metadata(), kCautionKey);
    name_outputs(head, context);
    find_capabilities(context);
  }

  // The same model with other weights: what was found out about the original stays, whatever the new outputs look like.
  OnnxEngineModel(const OnnxEngineModel& original, Graph graph)
      : graph_(std::make_shared<Graph>(std::move(graph))),
        inputs_(original.inputs_),
        info_(original.info_),
        encoder_(original.encoder_),
        takes_unknown_(original.takes_unknown_),
        fetch_(original.fetch_) {
    predict_ = runner({fetch_}, false, {});
    find_capabilities({});
  }

  const ModelInfo& info() const override { return info_; }
  const Graph& graph() const override { return *graph_; }
  const std::vector<RowInput>& inputs() const override { return inputs_.inputs; }
  const std::shared_ptr<TextCodes>& texts() const override { return inputs_.texts; }
  const Encoder* encoder() const override { return encoder_ ? &*encoder_ : nullptr; }
  size_t block_rows() const override { return predict_->block_rows(); }
  size_t block_bytes() const override { return predict_->block_bytes(); }
  const Differentiable* differentiable() const override { return gradient_ == nullptr ? nullptr : this; }
  const Rescalable* rescalable() const override { return gradient_ == nullptr ? nullptr : this; }
  const AffineEntry* affine_entry() const override { return entry_runner_ == nullptr ? nullptr : this; }
  const TreeScores* tree_scores() const override { return trees_ == nullptr ? nullptr : this; }

  const Trainable* trainable() const override { return has_recipe(graph_->metadata()) ? this : nullptr; }

  std::unique_ptr<Model> retrain(const Dataset& training, uint64_t seed, const Context& context) const override {
    EngineModelOptions options;
    options.unit = info_.unit == OutputUnit::value ? std::nullopt : std::optional(info_.unit);
    return from_onnx(info_.name, assay::retrain(info_.name, graph_->metadata(), training, seed, context), options,
                     context);
  }

  const Randomisable* randomisable() const override { return found_layers().empty() ? nullptr : this; }
  std::vector<std::string> layers() const override {
    std::vector<std::string> names;
    for (const GraphLayer& layer : found_layers()) names.push_back(layer.name);
    return names;
  }
  std::unique_ptr<Model> randomised(size_t count, bool alone, uint64_t seed, const FeatureScale& scale) const override {
    const std::vector<GraphLayer>& layers = found_layers();
    if (count > layers.size() || (alone && count == 0)) {
      fail_input(fmt::format("{}: expected 1 to {} layers to randomise, found {}", info_.name, layers.size(), count));
    }
    return std::make_unique<OnnxEngineModel>(
        *this, randomised_graph(*graph_, layers, count, alone, seed, input_scales(info_, inputs_.inputs, scale)));
  }

  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    check_shapes(rows, info_.features(), outputs.rows(), outputs.cols(), info_.outputs());
    run_forward(*predict_, rows, outputs, context);
  }

  void gradient(MatrixView<const float> rows, MatrixView<const float> weights, MatrixView<float> gradients,
                MatrixView<float> outputs, const Context& context) const override {
    check_shapes(rows, info_.features(), gradients.rows(), gradients.cols(), info_.features());
    check_shapes(rows, info_.features(), weights.rows(), weights.cols(), info_.outputs());
    gradient_->run(rows, context, [&](const Block& block, Workspace& workspace) {
      workspace.forward(context);
      if (!outputs.empty()) copy_outputs(*gradient_, workspace, block, outputs);
      seed(workspace, weights, block);
      workspace.backward();
      copy_gradients(workspace, block, gradients);
    });
  }

  std::optional<std::string> refuses(DeepLiftRule rule) const override {
    if (rule != DeepLiftRule::reveal_cancel) return {};
    try {
      reveal_runner({});
    } catch (const Error&) {
      // The gradient's plan was made, so nothing else can be wrong.
      return "keeping the parts of all differences would take too much memory";
    }
    return {};
  }

  void multipliers(MatrixView<const float> rows, MatrixView<const float> reference, MatrixView<const float> weights,
                   DeepLiftRule rule, MatrixView<float> multipliers, const Context& context) const override {
    check_shapes(rows, info_.features(), multipliers.rows(), multipliers.cols(), info_.features());
    check_shapes(rows, info_.features(), weights.rows(), weights.cols(), info_.outputs());
    check_shapes(rows, info_.features(), reference.rows() == 1 ? rows.rows() : reference.rows(), reference.cols(),
                 info_.features());
    const bool reveal = rule == DeepLiftRule::reveal_cancel;
    const RowRunner& paired = reveal ? reveal_runner(context) : *gradient_;
    paired.run_pairs(rows, reference, context, [&](const Block& block, Workspace& workspace, const Workspace& other) {
      workspace.forward(context);
      seed(workspace, weights, block);
      if (reveal) {
        workspace.reveal(other);
      } else {
        workspace.rescale(other);
      }
      copy_gradients(workspace, block, multipliers);
    });
  }

  MatrixView<const float> weights() const override { return entry_.weights.view(); }
  std::span<const float> bias() const override { return entry_.bias; }
  void predict_from(MatrixView<const float> entries, MatrixView<float> outputs, const Context& context) const override {
    check_shapes(entries, entry_.bias.size(), outputs.rows(), outputs.cols(), info_.outputs());
    run_forward(*entry_runner_, entries, outputs, context);
  }

  std::optional<LeakyTail> leaky_tail() const override {
    if (!tail_) return {};
    return LeakyTail{tail_->slope, tail_->weights.view(), tail_->bias};
  }

  const TreeEnsemble& trees() const override { return *trees_; }
  bool are_outputs() const override { return scores_runner_ == nullptr; }
  void outputs_of(MatrixView<const float> scores, MatrixView<float> outputs, const Context& context) const override {
    check_shapes(scores, trees_->targets(), outputs.rows(), outputs.cols(), info_.outputs());
    if (scores_runner_ != nullptr) return run_forward(*scores_runner_, scores, outputs, context);
    for (size_t r = 0; r < scores.rows(); r++) std::ranges::copy(scores.row(r), outputs.row(r).begin());
  }

  Dataset features_of(const Table& table, const KeptDoubles* kept) const override {
    if (!encoder_) return gather_features(inputs_, info_, table, kept == nullptr ? nullptr : doubles(), kept);
    Dataset data = takes_unknown_ ? apply_with_unknown(*encoder_, table) : encoder_->apply(table);
    if (data.x.cols() != info_.features()) {
      fail_input(fmt::format("{}: its encoder makes {} features, its graph takes {}", info_.name, data.x.cols(),
                             info_.features()));
    }
    return data;
  }

  std::optional<bool> takes_column(const std::string& name) const override {
    if (encoder_) {
      return std::ranges::find(encoder_->columns(), name, &ColumnEncoding::name) != encoder_->columns().end();
    }
    return inputs_.named ? std::optional(names_column(inputs_, name)) : std::nullopt;
  }

  bool compares_doubles() const override { return doubles() != nullptr; }
  bool takes_doubles() const override { return std::ranges::find(inputs_.is_double, true) != inputs_.is_double.end(); }

  Matrix narrowed(std::string_view source, const std::vector<std::string>& names,
                  MatrixView<const double> rows) const override {
    Matrix made(rows.rows(), rows.cols());
    const DoubleCells* const cells = doubles();
    for (size_t r = 0; r < rows.rows(); r++) {
      for (size_t f = 0; f < rows.cols(); f++) {
        const double cell = rows(r, f);
        const auto near = static_cast<float>(cell);
        const std::optional<float> found = cells == nullptr ? near : cells->stand_in(f, cell, near);
        if (!found) {
          fail_input(
              fmt::format("{}, row {} (counted from 0), column {}: {} ({}); take a number from the column that "
                          "makes its cells smaller, and train the model again",
                          source, r, in_quotes(names[f]), cells->why_none(f, cell), info_.name));
        }
        made(r, f) = *found;
      }
    }
    return made;
  }

  Table own_outputs(MatrixView<const float> rows, const Context& context) const override {
    std::vector<std::string> fetches;
    for (const OnnxValue& output : graph_->outputs()) fetches.push_back(output.name);
    const auto outputs = runner(fetches, false, context);
    outputs->check_rows_apart(context);
    return output_table(*graph_, fetches, *outputs, rows, context);
  }

 private:
  void check_shapes(MatrixView<const float> rows, size_t columns, size_t result_rows, size_t result_columns,
                    size_t wanted_columns) const {
    if (rows.cols() == columns && result_rows == rows.rows() && result_columns == wanted_columns) return;
    fail_input(fmt::format("{}: expected rows of {} columns and results of {} rows and {} columns, found {}, {} and {}",
                           info_.name, columns, rows.rows(), wanted_columns, rows.cols(), result_rows, result_columns));
  }

  std::unique_ptr<RowRunner> runner(std::vector<std::string> fetches, bool gradients, const Context& context) const {
    return std::make_unique<RowRunner>(graph_, inputs_.inputs, inputs_.texts, std::move(fetches), gradients,
                                       inputs_.fixed_batch, false, less_spent(context));
  }
  // A runner that starts from a value inside the graph.
  std::unique_ptr<RowRunner> runner_from(const std::string& value, size_t width, const Context& context) const {
    const RowInput input{value, OnnxElement::float32, {static_cast<int64_t>(width)}, 0, width};
    return std::make_unique<RowRunner>(graph_, std::vector<RowInput>{input}, inputs_.texts,
                                       std::vector<std::string>{fetch_}, false, inputs_.fixed_batch, false,
                                       less_spent(context));
  }

  // All runners together keep to one budget.
  Context less_spent(const Context& context) const {
    Context left = context;
    for (const RowRunner* made : {predict_.get(), gradient_.get(), entry_runner_.get(), scores_runner_.get()}) {
      if (made == nullptr) continue;
      const Budget spent = made->spent();
      left.budget.bytes -= std::min(left.budget.bytes, spent.bytes);
      left.budget.steps -= std::min(left.budget.steps, spent.steps);
    }
    return left;
  }

  // Of trees that are fed with doubles, or whose library is; else null. Made when it is first asked for.
  const DoubleCells* doubles() const {
    const bool fed_with_doubles = inputs_.inputs.size() == 1 && inputs_.inputs[0].type == OnnxElement::float64;
    if (!fed_with_doubles && find_metadata(graph_->metadata(), kDoublesKey) == nullptr) return nullptr;
    std::call_once(doubles_made_, [&] {
      std::shared_ptr<const TreeEnsemble> trees = trees_;
      if (trees == nullptr) {
        const std::vector<ScoredTrees> found = find_trees(*graph_, inputs_.inputs[0].value, info_.features());
        if (!found.empty()) trees = found[0].trees;
      }
      if (trees != nullptr) doubles_ = std::make_unique<const DoubleCells>(*trees);
    });
    return doubles_.get();
  }

  // Found when they are first asked for: few models are ever randomised, and a file may have very many nodes.
  const std::vector<GraphLayer>& found_layers() const {
    std::call_once(layers_found_, [&] { layers_ = find_layers(*graph_, fetch_); });
    return layers_;
  }

  // Made when it is first asked for: few models ever run by this rule.
  const RowRunner& reveal_runner(const Context& context) const {
    std::call_once(reveal_made_, [&] {
      reveal_ = std::make_unique<RowRunner>(graph_, inputs_.inputs, inputs_.texts, std::vector<std::string>{fetch_},
                                            true, inputs_.fixed_batch, true, less_spent(context));
    });
    return *reveal_;
  }

  static void copy_outputs(const RowRunner& runner, const Workspace& workspace, const Block& block,
                           MatrixView<float> outputs) {
    copy_rows(workspace.fetched(0), runner.fetched(0).type, runner.width(0), block.begin, block.end, outputs);
  }

  static void run_forward(const RowRunner& runner, MatrixView<const float> rows, MatrixView<float> outputs,
                          const Context& context) {
    runner.run(rows, context, [&](const Block& block, Workspace& workspace) {
      workspace.forward(context);
      copy_outputs(runner, workspace, block, outputs);
    });
  }

  void seed(Workspace& workspace, MatrixView<const float> weights, const Block& block) const {
    set_seeds(weights, block, gradient_->fetched(0).type, workspace.rows_fed(), workspace.fetch_gradient(0));
  }

  void copy_gradients(const Workspace& workspace, const Block& block, MatrixView<float> out) const {
    for (size_t i = 0; i < inputs_.inputs.size(); i++) {
      const RowInput& input = inputs_.inputs[i];
      const auto* from = static_cast<const float*>(workspace.feed_gradient(i));
      if (from == nullptr) {  // nothing depends on it
        for (size_t r = block.begin; r < block.end; r++) {
          std::fill_n(out.row(r).data() + input.first_column, input.columns, 0.0F);
        }
        continue;
      }
      if (input.columns == out.stride()) {
        std::copy_n(from, (block.end - block.begin) * input.columns, out.row(block.begin).data());
        continue;
      }
      for (size_t r = block.begin; r < block.end; r++, from += input.columns) {
        std::copy_n(from, input.columns, out.row(r).data() + input.first_column);
      }
    }
  }

  void name_outputs(const GraphHead& head, const Context& context) {
    const size_t width = predict_->width(0);
    // Twice a name of about 30 bytes.
    Spending(context, info_.name).take_bytes(uint64_t{width} * 128);
    std::vector<std::string> names = metadata_texts(graph_->name(), graph_->metadata(), kClassNamesKey);
    if (names.empty()) names = head.class_names;
    // One output of a classifier stands for the second of two classes.
    const size_t classes = width == 1 ? 2 : width;
    if (head.classification) {
      if (names.size() != classes) names.clear();
      for (size_t c = names.size(); c < classes; c++) names.push_back(fmt::format("{}", c));
      info_.class_names = std::move(names);
      info_.output_names = width == 1 ? std::vector<std::string>{info_.class_names[1]} : info_.class_names;
      return;
    }
    if (width == 1) info_.output_names = {head.output};
    for (size_t c = 0; width > 1 && c < width; c++) info_.output_names.push_back(fmt::format("{}.{}", head.output, c));
  }

  void find_capabilities(const Context& context) {
    const bool float_inputs = std::all_of(inputs_.inputs.begin(), inputs_.inputs.end(),
                                          [](const RowInput& input) { return input.type == OnnxElement::float32; });
    find_gradient(float_inputs, context);
    if (float_inputs && inputs_.inputs.size() == 1 && inputs_.inputs[0].row_shape.size() == 1) {
      find_entry(context);
      find_tree_scores(context);
    }
  }

  void find_gradient(bool float_inputs, const Context& context) {
    if (!float_inputs) {
      info_.no_gradient = "it has inputs that are not float32";
      return;
    }
    try {
      gradient_ = runner({fetch_}, true, context);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      // Keeping all values for backward takes more memory than is allowed: it predicts, but has no derivatives.
      info_.no_gradient = "keeping what derivatives need would take too much memory";
      return;
    }
    if (gradient_->differentiable()) return;
    const std::string& stop = gradient_->gradient_stops_at();
    info_.no_gradient =
        stop.empty() ? "nothing in it depends smoothly on its features" : fmt::format("its operator {} has none", stop);
    gradient_.reset();
  }

  void find_entry(const Context& context) {
    std::optional<FirstLayer> layer = find_first_layer(*graph_, inputs_.inputs[0].value, info_.features(), fetch_);
    if (!layer) return;
    try {
      entry_runner_ = runner_from(layer->entry, layer->bias.size(), context);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      return;  // it takes too much memory: what would be faster with it goes the long way
    }
    entry_ = std::move(*layer);
    tail_ = find_last_layer(*graph_, entry_.entry, entry_.bias.size(), fetch_);
  }

  // Several nodes may hold the same trees: one whose scores are the outputs, one behind a transform.
  void find_tree_scores(const Context& context) {
    std::vector<ScoredTrees> found = find_trees(*graph_, inputs_.inputs[0].value, info_.features(), context);
    const auto outputs = std::ranges::find(found, fetch_, &ScoredTrees::scores);
    if (outputs != found.end()) {
      trees_ = std::move(outputs->trees);
      return;
    }
    for (ScoredTrees& each : found) {
      try {
        scores_runner_ = runner_from(each.scores, each.trees->targets(), context);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::cancelled) throw;
        continue;  // what is explained depends on more than these scores
      }
      trees_ = std::move(each.trees);
      return;
    }
  }

  std::shared_ptr<const Graph> graph_;
  GraphInputs inputs_;
  ModelInfo info_;
  std::optional<Encoder> encoder_;
  bool takes_unknown_ = false;  // a category that the encoder does not know
  std::string fetch_;
  mutable std::once_flag layers_found_;
  mutable std::vector<GraphLayer> layers_;  // from the output down
  std::unique_ptr<RowRunner> predict_;
  std::unique_ptr<RowRunner> gradient_;
  mutable std::once_flag reveal_made_;
  mutable std::unique_ptr<RowRunner> reveal_;
  FirstLayer entry_;
  std::optional<LastLayer> tail_;
  std::unique_ptr<RowRunner> entry_runner_;
  std::shared_ptr<const TreeEnsemble> trees_;
  std::unique_ptr<RowRunner> scores_runner_;  // from raw scores to outputs; null where they are the same
  mutable std::once_flag doubles_made_;
  mutable std::unique_ptr<const DoubleCells> doubles_;
};

}  // namespace

std::unique_ptr<EngineModel> EngineModel::from_onnx(std::string name, OnnxModel model,
                                                    const EngineModelOptions& options, const Context& context) {
  const size_t batch = declared_batch(model);
  if (batch == 0) {
    return std::make_unique<OnnxEngineModel>(Graph(std::move(name), std::move(model), context), options, 0, context);
  }
  // Files that fix the batch usually do so without need.
  try {
    return std::make_unique<OnnxEngineModel>(Graph(name, with_open_batch(model, batch), context), options, 0, context);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;
    return std::make_unique<OnnxEngineModel>(Graph(name, std::move(model), context), options, batch, context);
  }
}

std::unique_ptr<EngineModel> EngineModel::load(const std::string& path, const EngineModelOptions& options,
                                               const Context& context) {
  return from_onnx(path, read_model(path, context), options, context);
}

}  // namespace assay
