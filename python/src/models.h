// Models as Python holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "assay/model/graph/onnx.h"
#include "assay/model/graph_model.h"
#include "assay/model/model.h"
#include "python/src/run.h"

namespace assay::python {

// `_core.Model`. Explanations keep the models alive that made them.
struct ModelHandle {
  std::shared_ptr<Model> model;
  GraphModel* graph = nullptr;  // the same one where it is a graph
  std::string bytes = {};       // of its ONNX file, or
  std::string path = {};        // where that lies
  bool trained_by_python = false;
};

// unit: as users name it
GraphModelOptions graph_options(const std::optional<std::string>& unit, std::optional<size_t> features);
ModelHandle graph_model(const std::string& name, OnnxModel onnx, const GraphModelOptions& options);

// Model.from_trees
void bind_trees(nanobind::class_<ModelHandle>& model);

}  // namespace assay::python
