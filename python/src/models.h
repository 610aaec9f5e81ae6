// Models as Python holds them.
#pragma once

#include <memory>
#include <optional>
#include <string>

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
};

}  // namespace assay::python
