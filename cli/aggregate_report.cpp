#include "cli/aggregate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/text.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/io/explanations_json.h"
#include "cli/explain_report.h"
#include "cli/report_parts.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

// Whether weights belong to members, not to antecedents.
bool weighs_members(const Combination& made, size_t members) {
  return made.weights.cols() == members && made.antecedents.empty() && made.weights.rows() > 0;
}

std::vector<double> column(const Matrix& matrix, size_t which) {
  std::vector<double> values(matrix.rows());
  for (size_t r = 0; r < values.size(); r++) values[r] = matrix(r, which);
  return values;
}

std::string aggregate_heading(const AggregateResult& result) {
  const Explanations& made = result.made.explanations;
  const Provenance& how = made.provenance;
  std::vector<std::string> names;
  for (const std::string& member : made.combination.members) names.push_back(short_name(member));
  std::string text = one_line(result.aggregator);
  if (!names.empty()) text += fmt::format(" of {}", joined(names));
  text += fmt::format(": {}", how.unit.empty() ? "attributions" : short_name(how.unit));
  if (!how.model.empty()) text += fmt::format(" of {}", short_name(how.model));
  text += fmt::format(" for {}", plural(made.rows(), "row"));
  if (!how.data.empty()) text += fmt::format(" of {}", short_name(how.data));
  return fmt::format("{}; {}", text, plural(made.players(), "player"));
}

void print_rows(const Explanations& made, size_t rows, FILE* to) {
  const bool named = !made.ids.empty();
  const bool has_target = !made.target.empty();
  std::vector<std::vector<std::string>> lines = {{named ? one_line(made.id_name) : "row"}};
  if (has_target) lines[0].emplace_back("target");
  lines[0].emplace_back("strongest players");
  for (size_t r = 0; r < made.rows() && r < rows; r++) {
    lines.push_back({named ? one_line(made.ids[r]) : fmt::format("{}", r + 1)});
    if (has_target) lines.back().push_back(one_line(made.target_names[made.target[r]]));
    lines.back().push_back(std::isnan(made.values(r, 0)) ? "undefined" : strongest_players(made, r));
  }
  if (lines.size() > 1) fmt::print(to, "{}", aligned(lines, {0, 1, 2}));
  if (made.rows() > rows) {
    fmt::print(to, "... {} more rows (--show sets how many are shown)\n", with_commas(made.rows() - rows));
  }
}

// A line for the result and for each member. Members have "-" in columns that only the result has.
void print_means(const AggregateResult& result, const std::vector<MemberSummary>& members, FILE* to) {
  const Combination& made = result.made.explanations.combination;
  const bool weights = weighs_members(made, members.size());
  std::vector<std::vector<std::string>> lines = {{"mean over rows", "complexity"}};
  lines.push_back({one_line(result.made.explanations.provenance.method), number_text(mean_defined(result.complexity))});
  for (const RowMeasure& measure : made.measures) {
    if (measure.name == "complexity") continue;
    lines[0].push_back(one_line(measure.name));
    lines[1].push_back(number_text(mean_defined(measure.values)));
  }
  if (weights) lines[0].emplace_back("weight");
  for (size_t j = 0; j < members.size(); j++) {
    lines.push_back({short_name(members[j].name), number_text(members[j].complexity)});
    lines.back().resize(lines[0].size(), "-");
    if (weights) lines.back().back() = number_text(mean_defined(column(made.weights, j)));
  }
  lines[1].resize(lines[0].size(), "-");
  fmt::print(to, "{}", aligned(lines, {0}));
}

Json measures_json(const std::vector<RowMeasure>& measures) {
  Json made = Json::object();
  for (const RowMeasure& measure : measures) {
    made[measure.name] = {{"mean", number(mean_defined(measure.values))}, {"values", numbers(measure.values)}};
  }
  return made;
}

Json complexity_json(const AggregateResult& result, const std::vector<MemberSummary>& members) {
  Json of_members = Json::array();
  for (const MemberSummary& member : members) {
    of_members.push_back({{"name", member.name}, {"mean", number(member.complexity)}});
  }
  return {{"mean", number(mean_defined(result.complexity))},
          {"values", numbers(result.complexity)},
          {"members", of_members}};
}

Json weights_json(const Matrix& weights) {
  if (weights.rows() == 0) return {};
  Json made = Json::array();
  for (size_t r = 0; r < weights.rows(); r++) {
    Json row = Json::array();
    for (const float weight : weights.row(r)) row.push_back(number(weight));
    made.push_back(row);
  }
  return made;
}

// Rows of the pool, counted from 1 as everywhere on the command line. Missing antecedents are left out.
Json antecedents_json(const Combination& made) {
  if (made.antecedents.empty()) return {};
  Json list = Json::array();
  const size_t each = made.weights.cols();
  for (size_t r = 0; r < made.weights.rows(); r++) {
    Json row = Json::array();
    for (size_t k = 0; k < each; k++) {
      if (const int64_t number = made.antecedents[r * each + k]; number >= 0) row.push_back(number + 1);
    }
    list.push_back(row);
  }
  return list;
}

}  // namespace

double mean_defined(const std::vector<double>& values) {
  double sum = 0;
  size_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    count++;
  }
  return count == 0 ? NAN : sum / static_cast<double>(count);
}

std::vector<double> complexity_of(const Explanations& explanations, const Context& context) {
  const Context quiet = context.quiet();
  return evaluate({"complexity"}, EvaluateTask{explanations}, {.draws = 0}, quiet).values;
}

void print_aggregate(const AggregateResult& result, const std::vector<MemberSummary>& members, size_t rows,
                     bool remarks, FILE* to) {
  const Explanations& made = result.made.explanations;
  fmt::print(to, "{}\n", aggregate_heading(result));
  print_rows(made, rows, to);
  print_means(result, members, to);
  if (!remarks) return;
  for (const Undefined& undefined : result.made.undefined) {
    fmt::print(to, "{} of {} undefined: {}\n", with_commas(undefined.rows), plural(made.rows(), "row"),
               one_line(undefined.reason));
  }
  if (result.pool_undefined > 0) {
    fmt::print(to, "{} of {} of the pool undefined\n", with_commas(result.pool_undefined),
               plural(result.pool_rows, "row"));
  }
  for (const std::string& note : made.notes) fmt::print(to, "note: {}\n", one_line(note));
  if (made.evaluations > 0) fmt::print(to, "{}\n", plural(made.evaluations, "model evaluation"));
  print_tables(one_line(result.aggregator), result.made.tables, to, true);
}

std::string aggregate_json(const AggregateResult& result, const std::vector<MemberSummary>& members) {
  const Explanations& made = result.made.explanations;
  const Provenance& how = made.provenance;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const Json summary = {{"out", text_or_null(result.out)},
                        {"pool_out", text_or_null(result.pool_out)},
                        {"aggregator", how.method},
                        {"options", options_json(how.options)},
                        {"members", made.combination.members},
                        {"model", text_or_null(how.model)},
                        {"unit", text_or_null(how.unit)},
                        {"target", text_or_null(how.target)},
                        {"data", text_or_null(how.data)},
                        {"reference", text_or_null(how.reference)},
                        {"rows", made.rows()},
                        {"players", made.features},
                        {"relative", made.combination.relative},
                        {"evaluations", made.evaluations},
                        {"complexity", complexity_json(result, members)},
                        {"measures", measures_json(made.combination.measures)},
                        {"weights", weights_json(made.combination.weights)},
                        {"antecedents", antecedents_json(made.combination)},
                        {"undefined", undefined_json(result.made.undefined)},
                        {"pool_rows", result.pool_rows},
                        {"pool_undefined", result.pool_undefined},
                        {"tables", tables_json(result.made.tables)},
                        {"notes", made.notes}};
  std::string text = dumped(summary);
  if (!result.out.empty()) return text;
  text.pop_back();
  return fmt::format("{},\n\"explanations\": {}}}", text, explanations_json("standard output", made));
}

}  // namespace assay::cli
