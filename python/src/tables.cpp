// Tables and rows: _core.Table and _core.Dataset.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/dataset.h"
#include "assay/data/datasets.h"
#include "assay/data/io/arrow_table.h"
#include "assay/data/table_io.h"
#include "assay/model/graph_inputs.h"
#include "python/src/arrays.h"
#include "python/src/checks.h"
#include "python/src/module.h"
#include "python/src/run.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using ColumnLevels = std::vector<std::optional<std::vector<std::string>>>;

void set_label(Table& table, const std::optional<std::string>& label) {
  if (label) table.label = find_column(table.source, column_names(table), *label);
}

Table table_from_columns(std::string source, const std::vector<std::string>& names, const FloatMatrix& values,
                         const ColumnLevels& levels, const std::optional<std::string>& label, std::string id_name,
                         std::vector<std::string> ids, std::vector<size_t> item_shape,
                         const std::vector<size_t>& rounded, const std::vector<std::string>& truth) {
  expect_count(source, "columns, one for each name", names.size(), values.shape(1));
  expect_count(source, "lists of levels, one for each name", names.size(), levels.size());
  if (!ids.empty()) expect_count(source, "names of rows", values.shape(0), ids.size());
  if (!rounded.empty())
    expect_count(source, "counts of rounded numbers, one for each name", names.size(), rounded.size());
  Table table;
  table.source = std::move(source);
  table.values = copy_of(values);
  for (size_t j = 0; j < names.size(); j++) {
    Column column{.name = names[j]};
    if (std::ranges::find(truth, names[j]) != truth.end()) column.words_of_truth = {"False", "True"};
    if (!rounded.empty()) column.rounded = rounded[j];
    if (levels[j]) {
      column.kind = ColumnKind::categorical;
      column.levels = *levels[j];
    }
    table.columns.push_back(std::move(column));
    if (!levels[j]) continue;
    const auto count = static_cast<float>(levels[j]->size());
    for (size_t i = 0; i < table.rows(); i++) {
      const float code = table.values(i, j);
      if (code >= 0 && code < count && code == std::floor(code)) continue;
      if (!std::isnan(code)) {
        fail_input(fmt::format("{}, column {}", table.source, in_quotes(names[j])), "codes of its levels",
                   fmt::format("{}", code));
      }
    }
    sort_levels(table, j);
  }
  table.id_name = std::move(id_name);
  table.ids = std::move(ids);
  table.item_shape = std::move(item_shape);
  set_label(table, label);
  return table;
}

Table table_from_stream(const nb::object& owner, const std::string& source, const std::optional<std::string>& label,
                        const std::optional<std::string>& id, KeptDoubles* doubles,
                        const std::optional<std::vector<std::string>>& used) {
  const nb::object capsule = owner.attr("__arrow_c_stream__")();
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  const ArrowReading reading{.doubles = doubles, .used = used ? &*used : nullptr};
  Table table = table_from_arrow(stream, source, "Arrow stream", {}, reading);
  apply_options(table, {.label = label.value_or(""), .id = id.value_or("")});
  return table;
}

Table open_by_name(const std::string& what, const std::string& split, const std::optional<std::string>& label,
                   const std::optional<std::string>& id, const std::vector<std::string>& folders, const Run* given,
                   KeptDoubles* doubles) {
  DatasetRequest request{.data_dirs = folders};
  constexpr std::array<std::string_view, 3> kSplits = {"all", "train", "test"};
  const auto found = std::ranges::find(kSplits, split);
  if (found == kSplits.end()) fail_input("split", "all, train or test", in_quotes(split));
  request.split = static_cast<Split>(found - kSplits.begin());
  const Run run = given != nullptr ? *given : Run{};
  request.seed = run.seed;
  Table table = run_engine(run, [&](const Context& context) {
    return open_table(what, {.label = label.value_or(""), .id = id.value_or(""), .doubles = doubles}, request, context);
  });
  set_part(table, split);
  return table;
}

Dataset dataset_from_matrix(const FloatMatrix& x, std::vector<std::string> names, std::string source,
                            const std::optional<ColumnLevels>& kinds, std::vector<size_t> item_shape) {
  expect_count(source, "columns, one for each name", names.size(), x.shape(1));
  if (kinds) expect_count(source, "kinds, one for each column", names.size(), kinds->size());
  Dataset data;
  data.source = std::move(source);
  data.x = copy_of(x);
  for (size_t j = 0; j < names.size(); j++) {
    FeatureGroup group{.name = names[j], .first = j};
    if (kinds && (*kinds)[j]) {
      group.kind = ColumnKind::categorical;
      group.levels = *(*kinds)[j];
    }
    data.groups.push_back(std::move(group));
  }
  data.feature_names = std::move(names);
  data.item_shape = std::move(item_shape);
  return data;
}

ColumnLevels column_levels(const Table& table) {
  ColumnLevels levels;
  for (const Column& column : table.columns) {
    levels.push_back(column.kind == ColumnKind::categorical ? std::optional(column.levels) : std::nullopt);
  }
  return levels;
}

std::optional<std::string> label_of(const Table& table) {
  return table.label ? std::optional(table.columns[*table.label].name) : std::nullopt;
}

void check_row_numbers(const std::vector<size_t>& rows, size_t available) {
  for (const size_t row : rows) {
    if (row >= available) throw nb::index_error(fmt::format("row {} of {}", row, available).c_str());
  }
}

void bind_doubles(nb::module_& m) {
  nb::class_<KeptDoubles>(m, "Doubles")
      .def(nb::init<>())
      .def(
          "set",
          [](KeptDoubles& self, std::string column, const DoubleVector& cells) {
            self.set(std::move(column), values_of(cells));
          },
          nb::arg("column"), nb::arg("cells").noconvert())
      .def(
          "selected",
          [](const KeptDoubles& self, const std::vector<size_t>& rows) {
            for (const auto& [name, cells] : self.columns()) check_row_numbers(rows, cells.size());
            KeptDoubles chosen = self;
            chosen.select(rows);
            return chosen;
          },
          nb::arg("rows"))
      .def_prop_ro("columns", [](nb::handle_t<KeptDoubles> self) {
        std::map<std::string, NumpyView<double>> found;
        for (const auto& [name, cells] : nb::cast<KeptDoubles&>(self).columns()) {
          found.emplace(name, vector_view(cells, self));
        }
        return found;
      });
}

void bind_dataset(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset")
      .def_static("from_matrix", &dataset_from_matrix, nb::arg("x").noconvert(), nb::arg("names"), nb::arg("source"),
                  nb::arg("kinds") = nb::none(), nb::arg("item_shape") = std::vector<size_t>())
      .def_prop_ro("source", [](const Dataset& self) { return self.source; })
      .def_prop_ro("rows", &Dataset::rows)
      .def_prop_ro("x", [](nb::handle_t<Dataset> self) { return matrix_view(nb::cast<Dataset&>(self).x, self); })
      .def_prop_ro("feature_names", [](const Dataset& self) { return self.feature_names; })
      .def_prop_ro("item_shape", [](const Dataset& self) { return self.item_shape; })
      .def_prop_ro("labels",
                   [](nb::handle_t<Dataset> self) -> std::optional<NumpyView<float>> {
                     const auto& labels = nb::cast<Dataset&>(self).labels;
                     if (labels.empty()) return {};
                     return vector_view(labels, self);
                   })
      .def_prop_ro("class_names", [](const Dataset& self) { return self.class_names; })
      .def_prop_ro("ids", [](const Dataset& self) { return self.ids; })
      .def_prop_ro("id_name", [](const Dataset& self) { return self.id_name; })
      .def_prop_ro("notes", [](const Dataset& self) { return self.notes; })
      .def(
          "add_note", [](Dataset& self, std::string note) { self.notes.push_back(std::move(note)); }, nb::arg("note"))
      .def(
          "set_shown",
          [](Dataset& self, size_t column, const DoubleVector& cells) {
            if (column >= self.x.cols()) fail_input("column", "one of the rows'", fmt::format("{}", column));
            expect_count(self.source, "cells, one for each row", self.rows(), cells.size());
            self.shown[column].assign(cells.data(), cells.data() + cells.size());
          },
          nb::arg("column"), nb::arg("cells").noconvert())
      .def_prop_ro("shown",
                   [](nb::handle_t<Dataset> self) {
                     std::map<size_t, NumpyView<double>> found;
                     for (const auto& [column, cells] : nb::cast<Dataset&>(self).shown) {
                       found.emplace(column, vector_view(cells, self));
                     }
                     return found;
                   })
      .def(
          "note_lost_digits",
          [](Dataset& self, const std::string& model) {
            note_lost_digits(model, std::vector<bool>(self.x.cols(), true), "", self);
          },
          nb::arg("model"))
      .def("copy", [](const Dataset& self) { return Dataset(self); })
      .def(
          "set_labels",
          [](Dataset& self, const FloatVector& labels, std::string name, std::vector<std::string> class_names) {
            expect_count(self.source, "labels, one for each row", self.rows(), labels.size());
            self.labels = values_of(labels);
            self.label_name = std::move(name);
            self.class_names = std::move(class_names);
          },
          nb::arg("labels").noconvert(), nb::arg("name"), nb::arg("class_names"))
      .def(
          "set_ids",
          [](Dataset& self, std::vector<std::string> ids, std::string name) {
            expect_count(self.source, "names of rows", self.rows(), ids.size());
            self.ids = std::move(ids);
            self.id_name = std::move(name);
          },
          nb::arg("ids"), nb::arg("name"));
}

}  // namespace

void expect_count(std::string_view argument, std::string_view what, size_t expected, size_t found) {
  if (found != expected) fail_input(argument, fmt::format("{} {}", expected, what), fmt::format("{}", found));
}

void bind_tables(nb::module_& m) {
  bind_doubles(m);
  nb::class_<Table>(m, "Table")
      .def_static("from_columns", &table_from_columns, nb::arg("source"), nb::arg("names"),
                  nb::arg("values").noconvert(), nb::arg("levels"), nb::arg("label") = nb::none(),
                  nb::arg("id_name") = "", nb::arg("ids") = std::vector<std::string>(),
                  nb::arg("item_shape") = std::vector<size_t>(), nb::arg("rounded") = std::vector<size_t>(),
                  nb::arg("truth") = std::vector<std::string>())
      .def_static("from_arrow", &table_from_stream, nb::arg("stream"), nb::arg("source"), nb::arg("label") = nb::none(),
                  nb::arg("id") = nb::none(), nb::arg("doubles").none() = nb::none(),
                  nb::arg("used").none() = nb::none())
      .def_static("open", &open_by_name, nb::arg("what"), nb::arg("split") = "all", nb::arg("label") = nb::none(),
                  nb::arg("id") = nb::none(), nb::arg("folders") = std::vector<std::string>(),
                  nb::arg("run").none() = nb::none(), nb::arg("doubles").none() = nb::none())
      .def_prop_ro("source", [](const Table& self) { return self.source; })
      .def_prop_ro("rows", &Table::rows)
      .def_prop_ro("names", [](const Table& self) { return column_names(self); })
      .def_prop_ro("levels", &column_levels)
      .def_prop_ro("values", [](nb::handle_t<Table> self) { return matrix_view(nb::cast<Table&>(self).values, self); })
      .def_prop_ro("label", &label_of)
      .def_prop_ro("id_name", [](const Table& self) { return self.id_name; })
      .def_prop_ro("ids", [](const Table& self) { return self.ids; })
      .def_prop_ro("item_shape", [](const Table& self) { return self.item_shape; })
      .def_prop_ro("rounded",
                   [](const Table& self) {
                     std::vector<size_t> counts;
                     for (const Column& column : self.columns) counts.push_back(column.rounded);
                     return counts;
                   })
      .def_prop_ro("truth",
                   [](const Table& self) {
                     std::vector<std::string> names;
                     for (const Column& column : self.columns) {
                       if (!column.words_of_truth.empty()) names.push_back(column.name);
                     }
                     return names;
                   })
      .def(
          "select",
          [](const Table& self, const std::vector<size_t>& rows) {
            check_row_numbers(rows, self.rows());
            return select_rows(self, rows);
          },
          nb::arg("rows"));
  bind_dataset(m);
}

}  // namespace assay::python
