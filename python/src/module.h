// The functions that add each stage to the module assay._core.
#pragma once

#include <nanobind/nanobind.h>

namespace assay::python {

void bind_run(nanobind::module_& m);
void bind_tables(nanobind::module_& m);
void bind_models(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_prepared(nanobind::module_& m);
void bind_evaluate(nanobind::module_& m);
void bind_aggregate(nanobind::module_& m);
void bind_study(nanobind::module_& m);
void bind_reasons(nanobind::module_& m);
void bind_names(nanobind::module_& m);

}  // namespace assay::python
