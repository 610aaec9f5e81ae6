// A model whose predictions, gradients and training are Python functions, which are called on the thread that called
// the engine, in large batches.
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
  // () -> (Model or None, text): the same function as a graph, for what needs its layers, or why there is none. Asked
  // once, by the first that needs them: making it takes time. Or None.
  nanobind::object find_graph;
  std::string no_layers = {};  // why there is no graph where nothing finds one, for those who ask for its layers
  size_t most_rows = 65536;
};

// Made, and deleted wherever that happens, with or without the GIL.
std::shared_ptr<Model> callable_model(CallableParts parts);

// The same model with a function (Dataset, seed) -> Model that trains others like it.
std::shared_ptr<Model> retrainable(std::shared_ptr<Model> model, nanobind::callable train);

// Shows the functions of such a model to the garbage collector; of others there are none.
int visit_functions(const Model& model, visitproc visit, void* arg);

}  // namespace assay::python
