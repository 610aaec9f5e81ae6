// _core.Model and _core.train.
#include "python/src/models.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/metadata.h"
#include "assay/model/model_file.h"
#include "assay/model/renamed_classes.h"
#include "assay/model/text_columns.h"
#include "assay/model/train/recipe.h"
#include "assay/model/train/training_rows.h"
#include "assay/model/trees/booster.h"
#include "assay/model/trees/lightgbm.h"
#include "assay/model/trees/xgboost.h"
#include "python/src/arrays.h"
#include "python/src/callable_model.h"
#include "python/src/checks.h"
#include "python/src/collected.h"
#include "python/src/module.h"
#include "python/src/run.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

OutputUnit unit_named(std::string_view name) {
  for (const OutputUnit unit : {OutputUnit::margin, OutputUnit::probability, OutputUnit::log_odds, OutputUnit::value}) {
    if (output_unit_name(unit) == name) return unit;
  }
  fail_input("value", "margin, probability, log_odds or value", in_quotes(name));
}

}  // namespace

EngineModelOptions graph_options(const std::optional<std::string>& unit, std::optional<size_t> features,
                                 const ModelHandle* texts_of) {
  EngineModelOptions options{.features = features};
  if (texts_of != nullptr && texts_of->graph != nullptr) options.texts = texts_of->graph->texts();
  if (unit) options.unit = unit_named(*unit);
  return options;
}

ModelHandle graph_model(const std::string& name, OnnxModel onnx, const EngineModelOptions& options) {
  std::unique_ptr<EngineModel> made = run_engine(
      Run{}, [&](const Context& context) { return EngineModel::from_onnx(name, std::move(onnx), options, context); });
  EngineModel* graph = made.get();
  return {.model = std::move(made), .graph = graph};
}

namespace {

ModelHandle load_model(const std::string& path, const std::optional<std::string>& unit, std::optional<size_t> features,
                       const std::optional<std::string>& name, const ModelHandle* texts_of) {
  OnnxModel onnx = run_engine(Run{}, [&](const Context& context) { return read_model(path, context); });
  ModelHandle made = graph_model(name.value_or(path), std::move(onnx), graph_options(unit, features, texts_of));
  made.path = path;
  return made;
}

void set_metadata(OnnxModel& model, std::string_view key, std::string text) {
  std::erase_if(model.metadata, [&](const auto& entry) { return entry.first == key; });
  model.metadata.emplace_back(std::string(key), std::move(text));
}

ModelHandle model_from_bytes(const std::string& name, const nb::bytes& data, const std::optional<std::string>& unit,
                             std::optional<size_t> features, const std::vector<std::string>& class_names,
                             const std::vector<std::string>& feature_names, const std::string& note,
                             const ModelHandle* texts_of) {
  std::string bytes(data.c_str(), data.size());
  OnnxModel parsed = run_engine(Run{}, [&](const Context& context) { return parse_model(name, bytes, "", context); });
  const bool renamed = !class_names.empty() || !feature_names.empty() || !note.empty();
  if (!class_names.empty()) set_metadata(parsed, kClassNamesKey, texts_json(class_names));
  if (!feature_names.empty()) set_metadata(parsed, kFeatureNamesKey, texts_json(feature_names));
  if (!note.empty()) set_metadata(parsed, kNoteKey, note);
  if (renamed || looks_like_xgboost(bytes) || looks_like_lightgbm(bytes)) bytes = serialise_onnx(parsed);
  ModelHandle made = graph_model(name, std::move(parsed), graph_options(unit, features, texts_of));
  made.bytes = std::make_shared<const std::string>(std::move(bytes));
  return made;
}

ModelHandle with_training(const ModelHandle& self, nb::callable train) {
  ModelHandle made = self;
  made.model = retrainable(self.model, std::move(train));
  made.trained_by_python = true;
  return made;
}

ModelHandle model_from_functions(std::string name, std::vector<std::string> feature_names,
                                 std::vector<std::string> output_names, std::vector<std::string> class_names,
                                 const std::string& unit, nb::callable predict, nb::object gradient,
                                 std::string no_gradient, nb::object graph, nb::object train, std::string note,
                                 std::string no_layers, size_t most_rows, bool logits) {
  if (most_rows == 0) fail_input("batch", "at least one row", "0");
  CallableParts parts;
  parts.info = {.name = std::move(name),
                .feature_names = std::move(feature_names),
                .output_names = std::move(output_names),
                .class_names = std::move(class_names),
                .unit = unit_named(unit),
                .note = std::move(note),
                .no_gradient = std::move(no_gradient),
                .margin_link = logits ? MarginLink::softmax : MarginLink::unknown};
  parts.predict = std::move(predict);
  parts.gradient = std::move(gradient);
  parts.train = std::move(train);
  parts.find_graph = std::move(graph);
  parts.no_layers = std::move(no_layers);
  parts.most_rows = most_rows;
  return {.model = callable_model(std::move(parts))};
}

// Rows are still encoded by the graph itself, which knows the first names.
ModelHandle renamed_model(const ModelHandle& self, std::vector<std::string> names) {
  const ModelInfo& info = self.model->info();
  check_class_names(info, names);
  if (self.graph != nullptr && self.graph->encoder() != nullptr && names != info.class_names) {
    fail_argument("classes", fmt::format(": expected none, for {} has the names of its classes, {}, found {}",
                                         info.name, joined(info.class_names), joined(names)));
  }
  ModelHandle made = self;
  made.model = with_class_names(self.model, std::move(names));
  return made;
}

std::vector<std::string> capabilities(const ModelHandle& self) {
  std::vector<std::string> names;
  if (self.model->differentiable() != nullptr) names.emplace_back("gradient");
  const Rescalable* rescalable = self.model->rescalable();
  if (rescalable != nullptr && !rescalable->refuses(DeepLiftRule::rescale)) names.emplace_back("multipliers");
  if (self.model->affine_entry() != nullptr) names.emplace_back("affine_entry");
  if (self.model->tree_scores() != nullptr) names.emplace_back("trees");
  if (self.model->trainable() != nullptr) names.emplace_back("retrain");
  if (self.model->randomisable() != nullptr) names.emplace_back("randomise");
  return names;
}

std::vector<std::string> raw_columns(const ModelHandle& self) {
  std::vector<std::string> names;
  if (self.graph == nullptr || self.graph->encoder() == nullptr) return names;
  for (const ColumnEncoding& column : self.graph->encoder()->columns()) names.push_back(column.name);
  return names;
}

// A row that the encoder takes, where there is one: zeros and first categories.
Table example_row(const ModelHandle& self) {
  if (self.graph == nullptr || self.graph->encoder() == nullptr) {
    throw Error(ErrorKind::internal, "only an encoder knows an example of its rows");
  }
  const std::vector<ColumnEncoding>& columns = self.graph->encoder()->columns();
  Table made;
  made.source = std::string("X");  // GCC 12 warns of a plain assignment here
  made.values = Matrix(1, columns.size());
  for (size_t j = 0; j < columns.size(); j++) {
    Column column{.name = columns[j].name, .kind = columns[j].kind};
    if (column.kind == ColumnKind::categorical) {
      if (columns[j].levels.empty()) {
        made.values(0, j) = kMissing;
      } else {
        column.levels = {columns[j].levels[0]};
      }
    }
    made.columns.push_back(std::move(column));
  }
  return made;
}

// By index of the feature, the texts of its codes. Features whose codes have no texts are left out.
std::map<size_t, std::vector<std::string>> categories(const ModelHandle& self) {
  std::map<size_t, std::vector<std::string>> found;
  if (self.graph == nullptr) return found;
  const std::string* text = find_metadata(self.graph->graph().metadata(), kCategoriesKey);
  if (text == nullptr) return found;
  // The graph would not be one if it were anything else.
  const nlohmann::json parsed = nlohmann::json::parse(*text);
  for (const auto& [feature, texts] : parsed.items()) {
    found[std::stoul(feature)] = texts.get<std::vector<std::string>>();
  }
  return found;
}

bool plain_rows(const ModelHandle& self) {
  if (self.graph == nullptr || self.graph->encoder() != nullptr) return false;
  return std::ranges::all_of(self.graph->inputs(),
                             [](const RowInput& input) { return input.type == OnnxElement::float32; });
}

EngineModel& graph_of(const ModelHandle& self) {
  if (self.graph == nullptr) throw Error(ErrorKind::internal, "a model of Python functions takes no tables");
  return *self.graph;
}

nb::bytes onnx_bytes(const ModelHandle& self) {
  graph_of(self);
  if (self.bytes != nullptr) return nb::bytes(self.bytes->data(), self.bytes->size());
  const std::string bytes =
      run_engine(Run{}, [&](const Context& context) { return serialise_onnx(read_model(self.path, context)); });
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object narrowed(const ModelHandle& self, const std::string& source, const std::vector<std::string>& names,
                    const DoubleMatrix& rows) {
  const EngineModel& graph = graph_of(self);
  expect_count(source, "columns", graph.info().features(), rows.shape(1));
  expect_count(source, "names, one for each column", rows.shape(1), names.size());
  return nb::cast(owned_array(graph.narrowed(source, names, {rows.data(), rows.shape(0), rows.shape(1)})));
}

nb::object predicted(const ModelHandle& self, const Dataset& data, const Run& run) {
  const ModelInfo& info = self.model->info();
  if (data.x.cols() != info.features()) {
    fail_input(fmt::format("{}: expected {} columns in the rows, found {}", info.name, info.features(), data.x.cols()));
  }
  Matrix outputs(data.rows(), info.outputs());
  run_engine(run, [&](const Context& context) { self.model->predict(data.x.view(), outputs.view(), context); });
  return nb::cast(owned_array(std::move(outputs)));
}

nb::bytes train_on(const Table& table, const std::string& encode, const std::string& unseen, const Table* held_out,
                   const Run& run) {
  check_unseen("unseen", unseen);
  const std::string bytes = run_engine(run, [&](const Context& context) {
    const TrainingRows rows = training_rows(table, held_out, encode);
    Recipe recipe = recipe_for(rows.data.item_shape);
    recipe.unseen = unseen;
    return serialise_onnx(train_recipe(recipe, rows.data, &rows.encoder, context).model);
  });
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<ModelHandle> model(m, "Model", nb::type_slots(model_slots.data()));
  model
      .def_static("load", &load_model, nb::arg("path"), nb::arg("unit") = nb::none(), nb::arg("features") = nb::none(),
                  nb::arg("name") = nb::none(), nb::arg("texts_of").none() = nb::none())
      .def_static("from_bytes", &model_from_bytes, nb::arg("name"), nb::arg("data"), nb::arg("unit") = nb::none(),
                  nb::arg("features") = nb::none(), nb::arg("class_names") = std::vector<std::string>(),
                  nb::arg("feature_names") = std::vector<std::string>(), nb::arg("note") = "",
                  nb::arg("texts_of").none() = nb::none())
      .def_static("from_functions", &model_from_functions, nb::arg("name"), nb::arg("feature_names"),
                  nb::arg("output_names"), nb::arg("class_names"), nb::arg("unit"), nb::arg("predict"),
                  nb::arg("gradient").none() = nb::none(), nb::arg("no_gradient") = "",
                  nb::arg("graph").none() = nb::none(), nb::arg("train").none() = nb::none(), nb::arg("note") = "",
                  nb::arg("no_layers") = "", nb::arg("most_rows") = 65536, nb::arg("logits") = true)
      .def_prop_ro("name", [](const ModelHandle& self) { return self.model->info().name; })
      .def_prop_ro("feature_names", [](const ModelHandle& self) { return self.model->info().feature_names; })
      .def_prop_ro("output_names", [](const ModelHandle& self) { return self.model->info().output_names; })
      .def_prop_ro("class_names", [](const ModelHandle& self) { return self.model->info().class_names; })
      .def_prop_ro("unit",
                   [](const ModelHandle& self) { return std::string(output_unit_name(self.model->info().unit)); })
      .def_prop_ro("logits",
                   [](const ModelHandle& self) { return self.model->info().margin_link != MarginLink::unknown; })
      .def_prop_ro("note", [](const ModelHandle& self) { return self.model->info().note; })
      .def_prop_ro("no_gradient", [](const ModelHandle& self) { return self.model->info().no_gradient; })
      .def_prop_ro("no_layers",
                   [](const ModelHandle& self) -> std::optional<std::string> {
                     const Rescalable* rescalable = self.model->rescalable();
                     return rescalable != nullptr ? rescalable->refuses(DeepLiftRule::rescale) : std::nullopt;
                   })
      .def_prop_ro("capabilities", &capabilities)
      .def_prop_ro("item_shape", [](const ModelHandle& self) { return self.model->info().item_shape; })
      .def_prop_ro("raw_columns", &raw_columns)
      .def_prop_ro("categories", &categories)
      .def("example_row", &example_row)
      .def_prop_ro("is_graph", [](const ModelHandle& self) { return self.graph != nullptr; })
      .def_prop_ro("plain_rows", &plain_rows)
      .def(
          "features_of",
          [](const ModelHandle& self, const Table& table, const KeptDoubles* doubles) {
            const KeptDoubles none;
            for (const auto& [name, cells] : (doubles != nullptr ? doubles : &none)->columns()) {
              expect_count(name, "doubles, one for each row", table.rows(), cells.size());
            }
            return graph_of(self).features_of(table, doubles);
          },
          nb::arg("table"), nb::arg("doubles").none() = nb::none())
      .def_prop_ro("producer",
                   [](const ModelHandle& self) {
                     return self.graph != nullptr ? self.graph->graph().producer() : std::string();
                   })
      .def_prop_ro(
          "columns_by_name",
          [](const ModelHandle& self) { return self.graph != nullptr ? columns_by_name(*self.graph) : std::nullopt; })
      .def_prop_ro("takes_doubles",
                   [](const ModelHandle& self) { return self.graph != nullptr && self.graph->takes_doubles(); })
      .def_prop_ro("compares_doubles",
                   [](const ModelHandle& self) { return self.graph != nullptr && self.graph->compares_doubles(); })
      .def("with_class_names", &renamed_model, nb::arg("names"))
      .def("narrowed", &narrowed, nb::arg("source"), nb::arg("names"), nb::arg("rows").noconvert())
      .def("predict", &predicted, nb::arg("data"), nb::arg("run"))
      .def("with_training", &with_training, nb::arg("train"))
      .def("onnx_bytes", &onnx_bytes);
  bind_trees(model);
  m.def("train", &train_on, nb::arg("table"), nb::arg("encode"), nb::arg("unseen"), nb::arg("held_out").none(),
        nb::arg("run"));
}

}  // namespace assay::python
