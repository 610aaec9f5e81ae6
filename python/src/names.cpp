// _core.agreed_class_names and _core.found_ids: which labels are a model's classes, and which columns only name rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/data/id_columns.h"
#include "assay/study/class_names.h"
#include "python/src/checks.h"
#include "python/src/models.h"
#include "python/src/module.h"
#include "python/src/run.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using Texts = std::vector<std::string>;
// Rows, the texts of their labels, and for each row the index of its text, NaN if it has none.
using LabelledPart = std::tuple<std::shared_ptr<Dataset>, Texts, std::vector<float>>;

std::pair<Texts, std::string> agreed_names(const ModelHandle& model, const std::vector<LabelledPart>& parts,
                                           const std::string& column, const Run& run) {
  std::vector<LabelledRows> rows;
  for (const auto& [data, levels, codes] : parts) {
    expect_count("labels", "labels, one for each row", data->rows(), codes.size());
    rows.push_back({data.get(), {.column = column, .levels = levels, .codes = codes}});
  }
  Run quiet = run;
  quiet.progress = nb::none();
  AgreedNames agreed =
      run_engine(quiet, [&](const Context& context) { return agreed_class_names(*model.model, rows, context); });
  return {std::move(agreed.names), std::move(agreed.note)};
}

// kept: columns that the user says something about.
std::pair<Texts, Texts> ids_beside(const ModelHandle& model, const Table& rows, const KeptDoubles& doubles,
                                   const Table& pool, const KeptDoubles& pool_doubles, const Texts& kept) {
  if (model.graph == nullptr) return {};
  const EngineModel& graph = *model.graph;
  std::vector<std::string> found = id_columns({&rows, &doubles}, {&pool, &pool_doubles}, [&](const std::string& name) {
    return std::ranges::count(kept, name) > 0 || graph.takes_column(name).value_or(false);
  });
  if (!graph.takes_column("")) found = ids_beside_positions(std::move(found), rows, graph.info().features());
  std::vector<std::string> notes = notes_on_ids(found);
  return {std::move(found), std::move(notes)};
}

}  // namespace

void bind_names(nb::module_& m) {
  m.def("agreed_class_names", &agreed_names, nb::arg("model"), nb::arg("parts"), nb::arg("column"), nb::arg("run"));
  m.def("found_ids", &ids_beside, nb::arg("model"), nb::arg("rows"), nb::arg("doubles"), nb::arg("pool"),
        nb::arg("pool_doubles"), nb::arg("kept"));
}

}  // namespace assay::python
