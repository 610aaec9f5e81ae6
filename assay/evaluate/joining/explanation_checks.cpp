#include "assay/evaluate/joining/explanation_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/joining/explained_values.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

constexpr double kRoundingOfValue = 1e-3;
constexpr double kRoundingOfLargest = 1e-5;

// Names as LightGBM writes them: a table's "petal width" is "petal_width" in its model.
std::vector<std::string> without_spaces(std::vector<std::string> names) {
  for (std::string& name : names) std::ranges::replace(name, ' ', '_');
  return names;
}

bool same_but_for_spaces(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> written = without_spaces(a);
  if (written != without_spaces(b)) return false;
  // Two names that are only told apart by a space could have changed places.
  std::ranges::sort(written);
  return std::ranges::adjacent_find(written) == written.end();
}

}  // namespace

bool are_names(const std::vector<std::string>& players) {
  for (size_t p = 0; p < players.size(); p++) {
    if (players[p] != fmt::format("{}", p)) return true;
  }
  return false;
}

bool same_explained_value(double a, double b, double largest) {
  // An infinite value would allow for everything.
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
  return std::abs(a - b) <= kRoundingOfValue * std::max(std::abs(a), std::abs(b)) + kRoundingOfLargest * largest;
}

double largest_output(const Explanations& explanations) {
  double largest = 0;
  for (const auto* const values : {&explanations.output, &explanations.base}) {
    for (const double value : *values) largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0);
  }
  return largest;
}

std::string row_in_words(const std::vector<std::string>& ids, size_t row) {
  return ids.empty() ? fmt::format("row {}", row + 1) : fmt::format("row {}", one_line(ids[row]));
}

void check_explained_unit(const std::string& file, const Explanations& found) {
  constexpr std::array<std::string_view, 5> kUnits = {"margin", "probability", "log_odds", "value", "information"};
  const std::string& unit = found.provenance.unit;
  if (unit.empty() || std::ranges::find(kUnits, unit) != kUnits.end()) return;
  fail_input(file, fmt::format("a unit of {}", fmt::join(kUnits, ", ")), in_quotes(unit));
}

Targets named_targets(const std::string& file, const Explanations& found, const Model& model,
                      MatrixView<const float> rows) {
  Targets targets = freeze_targets(model, rows, {}, {});
  targets.predicted = found.provenance.target == kPredictedTarget;
  std::vector<uint32_t> which;
  for (const std::string& name : found.target_names) {
    const auto at = std::ranges::find(targets.names, name);
    which.push_back(static_cast<uint32_t>(at - targets.names.begin()));
  }
  for (size_t r = 0; r < found.rows(); r++) {
    targets.of_row[r] = which[found.target[r]];
    if (targets.of_row[r] < targets.names.size()) continue;
    fail_input(file, fmt::format("targets of {}: {}", model.info().name, joined(targets.names, "or")),
               in_quotes(found.target_names[found.target[r]]));
  }
  return targets;
}

void check_player_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                        std::string_view of, std::string_view advice) {
  if (found.players() != names.size()) {
    fail_input(file, fmt::format("{} columns, one for each player of {}", names.size(), of),
               fmt::format("{}{}", found.players(), advice));
  }
  if (!are_names(found.features) || !are_names(names) || found.features == names) return;
  if (same_but_for_spaces(found.features, names)) return;
  const auto [theirs, ours] = std::ranges::mismatch(found.features, names);
  fail_input(file, fmt::format("{} as player {}, as in {}", in_quotes(*ours), theirs - found.features.begin() + 1, of),
             fmt::format("{}{}", in_quotes(*theirs), advice));
}

void check_explained_rows(const std::string& file, const Explanations& found, const Dataset& data,
                          std::string_view advice) {
  if (found.rows() != data.rows()) {
    const std::string& words = found.provenance.data;
    fail_input(file, fmt::format("{} rows, one for each of {}", data.rows(), data.source),
               fmt::format("{}{}{}", found.rows(), words.empty() ? "" : fmt::format(" (made of {})", short_name(words)),
                           advice));
  }
  if (found.ids.empty() || data.ids.empty() || found.ids == data.ids) return;
  const auto [theirs, ours] = std::ranges::mismatch(found.ids, data.ids);
  fail_input(file, fmt::format("{} as row {}, as in {}", in_quotes(*ours), theirs - found.ids.begin() + 1, data.source),
             in_quotes(*theirs));
}

bool has_own_outputs(const Explanations& explanations) {
  const Combination& made = explanations.combination;
  const auto named = std::ranges::find(made.measures, kAntecedentsOutput, &RowMeasure::name);
  return made.antecedents.empty() || named != made.measures.end();
}

void check_same_outputs(const std::string& file, const Explanations& found, const std::string& first,
                        const Explanations& expected) {
  if (!has_own_outputs(found) || !has_own_outputs(expected)) return;
  const double largest = largest_output(expected);
  for (size_t r = 0; r < found.rows(); r++) {
    const double wanted = expected.output[r];
    const double other = found.output[r];
    if (!std::isfinite(wanted) || !std::isfinite(other) || same_explained_value(wanted, other, largest)) continue;
    fail_input(file, fmt::format("the explained value {:.6g} in row {}, as in {}", wanted, r + 1, in_quotes(first)),
               fmt::format("{:.6g}: another model, or other rows", other));
  }
}

void check_explained_alike(const std::string& file, const Explanations& found, const std::string& first,
                           const Explanations& expected) {
  if (found.rows() != expected.rows()) {
    fail_input(file, fmt::format("{} rows, as {} has", expected.rows(), in_quotes(first)),
               fmt::format("{}", found.rows()));
  }
  check_player_names(file, found, expected.features, in_quotes(first));
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
  const auto differ = [&](std::string Provenance::* what) {
    const std::string& a = found.provenance.*what;
    const std::string& b = expected.provenance.*what;
    return !a.empty() && !b.empty() && a != b;
  };
  if (!differ(&Provenance::unit) && !differ(&Provenance::model)) check_same_outputs(file, found, first, expected);
}

size_t check_explained_values(const std::string& file, const Explanations& found, const Model& model,
                              const Dataset& data, const Targets& targets, std::string_view advice,
                              const Context& context) {
  const double largest = largest_output(found);
  const std::vector<double> own = explained_values(model, data, targets, context);
  size_t unsaid = 0;
  for (size_t r = 0; r < data.rows(); r++) {
    const double said = found.output[r];
    unsaid += std::isnan(said) ? 1 : 0;
    if (std::isnan(said) || same_explained_value(said, own[r], largest)) continue;
    fail_input(
        fmt::format("{}: the explained value of {} is {:.6g}, and {} gives {:.6g} for it in {}: the "
                    "explanations are of another model, of other rows or of another unit{}",
                    file, row_in_words(data.ids, r), said, model.info().name, own[r], data.source, advice));
  }
  return unsaid;
}

std::optional<std::string> unchecked_note(const std::string& file, const Explanations& found, size_t unsaid) {
  const bool bare = found.target.empty() && found.provenance.method.empty();
  if (unsaid == 0 || bare) return {};
  return fmt::format("{} says no explained value for {} of {} rows, which could not be checked against the model", file,
                     unsaid, found.rows());
}

std::optional<std::string> other_reference(const Explanations& found, const Model& model, const Dataset& data,
                                           const Targets& targets, const Reference& reference, const Context& context) {
  if (reference.rows.rows() == 0) return {};
  const Matrix outputs = reference_outputs(model, reference, context);
  const ValueFunction value(model, data.x.view(), targets, context);
  const double largest = largest_output(found);
  std::vector<float> values(outputs.rows());
  std::vector<bool> seen(targets.names.size());  // rows of one target have one base
  for (size_t r = 0; r < found.rows(); r++) {
    if (!std::isfinite(found.base[r]) || seen[targets.of_row[r]]) continue;
    seen[targets.of_row[r]] = true;
    const double own = base_value(value, r, outputs, values);
    if (!std::isfinite(own) || same_explained_value(found.base[r], own, largest)) continue;
    const std::string& words = found.provenance.reference;
    return fmt::format("explained against another reference{}: its base for {} is {:.6g}, that of {} is {:.6g}",
                       words.empty() || words == reference.description ? "" : fmt::format(" ({})", words),
                       row_in_words(data.ids, r), found.base[r], reference.description, own);
  }
  return {};
}

}  // namespace assay
