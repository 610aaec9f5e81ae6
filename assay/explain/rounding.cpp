#include "assay/explain/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/text.h"

namespace assay {
namespace {

constexpr double kOfAllRows = 0.1;
constexpr double kZeroMeasure = 1e-9;

double size_of(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

double sum_of_sizes(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += size_of(value);
  return sum;
}

std::string of_row(const char* name, size_t row) { return fmt::format("'{}' of row {}", name, row + 1); }

bool same_shape(const char* name, const Matrix& recorded, const Matrix& found, RoundingCheck& check) {
  if (recorded.rows() == found.rows() && recorded.cols() == found.cols()) return true;
  check.fail(fmt::format("the array '{}' is {} x {}, recorded was {} x {}", name, found.rows(), found.cols(),
                         recorded.rows(), recorded.cols()));
  return false;
}

template <class Tolerance>
void compare_matrices(const char* name, const Matrix& recorded, const Matrix& found, const Tolerance& tolerance,
                      RoundingCheck& check) {
  if (!same_shape(name, recorded, found, check)) return;
  for (size_t r = 0; r < recorded.rows(); r++) {
    for (size_t c = 0; c < recorded.cols(); c++) {
      if (recorded(r, c) == found(r, c)) continue;
      if (!check.numbers(of_row(name, r), recorded(r, c), found(r, c), tolerance(r))) return;
    }
  }
}

template <class Tolerance>
void compare_columns(const char* name, const std::vector<double>& recorded, const std::vector<double>& found,
                     const Tolerance& tolerance, RoundingCheck& check) {
  if (recorded.size() != found.size()) {
    check.fail(fmt::format("'{}' has {} numbers, recorded were {}", name, found.size(), recorded.size()));
    return;
  }
  for (size_t r = 0; r < recorded.size(); r++) {
    if (!check.numbers(of_row(name, r), recorded[r], found[r], tolerance(r))) return;
  }
}

double largest_of(const std::vector<double>& a) {
  double largest = 0;
  for (const double each : a) largest = std::max(largest, size_of(each));
  return largest;
}

void compare_lists(const char* what, const std::vector<std::string>& recorded, const std::vector<std::string>& found,
                   RoundingCheck& check) {
  check.words(what, joined(recorded), joined(found));
}

void compare_provenance(const Provenance& recorded, const Provenance& found, RoundingCheck& check) {
  check.words("the method", recorded.method, found.method);
  // Files do not keep their order.
  auto options = recorded.options;
  auto found_options = found.options;
  std::ranges::sort(options);
  std::ranges::sort(found_options);
  if (options != found_options) check.fail("the method's options differ");
  check.words("the seed", fmt::format("{}", recorded.seed), fmt::format("{}", found.seed));
  check.words("the unit", recorded.unit, found.unit);
  check.words("the target", recorded.target, found.target);
  check.words("the model", recorded.model, found.model);
  check.words("the data", recorded.data, found.data);
  check.words("the players", recorded.players, found.players);
  check.words("the reference", recorded.reference, found.reference);
}

void compare_combination(const Combination& recorded, const Combination& found, RoundingCheck& check) {
  compare_lists("the members", recorded.members, found.members, check);
  if (recorded.relative != found.relative) check.fail("whether values are relative differs");
  compare_matrices("weights", recorded.weights, found.weights, [](size_t) { return kWeightRounding; }, check);
  if (recorded.antecedents != found.antecedents) check.fail("the antecedents differ");
  if (recorded.measures.size() != found.measures.size()) {
    check.fail("there are other measures");
    return;
  }
  double largest = 0;
  for (const RowMeasure& each : recorded.measures) largest = std::max(largest, largest_of(each.values));
  for (size_t m = 0; m < recorded.measures.size(); m++) {
    const RowMeasure& each = recorded.measures[m];
    check.words("the name of a measure", each.name, found.measures[m].name);
    // A bound or distance that is 0 is so up to the rounding of float64.
    const double tolerance = kWeightRounding * largest_of(each.values) + kZeroMeasure * largest;
    compare_columns(each.name.c_str(), each.values, found.measures[m].values, [&](size_t) { return tolerance; }, check);
  }
}

// of_outputs: whether |output| + |base| belong to it, where a row has a base value.
std::vector<double> row_scales(const Explanations& explanations, bool of_outputs) {
  std::vector<double> scales(explanations.rows());
  double largest = 0;
  for (size_t r = 0; r < scales.size(); r++) {
    scales[r] = sum_of_sizes(explanations.values.row(r));
    const double base = r < explanations.base.size() ? explanations.base[r] : NAN;
    if (of_outputs && std::isfinite(base)) {
      scales[r] += std::fabs(base) + (r < explanations.output.size() ? size_of(explanations.output[r]) : 0);
    }
    largest = std::max(largest, scales[r]);
  }
  for (double& scale : scales) scale += kOfAllRows * largest;
  return scales;
}

}  // namespace

std::vector<double> attribution_scales(const Explanations& explanations) {
  return row_scales(explanations, !explanations.combination.relative);
}

void compare_attributions(const std::string& what, const Matrix& recorded, const Matrix& found, double scale,
                          RoundingCheck& check) {
  compare_matrices(
      what.c_str(), recorded, found,
      [&](size_t r) { return kAttributionRounding * (scale + sum_of_sizes(recorded.row(r))); }, check);
}

void compare_explanations(const Explanations& recorded, const Explanations& found, RoundingCheck& check) {
  compare_lists("the features", recorded.features, found.features, check);
  compare_lists("the targets", recorded.target_names, found.target_names, check);
  if (recorded.target != found.target) check.fail("rows are explained for other targets");
  if (recorded.ids != found.ids || recorded.id_name != found.id_name) check.fail("the rows have other names");
  compare_provenance(recorded.provenance, found.provenance, check);
  const std::vector<double> scales = attribution_scales(recorded);
  const std::vector<double> gaps = row_scales(recorded, true);
  const auto near = [&](size_t r) { return kAttributionRounding * scales[r]; };
  compare_matrices("values", recorded.values, found.values, near, check);
  compare_matrices("stderr", recorded.standard_error, found.standard_error, near, check);
  compare_matrices("background_stderr", recorded.background_error, found.background_error, near, check);
  const double output = kOutputRounding * std::max(largest_of(recorded.output), largest_of(recorded.base));
  compare_columns("output", recorded.output, found.output, [&](size_t) { return output; }, check);
  compare_columns("base", recorded.base, found.base, [&](size_t) { return output; }, check);
  compare_columns("gap", recorded.gap, found.gap, [&](size_t r) { return kGapRounding * gaps[r]; }, check);
  compare_combination(recorded.combination, found.combination, check);
  check.sentences("the notes", recorded.notes, found.notes);
  check.words("the evaluations", fmt::format("{}", recorded.evaluations), fmt::format("{}", found.evaluations));
}

}  // namespace assay
