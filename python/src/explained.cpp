#include "python/src/explained.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/explain/explanations.h"
#include "assay/explain/methods.h"
#include "python/src/arrays.h"
#include "python/src/checks.h"
#include "python/src/collected.h"
#include "python/src/run.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using OptionalDoubles = std::optional<DoubleVector>;

std::vector<double> numbers_or_nan(std::string_view argument, const OptionalDoubles& given, size_t rows) {
  if (!given) return std::vector<double>(rows, NAN);
  expect_count(argument, "numbers, one for each row", rows, given->size());
  return values_of(*given);
}

// output - base - sum of values; NaN if one of them is not known.
std::vector<double> gaps_of(const Explanations& made) {
  std::vector<double> gap;
  for (size_t r = 0; r < made.rows(); r++) {
    double sum = 0;
    for (const float value : made.values.row(r)) sum += value;
    gap.push_back(made.output[r] - made.base[r] - sum);
  }
  return gap;
}

std::shared_ptr<Explained> from_arrays(const FloatMatrix& values, std::vector<std::string> features,
                                       const OptionalDoubles& base, const OptionalDoubles& output,
                                       const std::optional<IndexVector>& target, std::vector<std::string> target_names,
                                       const std::optional<FloatMatrix>& standard_error, std::vector<std::string> ids,
                                       std::string id_name, std::string method, std::string unit, std::string model,
                                       std::string data, std::string players, std::vector<std::string> notes) {
  auto result = std::make_shared<Explained>();
  Explanations& made = result->explanations;
  const size_t rows = values.shape(0);
  expect_count("features", "names, one for each column of values", values.shape(1), features.size());
  made.values = copy_of(values);
  made.features = std::move(features);
  made.base = numbers_or_nan("base", base, rows);
  made.output = numbers_or_nan("output", output, rows);
  if (target) {
    expect_count("target", "targets, one for each row", rows, target->size());
    made.target = values_of(*target);
    for (const uint32_t each : made.target) {
      if (each >= target_names.size()) {
        fail_input("target", fmt::format("indices into {} names", target_names.size()), fmt::format("{}", each));
      }
    }
    made.target_names = std::move(target_names);
  }
  if (standard_error) {
    expect_count("standard_error", "rows", rows, standard_error->shape(0));
    expect_count("standard_error", "columns", made.players(), standard_error->shape(1));
    made.standard_error = copy_of(*standard_error);
  }
  if (!ids.empty()) expect_count("ids", "names, one for each row", rows, ids.size());
  made.ids = std::move(ids);
  made.id_name = std::move(id_name);
  made.gap = gaps_of(made);
  made.notes = std::move(notes);
  made.provenance.unit = std::move(unit);
  made.provenance.model = std::move(model);
  made.provenance.data = std::move(data);
  made.provenance.players = std::move(players);
  // Not in provenance.method: only methods of Assay can explain again.
  if (!method.empty()) made.notes.push_back(fmt::format("made elsewhere by {}", method));
  return result;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<size_t>& rows) {
  std::vector<T> out;
  if (all.empty()) return out;
  out.reserve(rows.size());
  for (const size_t row : rows) out.push_back(all[row]);
  return out;
}

Matrix chosen(const Matrix& all, const std::vector<size_t>& rows) {
  Matrix out(all.cols() == 0 ? 0 : rows.size(), all.cols());
  if (out.empty()) return out;
  for (size_t i = 0; i < rows.size(); i++) std::ranges::copy(all.row(rows[i]), out.row(i).begin());
  return out;
}

std::shared_ptr<Explained> selected(const Explained& self, const std::vector<size_t>& rows) {
  const Explanations& from = self.explanations;
  for (const size_t row : rows) {
    if (row >= from.rows()) throw nb::index_error(fmt::format("row {} of {}", row, from.rows()).c_str());
  }
  auto result = std::make_shared<Explained>();
  Explanations& made = result->explanations;
  made.values = chosen(from.values, rows);
  made.features = from.features;
  made.columns = from.columns;
  made.base = chosen(from.base, rows);
  made.output = chosen(from.output, rows);
  made.target = chosen(from.target, rows);
  made.target_names = from.target_names;
  made.standard_error = chosen(from.standard_error, rows);
  made.background_error = chosen(from.background_error, rows);
  made.replicates = chosen(from.replicates, rows);
  made.gap = chosen(from.gap, rows);
  made.ids = chosen(from.ids, rows);
  made.id_name = from.id_name;
  made.row_numbers = from.row_numbers;
  made.evaluations = from.evaluations;
  made.notes = from.notes;
  made.provenance = from.provenance;
  made.combination.members = from.combination.members;
  made.combination.relative = from.combination.relative;
  made.combination.weights = chosen(from.combination.weights, rows);
  const size_t width = from.combination.weights.cols();
  for (const size_t row : rows) {
    if (from.combination.antecedents.empty()) break;
    const auto begin = from.combination.antecedents.begin() + static_cast<ptrdiff_t>(row * width);
    made.combination.antecedents.insert(made.combination.antecedents.end(), begin,
                                        begin + static_cast<ptrdiff_t>(width));
  }
  for (const RowMeasure& measure : from.combination.measures) {
    made.combination.measures.push_back({measure.name, chosen(measure.values, rows)});
  }
  result->method = self.method;
  // An aggregate can be made for rows of the pool only with all of its members.
  if (self.subject != nullptr && !rows.empty()) result->subject = subject_of_rows(*self.subject, rows);
  return result;
}

nb::dict provenance_of(const Explained& self) {
  const Provenance& from = self.explanations.provenance;
  nb::dict options;
  for (const auto& [name, value] : from.options) options[nb::cast(name)] = value;
  nb::dict made;
  made["method"] = from.method;
  made["options"] = options;
  made["seed"] = from.seed;
  made["unit"] = from.unit;
  made["target"] = from.target;
  made["model"] = from.model;
  made["data"] = from.data;
  made["players"] = from.players;
  made["reference"] = from.reference;
  made["draw"] = from.draw;
  made["version"] = from.version;
  made["vector_target"] = from.vector_target;
  return made;
}

nb::object combination_of(nb::handle_t<Explained> handle) {
  const Combination& from = nb::cast<Explained&>(handle).explanations.combination;
  if (from.members.empty()) return nb::none();
  nb::dict measures;
  for (const RowMeasure& measure : from.measures) {
    measures[nb::cast(measure.name)] = vector_view(measure.values, handle);
  }
  nb::dict made;
  made["members"] = from.members;
  made["relative"] = from.relative;
  made["weights"] = from.weights.empty() ? nb::none() : nb::cast(matrix_view(from.weights, handle));
  if (from.antecedents.empty()) {
    made["antecedents"] = nb::none();
  } else {
    made["antecedents"] =
        NumpyView<int64_t>(from.antecedents.data(), {from.weights.rows(), from.weights.cols()}, handle);
  }
  made["measures"] = measures;
  return made;
}

std::optional<NumpyView<float>> errors_view(const Matrix& errors, nb::handle owner) {
  if (errors.empty()) return {};
  return matrix_view(errors, owner);
}

const Explanations& of(nb::handle_t<Explained> self) { return nb::cast<Explained&>(self).explanations; }

}  // namespace

void bind_explanations(nb::module_& m) {
  using Self = nb::handle_t<Explained>;
  const std::vector<std::string> none;
  nb::class_<Explained>(m, "Explanations", nb::type_slots(explanations_slots.data()))
      .def_static("from_arrays", &from_arrays, nb::arg("values").noconvert(), nb::arg("features"),
                  nb::arg("base").noconvert().none() = nb::none(), nb::arg("output").noconvert().none() = nb::none(),
                  nb::arg("target").noconvert().none() = nb::none(), nb::arg("target_names") = none,
                  nb::arg("standard_error").noconvert().none() = nb::none(), nb::arg("ids") = none,
                  nb::arg("id_name") = "", nb::arg("method") = "", nb::arg("unit") = "", nb::arg("model") = "",
                  nb::arg("data") = "", nb::arg("players") = "", nb::arg("notes") = none)
      .def_static(
          "read",
          [](const std::string& path) {
            auto made = std::make_shared<Explained>();
            made->explanations =
                run_engine(Run{}, [&](const Context& context) { return read_explanations(path, context); });
            made->method = method_behind(made->explanations);
            return made;
          },
          nb::arg("path"))
      .def(
          "write",
          [](const Explained& self, const std::string& path) {
            if (path == "-") fail_input("path", "the name of a file", "-");
            check_explanations_output(path);
            run_engine(Run{}, [&](const Context& context) { write_explanations(self.explanations, path, context); });
          },
          nb::arg("path"))
      .def("select", &selected, nb::arg("rows"))
      .def_prop_ro("values", [](Self self) { return matrix_view(of(self).values, self); })
      .def_prop_ro("features", [](Self self) { return of(self).features; })
      .def_prop_ro("base", [](Self self) { return vector_view(of(self).base, self); })
      .def_prop_ro("output", [](Self self) { return vector_view(of(self).output, self); })
      .def_prop_ro("gap", [](Self self) { return vector_view(of(self).gap, self); })
      .def_prop_ro("target", [](Self self) { return vector_view(of(self).target, self); })
      .def_prop_ro("target_names", [](Self self) { return of(self).target_names; })
      .def_prop_ro("standard_error", [](Self self) { return errors_view(of(self).standard_error, self); })
      .def_prop_ro("background_error", [](Self self) { return errors_view(of(self).background_error, self); })
      .def_prop_ro("replicates", [](Self self) { return errors_view(of(self).replicates, self); })
      .def_prop_ro("ids", [](Self self) { return of(self).ids; })
      .def_prop_ro("id_name", [](Self self) { return of(self).id_name; })
      .def_prop_ro("evaluations", [](Self self) { return of(self).evaluations; })
      .def_prop_ro("notes", [](Self self) { return of(self).notes; })
      .def_prop_ro("provenance", &provenance_of)
      .def_prop_ro("combination", &combination_of)
      .def_prop_ro("subject", [](const Explained& self) { return self.subject; });
}

}  // namespace assay::python
