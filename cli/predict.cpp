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
#include "assay/model/engine_model.h"
#include "assay/model/metadata.h"
#include "assay/model/model_file.h"
#include "assay/model/text_columns.h"
#include "assay/model/trees/booster.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
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

// Differences up to this share of a column's largest score count as float32 rounding.
constexpr double kRounding = 1e-5;

// How far predictions are from scores the user already has.
struct ScoreComparison {
  size_t columns = 0;
  double largest = 0;
  // Where the largest difference is, and the two numbers there.
  size_t row = 0;
  std::string column;
  float found = 0;
  float expected = 0;
  size_t apart_rows = 0;  // rows with a difference beyond rounding
  size_t different_labels = 0;
  size_t labels = 0;
  std::vector<std::string> not_compared = {};  // columns that are not in the file
};

struct Accuracy {
  double share = 0;
  size_t rows = 0;
};

Table outputs_in_unit(const EngineModel& model, const Dataset& data, const Context& context) {
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

double largest_score(const Table& table, size_t column) {
  double largest = 0;
  for (size_t r = 0; r < table.rows(); r++) {
    const double score = std::abs(static_cast<double>(table.values(r, column)));
    if (std::isfinite(score)) largest = std::max(largest, score);
  }
  return largest;
}

// apart: for each row, whether a difference is beyond rounding.
void compare_column(const Table& found, size_t mine, const Table& expected, size_t theirs, ScoreComparison& total,
                    std::vector<uint8_t>& apart) {
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
  const double rounding = text ? 0 : kRounding * largest_score(expected, theirs);
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
    if (difference > rounding) apart[r] = 1;
    if (difference <= total.largest) continue;
    total.largest = difference;
    total.row = r + 1;
    total.column = a.name;
    total.found = found.values(r, mine);
    total.expected = expected.values(r, theirs);
  }
}

ScoreComparison compare(const Table& found, const Table& expected) {
  if (found.rows() != expected.rows()) {
    fail_input(expected.source, fmt::format("{} rows, one for each prediction", found.rows()),
               fmt::format("{}", expected.rows()));
  }
  ScoreComparison total;
  std::vector<uint8_t> apart(found.rows());
  const std::vector<std::string> names = column_names(expected);
  for (size_t c = 0; c < found.columns.size(); c++) {
    const auto at = std::find(names.begin(), names.end(), found.columns[c].name);
    if (at != names.end()) {
      compare_column(found, c, expected, static_cast<size_t>(at - names.begin()), total, apart);
    } else {
      total.not_compared.push_back(found.columns[c].name);
    }
  }
  if (total.columns == 0 && found.columns.size() != expected.columns.size()) {
    fail_input(expected.source,
               fmt::format("one of the columns {}, or {} in their order", joined(column_names(found), "or"),
                           found.columns.size()),
               joined(names));
  }
  if (total.columns == 0) {
    total.not_compared.clear();
    for (size_t c = 0; c < found.columns.size(); c++) compare_column(found, c, expected, c, total, apart);
  }
  total.apart_rows = static_cast<size_t>(std::count(apart.begin(), apart.end(), uint8_t{1}));
  return total;
}

// The share of rows whose largest output (or sign of a single margin) is the label's class; nothing without labels.
std::optional<Accuracy> accuracy(const EngineModel& model, const Dataset& data, const Context& context) {
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

void report_comparison(const PredictArguments& arguments, size_t rows, const ScoreComparison& comparison, FILE* to) {
  fmt::print(to, "largest difference from {}: {:.3g}", one_line(arguments.check), comparison.largest);
  if (comparison.largest > 0) {
    fmt::print(to, " (row {}, column {}: {} here, {} there)", comparison.row, one_line(comparison.column),
               comparison.found, comparison.expected);
  }
  fmt::print(to, " over {} rows and {} columns\n", with_commas(rows), comparison.columns);
  if (!comparison.not_compared.empty()) {
    fmt::print(to, "not compared: {}, which {} does not have\n", one_line(joined(comparison.not_compared)),
               one_line(arguments.check));
  }
  if (comparison.largest > 0) {
    fmt::print(to, "rows: {} of {} differ by more than 1e-5 of their column's largest score\n",
               with_commas(comparison.apart_rows), with_commas(rows));
  }
  if (comparison.labels > 0) {
    fmt::print(to, "labels: {} of {} differ\n", with_commas(comparison.different_labels),
               with_commas(comparison.labels));
  }
}

// What the reader of a booster's file noted, for example where the library itself can give other predictions.
std::string note_of(const EngineModel& model) {
  const std::string* note = find_metadata(model.graph().metadata(), kNoteKey);
  return note == nullptr ? std::string() : one_line(*note);
}

// The comparison comes first: if it fails, no other number is worth reading.
void report_text(const PredictArguments& arguments, const Table& predictions, const std::optional<Accuracy>& share,
                 const std::optional<ScoreComparison>& comparison, const std::string& note, FILE* to) {
  if (comparison) report_comparison(arguments, predictions.rows(), *comparison, to);
  if (comparison && !note.empty()) fmt::print(to, "note: {}\n", note);
  if (!arguments.out.empty() && arguments.out != "-") {
    fmt::print(to, "wrote {}: {} rows, {} columns\n", one_line(arguments.out), with_commas(predictions.rows()),
               with_commas(predictions.columns.size()));
  }
  if (share) fmt::print(to, "accuracy {:.4f} on {} rows\n", share->share, with_commas(share->rows));
}

void report_json(const PredictArguments& arguments, const Table& predictions, const std::optional<Accuracy>& share,
                 const std::optional<ScoreComparison>& comparison, const std::string& note) {
  using json = nlohmann::ordered_json;
  json out = json::object();
  if (comparison) {
    const bool differs = comparison->largest > 0;
    // JSON has no NaN and no infinities.
    const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(); };
    out["check"] = {{"largest_difference", number(comparison->largest)},
                    {"row", differs ? json(comparison->row) : json()},
                    {"column", comparison->column},
                    {"found", differs ? number(comparison->found) : json()},
                    {"expected", differs ? number(comparison->expected) : json()},
                    {"different_rows", comparison->apart_rows},
                    {"columns", comparison->columns},
                    {"labels", comparison->labels},
                    {"different_labels", comparison->different_labels},
                    {"not_compared", comparison->not_compared}};
  }
  out["model"] = arguments.model;
  out["rows"] = predictions.rows();
  out["columns"] = column_names(predictions);
  if (!arguments.out.empty()) out["out"] = arguments.out;
  if (share) out["accuracy"] = share->share;
  if (!note.empty()) out["note"] = note;
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

void predict(const PredictArguments& arguments, const Session& session) {
  const bool to_stdout = arguments.out == "-" || (arguments.out.empty() && arguments.check.empty() && !session.json);
  const std::string out = to_stdout ? "-" : arguments.out;
  if (!out.empty()) check_output(out);
  for (const std::string& input : {arguments.model, arguments.table.what, arguments.check}) {
    refuse_same_file("--out", out, input);
  }
  OnnxModel onnx = read_model(arguments.model, session.context);
  // The model first: it decides whether cells are kept as doubles.
  TableArguments rows = arguments.table;
  KeptDoubles doubles;
  const bool keep_doubles = compares_doubles(onnx);
  if (keep_doubles) rows.options.doubles = &doubles;
  declare_text_columns(arguments.model, onnx, rows.options);
  declare_used_columns(columns_by_name(arguments.model, onnx), rows.options);
  const Table table = rows.open(session);
  const size_t columns = table.columns.size() - (table.label ? 1 : 0);
  const auto model =
      EngineModel::from_onnx(arguments.model, std::move(onnx), {unit_of(arguments.output), columns}, session.context);
  const Dataset data = model->features_of(table, keep_doubles ? &doubles : nullptr);
  Table predictions = arguments.output.empty() ? model->own_outputs(data.x.view(), session.context)
                                               : outputs_in_unit(*model, data, session.context);
  predictions.id_name = data.id_name;
  predictions.ids = data.ids;
  std::optional<ScoreComparison> comparison;
  if (!arguments.check.empty()) comparison = compare(predictions, read_table(arguments.check, {}, session.context));
  const std::optional<Accuracy> share = accuracy(*model, data, session.context);
  if (table.label && data.labels.empty() && !session.quiet) {
    fmt::print(stderr, "no accuracy: the classes of column {} are not those of the model\n",
               in_quotes(table.columns[*table.label].name));
  }
  if (!session.quiet) {
    for (const std::string& note : data.notes) fmt::print(stderr, "note: {}\n", one_line(note));
  }
  if (!out.empty()) write_table(predictions, out, session.context);
  if (session.json && out != "-") {
    report_json(arguments, predictions, share, comparison, note_of(*model));
  } else if (!session.quiet || comparison) {
    report_text(arguments, predictions, share, comparison, note_of(*model), out == "-" ? stderr : stdout);
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
  command->add_option("--model", arguments->model, "An ONNX, XGBoost or LightGBM file")->required();
  arguments->table.add_to(*command, "--data");
  command
      ->add_option("--output", arguments->output,
                   "margin, probability or log_odds of each class, instead of the graph's own outputs")
      ->check(CLI::IsMember({"margin", "probability", "log_odds"}));
  command->add_option("--out", arguments->out,
                      "Where to: .csv .tsv .npy .npz .parquet .feather, also .gz and .xz; - is stdout, as without it");
  command->add_option("--check", arguments->check,
                      "The library's own scores, a table: reports the largest difference from them first");
  command
      ->add_option("--tolerance", arguments->tolerance,
                   "With --check: exit 1 when a difference is larger than this, or a label differs")
      ->check(distance_or_radius, "FLOAT")
      ->needs("--check");
  command->callback([&session, arguments] { session.run = [&session, arguments] { predict(*arguments, session); }; });
}

}  // namespace assay::cli
