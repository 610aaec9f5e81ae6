// What Python's garbage collector sees of references that C++ holds.
//
// A class may keep explanations of a model that wraps its own method: a circle through objects of ours. A reference may
// be shown to the collector only by the one that owns it, so what is shared is shown by nobody: such circles stay.
#pragma once

#include <nanobind/nanobind.h>

#include <array>

namespace assay::python {

// Slots of _core.Model, _core.Subject and _core.Explanations, for nb::type_slots.
extern std::array<PyType_Slot, 2> model_slots;
extern std::array<PyType_Slot, 3> subject_slots;
extern std::array<PyType_Slot, 3> explanations_slots;

}  // namespace assay::python
