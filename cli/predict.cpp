// assay predict --model FILE --data NAME|FILE
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/table_io.h"
#include "assay/explain/target.h"
#include "assay/model/graph_model.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

struct PredictArguments {
  std::string model;
  TableArguments table;
  std::string output;
  std::string out;
  std::string check;
  std::optional<double> tolerance;
};

// How far predictions are from scores the user already has.
struct Comparison {
  size_t columns = 0;
  double largest = 0;
  size_t row = 0;
  std::string column;
  size_t different_labels = 0;
  size_t labels = 0;
};

struct Accuracy {
  double share = 0;
  size_t rows = 0;
};

Table outputs_in_unit(const GraphModel& model, const Dataset& data, const Context& context) {
  const ModelInfo& info = model.info();
  Table table;
  table.source = info.name;
  table.values = Matrix(data.rows(), info.outputs());
  model.predict(data.x.view(), table.values.view(), context);
  for (const std::string& name : info.output_names) {
    table.columns.push_back(
        {info.unit == OutputUnit::value ? name : fmt::format("{}.{}", output_unit_name(info.unit), name)});
  }
  return table;
}

void compare_column(const Table& found, size_t mine, const Table& expected, size_t theirs, Comparison& total) {
  const Column& a = found.columns[mine];
  const Column& b = expected.columns[theirs];
  total.columns++;
  const bool text = a.kind == ColumnKind::categorical || b.kind == ColumnKind::categorical;
  const auto text_of = [](const Table& table, size_t r, size_t c) {
    const float value = table.values(r, c);
    if (std::isnan(value)) return std::string();
    const Column& column = table.columns[c];
    return column.kind == ColumnKind::categorical ? column.levels[static_cast<size_t>(value)]
                                                  : fmt::format("{}", value);
  };
  for (size_t r = 0; r < found.rows(); r++) {
    if (text) {
      total.labels++;
      total.different_labels += text_of(found, r, mine) != text_of(expected, r, theirs) ? 1 : 0;
      continue;
    }
    const double x = found.values(r, mine);
    const double y = expected.values(r, theirs);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::isnan(x - y) ? INFINITY : std::abs(x - y);
    if (difference <= total.largest) continue;
    total.largest = difference;
    total.row = r + 1;
    total.column = a.name;
  }
}

Comparison compare(const Table& found, const Table& expected) {
  if (found.rows() != expected.rows()) {
    fail_input(expected.source, fmt::format("{} rows, one for each prediction", found.rows()),
               fmt::format("{}", expected.rows()));
  }
  Comparison total;
  const std::vector<std::string> names = column_names(expected);
  for (size_t c = 0; c < found.columns.size(); c++) {
    const auto at = std::find(names.begin(), names.end(), found.columns[c].name);
    if (at != names.end()) compare_column(found, c, expected, static_cast<size_t>(at - names.begin()), total);
  }
  if (total.columns > 0) return total;
  if (found.columns.size() != expected.columns.size()) {
    fail_input(expected.source,
               fmt::format("one of the columns {}, or {} in their order", joined(column_names(found), "or"),
                           found.columns.size()),
               joined(names));
  }
  for (size_t c = 0; c < found.columns.size(); c++) compare_column(found, c, expected, c, total);
  return total;
}

// The share of rows whose largest output (or sign of a single margin) is the label's class; nothing without labels.
std::optional<Accuracy> accuracy(const GraphModel& model, const Dataset& data, const Context& context) {
  const ModelInfo& info = model.info();
  if (data.labels.empty() || info.class_names.empty()) return {};
  Matrix outputs(data.rows(), info.outputs());
  model.predict(data.x.view(), outputs.view(), context);
  size_t right = 0;
  size_t labelled = 0;
  for (size_t r = 0; r < data.rows(); r++) {
    if (std::isnan(data.labels[r])) continue;
    labelled++;
    right += static_cast<size_t>(data.labels[r]) == predicted_class(info, outputs.row(r)) ? 1 : 0;
  }
  if (labelled == 0) return {};
  return Accuracy{static_cast<double>(right) / static_cast<double>(labelled), labelled};
}

void report_text(const PredictArguments& arguments, const Table& predictions, const std::optional<Accuracy>& share,
                 const std::optional<Comparison>& comparison, FILE* to) {
  if (!arguments.out.empty() && arguments.out != "-") {
    fmt::print(to, "wrote {}: {} rows, {} columns\n", one_line(arguments.out), with_commas(predictions.rows()),
               with_commas(predictions.columns.size()));
  }
  if (share) fmt::print(to, "accuracy {:.4f} on {} rows\n", share->share, with_commas(share->rows));
  if (!comparison) return;
  fmt::print(to, "largest difference from {}: {:.3g}", one_line(arguments.check), comparison->largest);
  if (comparison->largest > 0) fmt::print(to, " (row {}, column {})", comparison->row, one_line(comparison->column));
  fmt::print(to, " over {} rows and {} columns\n", with_commas(predictions.rows()), comparison->columns);
  if (comparison->labels > 0) {
    fmt::print(to, "labels: {} of {} differ\n", with_commas(comparison->different_labels),
               with_commas(comparison->labels));
  }
}

void report_json(const PredictArguments& arguments, const Table& predictions, const std::optional<Accuracy>& share,
                 const std::optional<Comparison>& comparison) {
  using nlohmann::json;
  json out = {{"model", arguments.model}, {"rows", predictions.rows()}, {"columns", column_names(predictions)}};
  if (!arguments.out.empty()) out["out"] = arguments.out;
  if (share) out["accuracy"] = share->share;
  if (comparison) {
    out["check"] = {{"columns", comparison->columns},
                    {"largest_difference", std::isfinite(comparison->largest) ? json(comparison->largest) : json()},
                    {"row", comparison->largest > 0 ? json(comparison->row) : json()},
                    {"column", comparison->column},
                    {"labels", comparison->labels},
                    {"different_labels", comparison->different_labels}};
  }
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

void predict(const PredictArguments& arguments, const Session& session) {
  const bool to_stdout = arguments.out == "-" || (arguments.out.empty() && arguments.check.empty() && !session.json);
  const std::string out = to_stdout ? "-" : arguments.out;
  if (!out.empty()) check_output(out);
  const Table table = arguments.table.open(session);
  const size_t columns = table.columns.size() - (table.label ? 1 : 0);
  const auto model = GraphModel::load(arguments.model, {unit_of(arguments.output), columns});
  const Dataset data = model->features_of(table);
  Table predictions = arguments.output.empty() ? model->own_outputs(data.x.view(), session.context)
                                               : outputs_in_unit(*model, data, session.context);
  predictions.id_name = data.id_name;
  predictions.ids = data.ids;
  std::optional<Comparison> comparison;
  if (!arguments.check.empty()) comparison = compare(predictions, read_table(arguments.check, {}, session.context));
  const std::optional<Accuracy> share = accuracy(*model, data, session.context);
  if (table.label && data.labels.empty() && !session.quiet) {
    fmt::print(stderr, "no accuracy: the classes of column {} are not those of the model\n",
               in_quotes(table.columns[*table.label].name));
  }
  if (!out.empty()) write_table(predictions, out, session.context);
  if (session.json && out != "-") {
    report_json(arguments, predictions, share, comparison);
  } else if (!session.quiet || comparison) {
    report_text(arguments, predictions, share, comparison, out == "-" ? stderr : stdout);
  }
  const bool apart = comparison && arguments.tolerance &&
                     (comparison->largest > *arguments.tolerance || comparison->different_labels > 0);
  if (apart) {
    fail_input(fmt::format(
        "{}: predictions differ from {} by {:.3g} in row {} ({} labels differ); --tolerance allows {}", arguments.model,
        arguments.check, comparison->largest, comparison->row, comparison->different_labels, *arguments.tolerance));
  }
}

}  // namespace

void add_predict(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand("predict", "Run a model on the rows of a table");
  command->add_option("--model", arguments->model, "An ONNX file")->required();
  arguments->table.add_to(*command, "--data");
  command
      ->add_option("--output", arguments->output,
                   "margin, probability or log_odds of each class, instead of the graph's own outputs")
      ->check(CLI::IsMember({"margin", "probability", "log_odds"}));
  command->add_option("--out", arguments->out,
                      "Where to: .csv .tsv .npy .npz .parquet .feather, also .gz and .xz; - is stdout, as without it");
  command->add_option("--check", arguments->check,
                      "Scores you already have, a table: reports the largest difference from them");
  command
      ->add_option("--tolerance", arguments->tolerance,
                   "With --check: exit 1 when a difference is larger than this, or a label differs")
      ->check(distance_or_radius, "FLOAT")
      ->needs("--check");
  command->callback([&session, arguments] { session.run = [&session, arguments] { predict(*arguments, session); }; });
}

}  // namespace assay::cli
