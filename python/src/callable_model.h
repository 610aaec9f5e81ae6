// A model whose predictions, gradients and training are Python functions. They are called in large batches, on the
// thread that called the engine.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "assay/model/model.h"

namespace assay::python {

struct CallableParts {
  ModelInfo info;
  nanobind::callable predict;  // rows -> outputs
  nanobind::object gradient;   // (rows, weights) -> gradients, or None
  nanobind::object train;      // (Dataset, seed) -> Model, or None
  // None, or () -> (Model or None, text): the same model as a graph, for methods that need its layers, or why there is
  // none. Called once, when first needed, because it takes time.
  nanobind::object find_graph;
  std::string no_layers = {};  // why there is no graph, if find_graph is None
  size_t most_rows = 65536;
};

// Can be deleted on any thread, with or without the GIL.
std::shared_ptr<Model> callable_model(CallableParts parts);

// The same model, which can also be trained. train: (Dataset, seed) -> Model.
std::shared_ptr<Model> retrainable(std::shared_ptr<Model> model, nanobind::callable train);

// Shows the Python functions that a model holds to the garbage collector. Other models hold none.
int visit_functions(const Model& model, visitproc visit, void* arg);

}  // namespace assay::python
