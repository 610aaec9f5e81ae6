// assay explain --model FILE --data NAME|FILE --method METHOD
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "assay/data/table_io.h"
#include "assay/explain/explainer.h"
#include "assay/explain/io/explanations_json.h"
#include "assay/explain/methods.h"
#include "assay/model/graph_model.h"
#include "cli/commands.h"
#include "cli/explain_report.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

struct ExplainArguments {
  std::string model;
  TableArguments table;
  std::string rows;
  std::string method;
  std::string target = "auto";
  std::string value;
  ReferenceWords reference;
  std::string pool;
  std::string pool_split = "all";
  std::string groups = "auto";
  std::string out;
  size_t show = 10;
};

// Everything that is made before the first method runs.
struct Prepared {
  std::vector<Spec> methods;
  std::unique_ptr<GraphModel> model;
  Dataset data;
  std::vector<Targets> targets;  // one for each result of a method
  Reference reference;
  Players players;
  std::vector<std::string> paths;  // methods x targets; empty without --out
};

// Unknown methods and options are known before anything is read.
std::vector<Spec> parse_methods(const ExplainArguments& arguments) {
  std::vector<Spec> specs = parse_specs("--method", arguments.method);
  for (const Spec& spec : specs) find_method(spec.name).make(spec);
  return specs;
}

bool needs_reference(const std::vector<Spec>& methods) {
  return std::ranges::any_of(methods, [](const Spec& spec) { return find_method(spec.name).uses_reference; });
}

void check_reference(const ExplainArguments& arguments, const std::vector<Spec>& methods) {
  const bool given = !arguments.reference.baseline.empty() || !arguments.reference.background.empty();
  if (!given && arguments.pool.empty() && needs_reference(methods)) {
    fail_input(
        "what stands for absent features is not said; give --pool (its mean is the default), --baseline or "
        "--background");
  }
}

// "1,5,10-20", counted from 1.
std::vector<size_t> row_list(const std::string& text, size_t rows) {
  const auto refuse = [&](std::string_view found) {
    fail_input("--rows", fmt::format("rows from 1 to {}, as in 1,5,10-20", rows), in_quotes(found));
  };
  std::vector<size_t> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    const char* stop = item.data() + item.size();
    size_t first = 0;
    auto [at, problem] = std::from_chars(item.data(), stop, first);
    size_t last = first;
    if (problem == std::errc() && at != stop && *at == '-') {
      const auto tail = std::from_chars(at + 1, stop, last);
      at = tail.ptr;
      problem = tail.ec;
    }
    if (problem != std::errc() || at != stop || first < 1 || last < first || last > rows) refuse(item);
    for (size_t row = first; row <= last; row++) out.push_back(row - 1);
    begin = end + 1;
  }
  return out;
}

Dataset chosen_rows(Dataset data, const std::string& rows) {
  if (rows.empty()) return data;
  const std::vector<size_t> wanted = row_list(rows, data.rows());
  Dataset chosen = select_rows(data, wanted);
  if (chosen.ids.empty()) {
    chosen.id_name = "row";
    for (const size_t row : wanted) chosen.ids.push_back(fmt::format("{}", row + 1));
  }
  return chosen;
}

// Also of nothing at all.
bool is_position(const std::string& text) { return text.find_first_not_of("-0123456789") == std::string::npos; }

bool has_column(const Table& table, const std::string& name) {
  const std::vector<std::string> names = column_names(table);
  return std::ranges::find(names, name) != names.end();
}

// The rows themselves, or a table beside them that is read alike. A column of labels that is named may be in one and
// not in the other; so may one of ids, beside the rows. Columns by position are in all, and a split needs its labels.
Table open_alike(const ExplainArguments& arguments, const Session& session, const std::string& what,
                 const std::string& split, bool beside) {
  TableArguments alike = arguments.table;
  alike.what = what;
  alike.split = split;
  TableOptions late;
  if (split == "all" && !is_position(alike.options.label)) std::swap(late.label, alike.options.label);
  if (beside && !is_position(alike.options.id)) std::swap(late.id, alike.options.id);
  Table table = alike.open(session);
  if (!has_column(table, late.label)) late.label.clear();
  if (!has_column(table, late.id)) late.id.clear();
  apply_options(table, late);
  return table;
}

// The rows, and the pool where there is one.
struct Tables {
  Table rows;
  std::optional<Table> pool;
};

Tables open_tables(const ExplainArguments& arguments, const Session& session) {
  Tables tables;
  tables.rows = open_alike(arguments, session, arguments.table.what, arguments.table.split, false);
  if (!arguments.pool.empty()) {
    tables.pool = open_alike(arguments, session, arguments.pool, arguments.pool_split, true);
    if (arguments.pool_split != "all") {
      tables.pool->source = fmt::format("{} ({} part)", tables.pool->source, arguments.pool_split);
    }
  }
  const std::string& label = arguments.table.options.label;
  const bool found = has_column(tables.rows, label) || (tables.pool && has_column(*tables.pool, label));
  if (is_position(label) || found) return tables;
  fail_input(fmt::format("{}: there is no column {}, which --label names", tables.rows.source, in_quotes(label)));
}

std::vector<Targets> targets_of(const ExplainArguments& arguments, const Prepared& made, const Context& context) {
  if (arguments.value == "information") {
    if (arguments.target != "auto") {
      fail_input("--target", "none with --value information, which is of all classes", in_quotes(arguments.target));
    }
    return {information_targets(*made.model, made.data.rows())};
  }
  std::vector<Targets> targets;
  for (const TargetChoice& choice : parse_target(made.model->info(), arguments.target)) {
    targets.push_back(freeze_targets(*made.model, made.data.x.view(), choice, context));
  }
  return targets;
}

std::vector<std::string> paths_of(const ExplainArguments& arguments, const Prepared& made) {
  if (arguments.out.empty()) return {};
  std::vector<std::string> methods;
  for (const Spec& spec : made.methods) methods.push_back(spec.name);
  // A class may be called "all": what counts is how many are meant.
  const bool several =
      arguments.value != "information" && parse_target(made.model->info(), arguments.target).size() > 1;
  const std::vector<std::string> targets = several ? target_names(made.model->info()) : std::vector<std::string>();
  std::vector<std::string> paths = result_paths(arguments.out, methods, targets);
  for (const std::string& path : paths) {
    check_explanations_output(path);
    for (const std::string& input : {arguments.model, arguments.table.what, arguments.pool, arguments.groups,
                                     arguments.reference.baseline, arguments.reference.background}) {
      std::error_code ignored;
      if (std::filesystem::equivalent(path, input, ignored)) {
        fail_input("--out", "a file of its own", fmt::format("{}, which is read", in_quotes(path)));
      }
    }
  }
  return paths;
}

// A model without names of features takes columns by position: the same names in another order are a slip.
void require_same_order(const Dataset& rows, const Dataset& other) {
  if (rows.feature_names == other.feature_names || rows.feature_names.size() != other.feature_names.size()) return;
  if (!std::ranges::is_permutation(rows.feature_names, other.feature_names)) return;
  const auto [mine, theirs] = std::ranges::mismatch(rows.feature_names, other.feature_names);
  fail_input(fmt::format(
      "{}: its column {} is {} where {} has {}; the model takes columns by position, so both need "
      "one order",
      other.source, theirs - other.feature_names.begin() + 1, in_quotes(*theirs), rows.source, in_quotes(*mine)));
}

Prepared prepare(const ExplainArguments& arguments, const Session& session) {
  Prepared made;
  made.methods = parse_methods(arguments);
  check_reference(arguments, made.methods);
  if (!arguments.out.empty()) check_explanations_output(arguments.out);
  const Tables tables = open_tables(arguments, session);
  const size_t columns = tables.rows.columns.size() - (tables.rows.label ? 1 : 0);
  made.model = GraphModel::load(arguments.model, {unit_of(arguments.value), columns});
  made.data = chosen_rows(made.model->features_of(tables.rows), arguments.rows);
  made.paths = paths_of(arguments, made);
  const auto open = [&](const std::string& what) {
    Dataset other = made.model->features_of(open_alike(arguments, session, what, "all", true));
    require_same_order(made.data, other);
    return other;
  };
  std::optional<Dataset> pool;
  if (tables.pool) {
    pool = made.model->features_of(*tables.pool);
    require_same_order(made.data, *pool);
  }
  made.reference = choose_reference(arguments.reference, needs_reference(made.methods), pool ? &*pool : nullptr,
                                    *made.model, made.model->encoder(), open, session.context);
  const std::vector<size_t> shape = made.model->item_shape();
  made.players =
      choose_players(arguments.groups, made.data, shape.empty() ? made.data.item_shape : shape, session.context);
  made.targets = targets_of(arguments, made, session.context);
  return made;
}

// What the program knows of a result and the library does not.
void describe_run(const ExplainArguments& arguments, const Prepared& made, Explanations& result) {
  result.ids = made.data.ids;
  result.id_name = made.data.id_name;
  const bool part = arguments.table.split != "all";
  result.provenance.data =
      fmt::format("{}{}{}", arguments.table.what, part ? fmt::format(" ({} part)", arguments.table.split) : "",
                  arguments.rows.empty() ? "" : fmt::format(", rows {}", arguments.rows));
  result.provenance.players = arguments.groups == "none"   ? "columns"
                              : arguments.groups != "auto" ? arguments.groups
                              : made.players.are_columns() ? "columns"
                                                           : "feature groups";
  const ModelInfo& info = made.model->info();
  // A graph that has no margins explains something else unasked.
  if (arguments.value.empty() && info.unit != OutputUnit::margin && !info.note.empty())
    result.notes.push_back(info.note);
}

void explain_rows(const ExplainArguments& arguments, const Session& session) {
  const Prepared made = prepare(arguments, session);
  const auto task_of = [&](const Targets& targets) {
    return ExplainTask{*made.model,   made.data.x.view(),     targets, made.reference, made.players,
                       made.data.ids, made.data.feature_names};
  };
  for (const Spec& spec : made.methods) {
    for (const Targets& targets : made.targets) {
      if (const auto reason = refusal(spec, task_of(targets))) throw Error(ErrorKind::unsupported, *reason);
    }
  }
  const bool to_file = !arguments.out.empty();
  FILE* report = arguments.out == "-" ? stderr : stdout;
  std::vector<std::string> results;
  for (const Spec& spec : made.methods) {
    for (const Targets& targets : made.targets) {
      Explanations result = explain(spec, task_of(targets), session.context);
      describe_run(arguments, made, result);
      const std::string path = to_file ? made.paths[results.size()] : "";
      if (to_file) write_explanations(result, path, session.context);
      results.emplace_back();
      if (session.json && arguments.out != "-") {
        results.back() = to_file ? summary_json(result, path) : explanations_json("standard output", result);
      } else if (!session.quiet || !to_file) {
        if (results.size() > 1) fmt::print(report, "\n");
        print_explanations(result, arguments.show, report);
        if (to_file && arguments.out != "-") fmt::print(report, "wrote {}\n", one_line(path));
      }
    }
  }
  if (session.json && arguments.out != "-") fmt::print("{{\"results\": [\n{}\n]}}\n", fmt::join(results, ",\n"));
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "What each feature adds to the predictions for the rows of a table");
  command->add_option("--model", arguments->model, "An ONNX file")->required();
  arguments->table.add_to(*command, "--data");
  command->add_option("--rows", arguments->rows, "Which rows, counted from 1, as in 1,5,10-20 (default: all)");
  command
      ->add_option("--method", arguments->method,
                   "One or more of `assay list methods`, with options, as in kernel_shap:samples=2048,deeplift")
      ->required();
  command->add_option("--target", arguments->target,
                      "auto, predicted, a class or output by name or index, or all (one result for each)");
  command
      ->add_option("--value", arguments->value,
                   "What is explained: margin, probability, log_odds, or information (of all classes)")
      ->check(CLI::IsMember({"margin", "probability", "log_odds", "information"}));
  auto* baseline =
      command->add_option("--baseline", arguments->reference.baseline,
                          "The row that stands for absent features: zero, mean, median, neutral or a file");
  command
      ->add_option("--background", arguments->reference.background,
                   "Rows to average over instead: pool:100 for so many of the pool, or a file")
      ->excludes(baseline);
  command->add_option("--pool", arguments->pool,
                      "Training rows that mean, median, neutral and pool:N are taken from: a data set or a file");
  command->add_option("--pool-split", arguments->pool_split, "Which part of the pool")
      ->check(CLI::IsMember({"all", "train", "test"}));
  command->add_option("--groups", arguments->groups,
                      "Columns that get one value together: auto (one-hot columns of a feature), none, grid:4 (squares "
                      "of an image) or a JSON file {\"name\": [\"column\", ...]}");
  command->add_option("--out", arguments->out,
                      "Where to: .npz .csv .tsv .parquet .feather .json; - is CSV on stdout. Of several results each "
                      "gets its method and class in its name");
  command->add_option("--show", arguments->show, "How many rows to show")->check(whole_number, "UINT64");
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { explain_rows(*arguments, session); }; });
}

}  // namespace assay::cli
