// Shows Python's garbage collector the references that C++ objects hold.
//
// They can be part of a cycle: for example, a Python object keeps explanations of a model that wraps the object's own
// method. A reference may be shown only by its single owner. Shared references are not shown, so such cycles are not
// collected.
#pragma once

#include <nanobind/nanobind.h>

#include <array>

namespace assay::python {

// Slots of _core.Model, _core.Subject and _core.Explanations, for nb::type_slots.
extern std::array<PyType_Slot, 2> model_slots;
extern std::array<PyType_Slot, 3> subject_slots;
extern std::array<PyType_Slot, 3> explanations_slots;

}  // namespace assay::python
