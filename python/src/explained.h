// _core.Explanations.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "assay/core/options.h"
#include "assay/explain/explanations.h"

namespace assay::python {

// How explanations from a file can be made again; nothing where this version cannot, or where they are an aggregate.
std::optional<Spec> method_of(const Explanations& found);

void bind_explanations(nanobind::module_& m);

}  // namespace assay::python
