#include "cli/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "assay/core/text.h"
#include "assay/explain/methods.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

constexpr size_t kShownPlayers = 5;

// The errors of sampling coalitions and of sampling a background together. A little too large: reference rows share
// coalitions, so the second contains part of the first. 0 if there is neither, NaN if one is undefined.
double error_of(const Explanations& explanations, size_t row, size_t player) {
  double squares = 0;
  for (const Matrix* errors : {&explanations.standard_error, &explanations.background_error}) {
    if (!errors->empty()) squares += std::pow(static_cast<double>((*errors)(row, player)), 2);
  }
  return std::sqrt(squares);
}

// The largest absolute value; NaN if none is defined.
template <class Number>
double largest(std::span<const Number> numbers) {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (const Number number : numbers) {
    if (!std::isnan(number)) most = std::fmax(most, std::abs(static_cast<double>(number)));
  }
  return most;
}

}  // namespace

std::string strongest_players(const Explanations& explanations, size_t row) {
  const auto values = explanations.values.row(row);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto size = [&](size_t player) { return std::isnan(values[player]) ? -1.0F : std::abs(values[player]); };
  const size_t shown = std::min(kShownPlayers, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                    [&](size_t a, size_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; });
  std::string text;
  for (size_t k = 0; k < shown; k++) {
    const size_t player = order[k];
    // NaN may have a sign, which is not shown.
    const std::string value = std::isnan(values[player]) ? "nan" : fmt::format("{:+.4g}", values[player]);
    fmt::format_to(std::back_inserter(text), "{}{} {}", k > 0 ? "; " : "", one_line(explanations.features[player]),
                   value);
    if (const double error = error_of(explanations, row, player); error > 0) {
      fmt::format_to(std::back_inserter(text), " +- {:.2g}", error);
    }
  }
  return text;
}

void print_explanations(const Explanations& explanations, size_t rows, FILE* to) {
  const Provenance& made = explanations.provenance;
  fmt::print(to, "{}: {} of {} for {} row{} of {}; reference {}; {} player{} ({})\n", made.method, made.unit,
             one_line(made.model), with_commas(explanations.rows()), explanations.rows() == 1 ? "" : "s",
             one_line(made.data), one_line(made.reference), with_commas(explanations.players()),
             explanations.players() == 1 ? "" : "s", one_line(made.players));
  const bool named = !explanations.ids.empty();
  std::vector<std::vector<std::string>> lines = {
      {named ? one_line(explanations.id_name) : "row", "target", "output", "base", "strongest players"}};
  for (size_t i = 0; i < explanations.rows() && i < rows; i++) {
    lines.push_back({named ? one_line(explanations.ids[i]) : fmt::format("{}", i + 1),
                     one_line(explanations.target_names[explanations.target[i]]), short_number(explanations.output[i]),
                     short_number(explanations.base[i]), strongest_players(explanations, i)});
  }
  if (lines.size() > 1) fmt::print(to, "{}", aligned(lines, {0, 1, 4}));
  if (explanations.rows() > rows) {
    fmt::print(to, "... {} more rows (--show sets how many are shown)\n", with_commas(explanations.rows() - rows));
  }
  fmt::print(to, "{} model evaluation{}", with_commas(explanations.evaluations),
             explanations.evaluations == 1 ? "" : "s");
  if (find_method(made.method).complete) {
    fmt::print(to, "; largest gap {}", short_number(largest<double>(explanations.gap)));
  }
  if (!explanations.standard_error.empty()) {
    fmt::print(to, "; largest standard error {}", short_number(largest(explanations.standard_error.values())));
  }
  if (!explanations.background_error.empty()) {
    fmt::print(to, "; largest background error {}", short_number(largest(explanations.background_error.values())));
  }
  if (explanations.replicate_count() > 0) {
    fmt::print(to, "; {}", plural(explanations.replicate_count(), "replicate"));
  }
  fmt::print(to, "\n");
  for (const std::string& note : explanations.notes) fmt::print(to, "note: {}\n", one_line(note));
}

std::string summary_json(const Explanations& explanations, const std::string& path) {
  using nlohmann::json;
  const auto number = [](double v) { return std::isfinite(v) ? json(v) : json(); };
  const Provenance& made = explanations.provenance;
  // One name where all rows have the same target.
  const bool one_target =
      std::ranges::all_of(explanations.target, [&](uint32_t t) { return t == explanations.target[0]; });
  json options = json::object();
  for (const auto& [name, value] : made.options) options[name] = value;
  const json summary = {
      {"out", path},
      {"method", made.method},
      {"options", options},
      {"model", made.model},
      {"unit", made.unit},
      {"target", one_target ? json(explanations.target_names[explanations.target[0]]) : json("predicted")},
      {"data", made.data},
      {"reference", made.reference},
      {"rows", explanations.rows()},
      {"players", explanations.features},
      {"evaluations", explanations.evaluations},
      {"largest_gap", find_method(made.method).complete ? number(largest<double>(explanations.gap)) : json()},
      {"largest_standard_error", number(largest(explanations.standard_error.values()))},
      {"largest_background_error", number(largest(explanations.background_error.values()))},
      {"notes", explanations.notes}};
  return summary.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace assay::cli
