#include "assay/explain/io/explanations_npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/io/combination_npz.h"
#include "assay/explain/io/explanations_meta.h"

namespace assay {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMaxColumns = size_t{1} << 22;

// The array, whose shape is checked before its data is read.
NpyArray read_shaped(const NpzFile& file, const char* name, const std::vector<size_t>& shape, std::string_view each) {
  const NpyHeader header = file.header(name);
  if (header.shape != shape) {
    fail_input(array_where(file, name), fmt::format("{}, {}", shape_text(shape), each), shape_text(header.shape));
  }
  return file.read(name);
}

std::vector<double> read_doubles(const NpzFile& file, const char* name, size_t rows) {
  if (!file.contains(name)) return std::vector<double>(rows, kNan);
  return to_doubles(array_where(file, name), read_shaped(file, name, {rows}, "one for each row"));
}

std::vector<std::string> read_texts(const NpzFile& file, const char* name, size_t count, std::string_view each) {
  return to_strings(array_where(file, name), read_shaped(file, name, {count}, each));
}

// Empty where the file has none.
Matrix read_errors(const NpzFile& file, const char* name, const Matrix& values) {
  if (!file.contains(name)) return {};
  return to_matrix(array_where(file, name),
                   read_shaped(file, name, {values.rows(), values.cols()}, "one for each value"));
}

// Likewise: some values for each of the values.
Matrix read_replicates(const NpzFile& file, const Matrix& values) {
  constexpr const char* kName = "replicates";
  if (!file.contains(kName)) return {};
  const std::vector<size_t> shape = file.header(kName).shape;
  if (shape.size() != 2 || shape[0] != values.rows() || shape[1] == 0 || shape[1] % values.cols() != 0) {
    fail_input(array_where(file, kName),
               fmt::format("{} rows and a multiple of {} columns", values.rows(), values.cols()), shape_text(shape));
  }
  return to_matrix(array_where(file, kName), file.read(kName));
}

void read_targets(const NpzFile& file, Explanations& out) {
  if (!file.contains("target")) return;
  if (!file.contains("target_names")) {
    fail_input(file.name(), "an array 'target_names' for the array 'target'", "none");
  }
  const std::string where = array_where(file, "target_names");
  const NpyHeader header = file.header("target_names");
  if (header.shape.size() != 1) fail_input(where, "one dimension", shape_text(header.shape));
  out.target_names = to_strings(where, file.read("target_names"));
  const std::vector<double> targets = read_doubles(file, "target", out.rows());
  for (size_t i = 0; i < targets.size(); i++) {
    const double target = targets[i];
    const bool valid = target >= 0 && target < static_cast<double>(out.target_names.size()) &&
                       target < std::numeric_limits<uint32_t>::max() && target == std::trunc(target);
    if (!valid) {
      fail_input(array_where(file, "target"),
                 fmt::format("whole numbers from 0 on below {}, the number of target names", out.target_names.size()),
                 fmt::format("{} in row {}", target, i + 1));
    }
    out.target.push_back(static_cast<uint32_t>(target));
  }
}

std::string values_name(const NpzFile& file) {
  if (file.contains("values")) return "values";
  if (file.names().size() == 1) return file.names()[0];
  fail_input(file.name(), "an array named 'values', or one array alone",
             file.names().empty() ? "no array" : fmt::format("{} others", file.names().size()));
}

std::optional<std::string> read_meta(const NpzFile& file) {
  if (!file.contains("meta")) return {};
  const NpyHeader header = file.header("meta");
  if (!is_text(header.type) || !header.shape.empty()) return {};
  std::string meta = to_strings(array_where(file, "meta"), file.read("meta"))[0];
  if (!is_explanations_meta(meta)) return {};
  return meta;
}

}  // namespace

Explanations explanations_from_array(const std::string& where, const NpyArray& array) {
  if (array.is_text())
    fail_input(where, "numbers", fmt::format("text, dtype {}", dtype_text(array.type, array.item_size)));
  if (array.shape.size() != 2 || array.shape[0] == 0 || array.shape[1] == 0) {
    fail_input(where, "attributions as rows x features, at least one of each", shape_text(array.shape));
  }
  if (array.shape[1] > kMaxColumns) {
    fail_input(where, fmt::format("at most {} features", kMaxColumns), fmt::format("{}", array.shape[1]));
  }
  Explanations out;
  out.values = to_matrix(where, array);
  for (size_t j = 0; j < out.players(); j++) out.features.push_back(fmt::format("{}", j));
  out.base.assign(out.rows(), kNan);
  out.output.assign(out.rows(), kNan);
  out.gap.assign(out.rows(), kNan);
  return out;
}

Explanations explanations_from_npz(const NpzFile& file) {
  const std::string name = values_name(file);
  Explanations out = explanations_from_array(array_where(file, name), file.read(name));
  if (name != "values") return out;
  if (file.contains("features")) {
    out.features = read_texts(file, "features", out.players(), "one for each column of 'values'");
  }
  out.base = read_doubles(file, "base", out.rows());
  out.output = read_doubles(file, "output", out.rows());
  out.gap = read_doubles(file, "gap", out.rows());
  read_targets(file, out);
  out.standard_error = read_errors(file, "stderr", out.values);
  out.background_error = read_errors(file, "background_stderr", out.values);
  out.replicates = read_replicates(file, out.values);
  if (file.contains("ids")) out.ids = read_texts(file, "ids", out.rows(), "one for each row");
  if (const auto meta = read_meta(file)) read_explanations_meta(array_where(file, "meta"), *meta, out);
  read_combination_arrays(file, out);
  return out;
}

void write_explanations_npz(const Explanations& explanations, const std::string& path, const Context& context) {
  std::vector<std::pair<std::string, NpyArray>> arrays;
  arrays.emplace_back("values", npy_from_matrix(explanations.values.view()));
  arrays.emplace_back("base", npy_from_doubles(explanations.base));
  arrays.emplace_back("output", npy_from_doubles(explanations.output));
  if (!explanations.target.empty()) {
    arrays.emplace_back("target", npy_from_int64(std::vector<int64_t>(explanations.target.begin(),  //
                                                                      explanations.target.end())));
    arrays.emplace_back("target_names", npy_from_strings(path, explanations.target_names));
  }
  if (explanations.standard_error.empty()) {
    Matrix undefined(explanations.rows(), explanations.players());
    std::fill(undefined.values().begin(), undefined.values().end(), std::numeric_limits<float>::quiet_NaN());
    arrays.emplace_back("stderr", npy_from_matrix(undefined.view()));
  } else {
    arrays.emplace_back("stderr", npy_from_matrix(explanations.standard_error.view()));
  }
  if (!explanations.background_error.empty()) {
    arrays.emplace_back("background_stderr", npy_from_matrix(explanations.background_error.view()));
  }
  if (!explanations.replicates.empty()) {
    arrays.emplace_back("replicates", npy_from_matrix(explanations.replicates.view()));
  }
  arrays.emplace_back("gap", npy_from_doubles(explanations.gap));
  arrays.emplace_back("features", npy_from_strings(path, explanations.features));
  if (!explanations.ids.empty()) arrays.emplace_back("ids", npy_from_strings(path, explanations.ids));
  add_combination_arrays(path, explanations, arrays);
  arrays.emplace_back("meta", npy_from_string(path, explanations_meta_text(path, explanations)));
  write_npz(path, arrays, false, context);
}

}  // namespace assay
