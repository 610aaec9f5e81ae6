#include "cli/evaluate_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/games/value_function.h"

namespace assay::cli {
namespace {

constexpr size_t kRowsAtATime = 4096;
// How far an explained value may be from the model's own: other machines, and float32 in tables.
constexpr double kRounding = 1e-3;
constexpr double kRoundingOfLargest = 1e-5;

std::string row_name(const std::vector<std::string>& ids, size_t row) {
  return ids.empty() ? fmt::format("row {}", row + 1) : fmt::format("row {}", one_line(ids[row]));
}

// Arrays made elsewhere have numbers instead of names.
bool has_names(const Explanations& explanations) {
  for (size_t p = 0; p < explanations.players(); p++) {
    if (explanations.features[p] != fmt::format("{}", p)) return true;
  }
  return false;
}

}  // namespace

void check_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                 std::string_view of) {
  if (found.players() != names.size()) {
    fail_input(file, fmt::format("{} columns, one for each player of {}", names.size(), of),
               fmt::format("{}; --groups says which columns go together", found.players()));
  }
  if (!has_names(found) || found.features == names) return;
  const auto [theirs, ours] = std::ranges::mismatch(found.features, names);
  fail_input(file, fmt::format("{} as player {}, as in {}", in_quotes(*ours), theirs - found.features.begin() + 1, of),
             fmt::format("{}; --groups says which columns go together", in_quotes(*theirs)));
}

void check_rows(const std::string& file, const Explanations& found, const Dataset& data) {
  if (found.rows() != data.rows()) {
    const std::string& words = found.provenance.data;
    fail_input(file, fmt::format("{} rows, one for each of {}", data.rows(), data.source),
               fmt::format("{}{}; --rows and --split select rows", found.rows(),
                           words.empty() ? "" : fmt::format(" (made of {})", one_line(words))));
  }
  if (found.ids.empty() || data.ids.empty() || found.ids == data.ids) return;
  const auto [theirs, ours] = std::ranges::mismatch(found.ids, data.ids);
  fail_input(file, fmt::format("{} as row {}, as in {}", in_quotes(*ours), theirs - found.ids.begin() + 1, data.source),
             in_quotes(*theirs));
}

void check_same_rows(const std::string& file, const Explanations& found, const std::string& first,
                     const Explanations& expected) {
  if (found.rows() != expected.rows()) {
    fail_input(file, fmt::format("{} rows, as {} has", expected.rows(), in_quotes(first)),
               fmt::format("{}", found.rows()));
  }
  check_names(file, found, expected.features, in_quotes(first));
  const auto apart = [&](size_t row, std::string_view what, const std::string& wanted, const std::string& other) {
    fail_input(file, fmt::format("{} {} in row {}, as in {}", what, in_quotes(wanted), row + 1, in_quotes(first)),
               in_quotes(other));
  };
  const bool ids = !found.ids.empty() && !expected.ids.empty();
  const bool targets = !found.target.empty() && !expected.target.empty();
  for (size_t r = 0; r < found.rows(); r++) {
    if (ids && found.ids[r] != expected.ids[r]) apart(r, "the id", expected.ids[r], found.ids[r]);
    if (!targets) continue;
    const std::string& wanted = expected.target_names[expected.target[r]];
    const std::string& other = found.target_names[found.target[r]];
    if (wanted != other) apart(r, "the target", wanted, other);
  }
}

void check_outputs(const std::string& file, const Explanations& found, const Model& model, const Dataset& data,
                   const Targets& targets, const Context& context) {
  double largest = 0;
  for (const double output : found.output) largest = std::max(largest, std::isfinite(output) ? std::abs(output) : 0);
  const ValueFunction value(model, data.x.view(), targets, context);
  Matrix outputs(std::min(data.rows(), kRowsAtATime), model.info().outputs());
  std::vector<double> own(outputs.rows());
  for (size_t begin = 0; begin < data.rows(); begin += kRowsAtATime) {
    const size_t count = std::min(kRowsAtATime, data.rows() - begin);
    const MatrixView<float> part = outputs.view().rows_between(0, count);
    model.predict(data.x.view().rows_between(begin, begin + count), part, context);
    value.apply_to_rows(begin, part, std::span(own).first(count));
    for (size_t i = 0; i < count; i++) {
      const double said = found.output[begin + i];
      const double allowed = kRounding * std::max(std::abs(said), std::abs(own[i])) + kRoundingOfLargest * largest;
      if (std::isnan(said) || std::abs(said - own[i]) <= allowed) continue;
      fail_input(
          fmt::format("{}: the explained value of {} is {:.6g}, and {} gives {:.6g} for it in {}: the "
                      "explanations are of another model, of other rows or of another unit",
                      file, row_name(data.ids, begin + i), said, model.info().name, own[i], data.source));
    }
  }
}

}  // namespace assay::cli
