// The module assay._core: what all stages share, and the tables of methods, criteria and aggregators.
#include "python/src/module.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/table_text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/study/verdict.h"
#include "python/src/specs.h"
#include "python/src/words.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// Errors become Python's own: ValueError for wrong arguments, OSError for refusals of the system.
void translate_errors(nb::module_& m) {
  static PyObject* unsupported = PyErr_NewExceptionWithDoc(
      "assay.UnsupportedError",
      "Well formed, but nothing here can do it: a method without the gradient it needs, an operator nobody has.",
      PyExc_ValueError, nullptr);
  if (unsupported == nullptr) throw nb::python_error();
  m.attr("UnsupportedError") = nb::borrow(unsupported);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyObject* kind = error.kind() == ErrorKind::input         ? PyExc_ValueError
                       : error.kind() == ErrorKind::io          ? PyExc_OSError
                       : error.kind() == ErrorKind::unsupported ? unsupported
                       : error.kind() == ErrorKind::cancelled   ? PyExc_KeyboardInterrupt
                                                                : PyExc_RuntimeError;
      PyObject* made = PyObject_CallFunction(kind, "s", in_arguments(error).c_str());
      if (made == nullptr) return;
      // The arguments that would help, for the package to add.
      const nb::object holder = nb::steal(made);
      const nb::str need(arguments_for(error.need()));
      if (PyObject_SetAttrString(made, "need", need.ptr()) != 0) PyErr_Clear();
      PyErr_SetObject(kind, made);
    }
  });
}

template <class Info>
nb::class_<Info> bind_info(nb::module_& m, const char* name) {
  return nb::class_<Info>(m, name)
      .def_prop_ro("name", [](const Info& self) { return self.name; })
      .def_prop_ro("title", [](const Info& self) { return self.title; })
      .def_prop_ro("citation", [](const Info& self) { return self.citation; })
      .def_prop_ro("cost", [](const Info& self) { return self.cost; })
      .def_prop_ro("options", [](const Info& self) { return self.options; });
}

void bind_infos(nb::module_& m) {
  nb::class_<OptionInfo>(m, "OptionInfo")
      .def_prop_ro("name", [](const OptionInfo& self) { return self.name; })
      .def_prop_ro("default", [](const OptionInfo& self) { return self.value; })
      .def_prop_ro("meaning", [](const OptionInfo& self) { return self.meaning; })
      .def_prop_ro("unit", [](const OptionInfo& self) { return self.unit; })
      .def_prop_ro("range", [](const OptionInfo& self) { return self.range; });
  bind_info<MethodInfo>(m, "MethodInfo")
      .def_prop_ro("complete", [](const MethodInfo& self) { return self.complete; })
      .def_prop_ro("uses_reference", [](const MethodInfo& self) { return self.uses_reference; })
      .def_prop_ro("shapley", [](const MethodInfo& self) { return self.shapley; })
      .def_prop_ro("for_trees", [](const MethodInfo& self) { return self.for_trees; })
      .def_prop_ro("sampled", [](const MethodInfo& self) { return self.sampled; });
  bind_info<CriterionInfo>(m, "CriterionInfo")
      .def_prop_ro("family", [](const CriterionInfo& self) { return self.family; })
      .def_prop_ro("direction", [](const CriterionInfo& self) { return std::string(direction_name(self.direction)); })
      .def_prop_ro("range", [](const CriterionInfo& self) { return self.range; })
      .def_prop_ro("sampled", [](const CriterionInfo& self) { return self.sampled; })
      .def_prop_ro("needs", [](const CriterionInfo& self) { return needs_in_words(self.needs); });
  bind_info<AggregatorInfo>(m, "AggregatorInfo")
      .def_prop_ro("family", [](const AggregatorInfo& self) { return self.family; })
      .def_prop_ro("guarantee", [](const AggregatorInfo& self) { return self.guarantee; })
      .def_prop_ro("needs", [](const AggregatorInfo& self) { return needs_in_words(self.needs); });
  const auto list = [](auto infos) { return std::vector(infos.begin(), infos.end()); };
  m.def("methods", [list] { return list(methods()); });
  m.def("criteria", [list] { return list(criteria()); });
  m.def("main_criteria", &main_criteria);
  m.def("aggregators", [list] { return list(aggregators()); });
}

void bind_texts(nb::module_& m) {
  m.def(
      "parse_spec",
      [](const std::string& where, const std::string& text) {
        const Spec spec = parse_spec(where, text);
        return SpecPair(spec.name, spec.options);
      },
      nb::arg("where"), nb::arg("text"));
  m.def(
      "parse_specs",
      [](const std::string& where, const std::string& text) {
        std::vector<SpecPair> pairs;
        for (const Spec& spec : parse_specs(where, text)) pairs.emplace_back(spec.name, spec.options);
        return pairs;
      },
      nb::arg("where"), nb::arg("text"));
  m.def("aligned", &aligned, nb::arg("lines"), nb::arg("left"));
  m.def("short_number", &short_number, nb::arg("value"));
  m.def(
      "mean_and_error", [](double mean, double error, int digits) { return mean_with_error(mean, error, digits); },
      nb::arg("mean"), nb::arg("error"), nb::arg("digits") = 1);
}

}  // namespace
}  // namespace assay::python

NB_MODULE(_core, m) {
  using namespace assay::python;
  // Models keep functions of a script, and these keep its variables alive. Such a cycle at the end of a process is no
  // leak of ours. Tests turn the warnings on to find real ones.
  nanobind::set_leak_warnings(std::getenv("ASSAY_LEAK_WARNINGS") != nullptr);
  m.doc() = "The engine of Assay. The package around it is what users see.";
  m.attr("version") = assay::kVersion;
  m.attr("vector_target") = assay::vector_target();
  translate_errors(m);
  bind_infos(m);
  bind_texts(m);
  bind_run(m);
  bind_tables(m);
  bind_models(m);
  bind_explain(m);
  bind_prepared(m);
  bind_evaluate(m);
  bind_aggregate(m);
  bind_study(m);
  bind_reasons(m);
  bind_names(m);
}
