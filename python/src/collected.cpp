#include "python/src/collected.h"

#include <memory>

#include "python/src/callable_model.h"
#include "python/src/models.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

int visit_model(const std::shared_ptr<Model>& model, visitproc visit, void* arg) {
  return model.use_count() == 1 ? visit_functions(*model, visit, arg) : 0;
}

int traverse_model(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return visit_model(nb::inst_ptr<ModelHandle>(self)->model, visit, arg);
}

int traverse_subject(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* subject = nb::inst_ptr<SubjectHandle>(self);
  Py_VISIT(subject->owner.ptr());
  if (const int stop = visit_model(subject->model.model, visit, arg)) return stop;
  for (const auto* other : {&subject->margins, &subject->probabilities}) {
    if (!*other) continue;
    if (const int stop = visit_model((*other)->model, visit, arg)) return stop;
  }
  return 0;
}

int clear_subject(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<SubjectHandle>(self)->owner.reset();
  return 0;
}

int traverse_explanations(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* explained = nb::inst_ptr<Explained>(self);
  const bool in_pool =
      explained->pool && explained->pool.use_count() == 1 && explained->pool->subject == explained->subject;
  if (explained->subject && explained->subject.use_count() == (in_pool ? 2 : 1)) {
    const nb::handle subject = nb::find(explained->subject.get());
    Py_VISIT(subject.ptr());
  }
  return 0;
}

int clear_explanations(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  auto* explained = nb::inst_ptr<Explained>(self);
  explained->pool.reset();
  explained->recipe.reset();
  explained->subject.reset();
  return 0;
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::array<PyType_Slot, 2> model_slots = {{{Py_tp_traverse, slot(traverse_model)}, {0, nullptr}}};
std::array<PyType_Slot, 3> subject_slots = {
    {{Py_tp_traverse, slot(traverse_subject)}, {Py_tp_clear, slot(clear_subject)}, {0, nullptr}}};
std::array<PyType_Slot, 3> explanations_slots = {
    {{Py_tp_traverse, slot(traverse_explanations)}, {Py_tp_clear, slot(clear_explanations)}, {0, nullptr}}};

}  // namespace assay::python
