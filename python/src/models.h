// Models as Python holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "assay/model/engine_model.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/model.h"
#include "python/src/run.h"

namespace assay::python {

// `_core.Model`. Explanations keep alive the models that made them.
struct ModelHandle {
  std::shared_ptr<Model> model;
  EngineModel* graph = nullptr;                   // the same model if it is a graph; else null
  std::shared_ptr<const std::string> bytes = {};  // the bytes of its ONNX file; or
  std::string path = {};                          // the path of that file
  bool trained_by_python = false;
};

// unit: the word that users write
// texts_of: a model whose rows it must be able to take, null for none.
EngineModelOptions graph_options(const std::optional<std::string>& unit, std::optional<size_t> features,
                                 const ModelHandle* texts_of = nullptr);
ModelHandle graph_model(const std::string& name, OnnxModel onnx, const EngineModelOptions& options);

// Model.from_trees
void bind_trees(nanobind::class_<ModelHandle>& model);

}  // namespace assay::python
