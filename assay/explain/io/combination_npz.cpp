#include "assay/explain/io/combination_npz.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

// rows x something, checked before the data is read.
NpyArray read_by_row(const NpzFile& file, const char* name, size_t rows) {
  const NpyHeader header = file.header(name);
  if (header.shape.size() != 2 || header.shape[0] != rows || header.shape[1] == 0) {
    fail_input(array_where(file, name), fmt::format("{} rows, one for each of 'values', of one or more columns", rows),
               shape_text(header.shape));
  }
  return file.read(name);
}

void read_antecedents(const NpzFile& file, Explanations& out) {
  const std::string where = array_where(file, "antecedents");
  const NpyArray array = read_by_row(file, "antecedents", out.rows());
  if (array.shape[1] != out.combination.weights.cols()) {
    fail_input(where, "as many columns as 'weights'", fmt::format("{}", array.shape[1]));
  }
  for (const double each : to_doubles(where, array)) {
    if (!(each >= -1 && each <= 0x1p53) || each != std::trunc(each)) {
      fail_input(where, "numbers of rows, or -1", fmt::format("{}", each));
    }
    out.combination.antecedents.push_back(static_cast<int64_t>(each));
  }
}

void read_measures(const NpzFile& file, Explanations& out) {
  if (!file.contains("measure_names")) fail_input(file.name(), "an array 'measure_names' for 'measures'", "none");
  const NpyArray array = read_by_row(file, "measures", out.rows());
  const size_t count = array.shape[1];
  const std::string where = array_where(file, "measure_names");
  const NpyHeader header = file.header("measure_names");
  if (header.shape != std::vector<size_t>{count}) {
    fail_input(where, fmt::format("{}, one for each column of 'measures'", count), shape_text(header.shape));
  }
  for (std::string& name : to_strings(where, file.read("measure_names"))) {
    out.combination.measures.push_back({std::move(name), {}});
  }
  const std::vector<double> values = to_doubles(array_where(file, "measures"), array);
  for (size_t i = 0; i < values.size(); i++) out.combination.measures[i % count].values.push_back(values[i]);
}

}  // namespace

void add_combination_arrays(const std::string& where, const Explanations& explanations,
                            std::vector<std::pair<std::string, NpyArray>>& arrays) {
  const Combination& made = explanations.combination;
  if (made.members.empty()) return;
  if (!made.weights.empty()) arrays.emplace_back("weights", npy_from_matrix(made.weights.view()));
  if (!made.antecedents.empty()) {
    NpyArray antecedents = npy_from_int64(made.antecedents);
    antecedents.shape = {explanations.rows(), made.weights.cols()};
    arrays.emplace_back("antecedents", std::move(antecedents));
  }
  if (made.measures.empty()) return;
  std::vector<std::string> names;
  std::vector<double> values;
  for (const RowMeasure& measure : made.measures) names.push_back(measure.name);
  for (size_t r = 0; r < explanations.rows(); r++) {
    for (const RowMeasure& measure : made.measures) values.push_back(measure.values[r]);
  }
  NpyArray measures = npy_from_doubles(values);
  measures.shape = {explanations.rows(), names.size()};
  arrays.emplace_back("measures", std::move(measures));
  arrays.emplace_back("measure_names", npy_from_strings(where, names));
}

void read_combination_arrays(const NpzFile& file, Explanations& explanations) {
  Combination& made = explanations.combination;
  if (made.members.empty()) return;
  if (file.contains("weights")) {
    made.weights = to_matrix(array_where(file, "weights"), read_by_row(file, "weights", explanations.rows()));
  }
  if (file.contains("antecedents")) read_antecedents(file, explanations);
  if (file.contains("measures")) read_measures(file, explanations);
}

}  // namespace assay
