// _core.Explanations.
#pragma once

#include <nanobind/nanobind.h>

namespace assay::python {

void bind_explanations(nanobind::module_& m);

}  // namespace assay::python
