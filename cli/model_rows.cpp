#include "cli/model_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/column_order.h"
#include "assay/data/row_ranges.h"
#include "assay/data/table_io.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/model_file.h"
#include "assay/model/renamed_classes.h"
#include "assay/model/text_columns.h"
#include "assay/model/trees/booster.h"
#include "assay/study/class_names.h"
#include "cli/cohort_columns.h"
#include "cli/file_lists.h"

namespace assay::cli {

namespace {

Dataset chosen_rows(Dataset data, const std::string& rows, std::vector<size_t>& numbers) {
  if (rows.empty()) {
    numbers.resize(data.rows());
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return data;
  }
  numbers = rows_from_ranges("--rows", rows, data.rows());
  Dataset chosen = select_rows(data, numbers);
  if (chosen.ids.empty()) {
    chosen.id_name = kRowNumbers;
    chosen.row_numbers = true;
    for (const size_t row : numbers) chosen.ids.push_back(fmt::format("{}", row + 1));
  }
  return chosen;
}

// Whether a column is named by its number: "3", "-1". Also true for an empty text: no column.
bool is_position(const std::string& text) { return text.find_first_not_of("-0123456789") == std::string::npos; }

bool has_column(const Table& table, const std::string& name) {
  const std::vector<std::string> names = column_names(table);
  return std::ranges::find(names, name) != names.end();
}

// Opens the rows, or (`beside`) the pool in the same way. A label column given by name may be missing, unless a split
// needs it. An id column given by name may be missing in the pool. Columns given by position must be there.
Table open_alike(const ModelRowsArguments& arguments, const Session& session, const std::string& what,
                 const std::string& split, bool beside, KeptDoubles* doubles) {
  TableArguments alike = arguments.table;
  alike.options.doubles = doubles;
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

struct Tables {
  Table rows;
  KeptDoubles doubles;
  std::optional<Table> pool;
  KeptDoubles pool_doubles;
};

// The cells of the rows are kept as doubles for reports, those of the pool if the model needs them.
Tables open_tables(const ModelRowsArguments& arguments, const Session& session, bool keep_doubles) {
  Tables tables;
  const auto open = [&](const std::string& what, const std::string& split, bool beside, KeptDoubles& doubles) {
    Table table = open_alike(arguments, session, what, split, beside, keep_doubles || !beside ? &doubles : nullptr);
    set_part(table, split);
    return table;
  };
  tables.rows = open(arguments.table.what, arguments.table.split, false, tables.doubles);
  if (!arguments.pool.empty()) {
    tables.pool = open(arguments.pool, arguments.pool_split, true, tables.pool_doubles);
  }
  const std::string& label = arguments.table.options.label;
  const bool found = has_column(tables.rows, label) || (tables.pool && has_column(*tables.pool, label));
  if (is_position(label) || found) return tables;
  fail_input(fmt::format("{}: there is no column {}, which --label names", tables.rows.source, in_quotes(label)));
}

// Gives the classes the names that the user said, or else those of the labels. Returns notes.
std::vector<std::string> name_classes(const ModelRowsWanted& wanted, const EngineModel& model,
                                      std::vector<TextLabels>& labels, const std::vector<Dataset*>& data,
                                      OwnedSubject& subject, const Context& context) {
  std::vector<std::string> names = wanted.classes;
  std::vector<std::string> notes;
  if (names.empty()) {
    std::vector<LabelledRows> rows;
    for (size_t i = 0; i < data.size(); i++) rows.push_back({data[i], std::move(labels[i])});
    AgreedNames agreed = agreed_class_names(model, rows, context);
    for (size_t i = 0; i < data.size(); i++) labels[i] = std::move(rows[i].labels);
    if (!agreed.note.empty()) notes.push_back(std::move(agreed.note));
    names = std::move(agreed.names);
  }
  if (names.empty()) return notes;
  for (size_t i = 0; i < data.size(); i++) set_labels_by_name(model.info(), names, labels[i], *data[i]);
  subject.model = with_class_names(subject.model, names);
  if (subject.margins != nullptr) subject.margins = with_class_names(subject.margins, names);
  return notes;
}

// Refuses names of classes that do not fit the model, before rows are encoded.
void check_named_classes(const std::vector<std::string>& names, const EngineModel& model) {
  if (names.empty()) return;
  check_class_names(model.info(), names);
  if (model.encoder() == nullptr || names == model.info().class_names) return;
  fail_argument("classes",
                fmt::format(": expected none, for {} has the names of its classes, {}, found {}", model.info().name,
                            joined(quoted_names(model.info().class_names)), joined(quoted_names(names))));
}

// Not if the user said which column it is, or if a table is a data set by name.
bool may_have_ids(const ModelRowsArguments& arguments) {
  const auto data_set = [](const std::string& what) { return is_dataset(what.substr(0, what.find(':'))); };
  return arguments.table.options.id.empty() && !data_set(arguments.table.what) && !data_set(arguments.pool);
}

// Whether the user says something about a column: then it is a feature.
std::function<bool(const std::string&)> said_of(const ModelRowsArguments& arguments, const Session& session) {
  const TableOptions& said = arguments.table.options;
  return [&said, grouped = columns_in_groups(arguments.groups, session.context)](const std::string& name) {
    const auto named = [&](const std::vector<std::string>& list) { return std::ranges::count(list, name) > 0; };
    return named(grouped) || named(said.numeric) || named(said.categorical);
  };
}

// Sentences on columns that may be ids.
std::vector<std::string> possible_ids(const ModelRowsArguments& arguments, const TableCells& rows,
                                      const TableCells& pool, const Session& session) {
  if (!may_have_ids(arguments)) return {};
  return notes_on_possible_ids(rows, pool, said_of(arguments, session));
}

// What a model does not take: by name, or by the number of columns if it takes them by position.
std::vector<std::string> ids_beside(const EngineModel& model, const ModelRowsArguments& arguments, const Tables& tables,
                                    const Session& session) {
  const bool by_position = !model.takes_column("");
  const auto taken = [&](const std::string& name) { return model.takes_column(name).value_or(false); };
  std::vector<std::string> found =
      found_ids(arguments, {&tables.rows, &tables.doubles}, {&*tables.pool, &tables.pool_doubles}, taken, session);
  if (!by_position) return found;
  return ids_beside_positions(std::move(found), tables.rows, model.info().features());
}

// The model in margins, if `unit` is another one and the model has margins; else null.
std::unique_ptr<EngineModel> margins_beside(const std::string& name, const std::string& path,
                                            const EngineModelOptions& options, const Context& context) {
  if (options.unit != OutputUnit::probability && options.unit != OutputUnit::log_odds) return {};
  EngineModelOptions unitless = options;
  unitless.unit.reset();
  std::unique_ptr<EngineModel> model = EngineModel::from_onnx(name, read_model(path, context), unitless, context);
  if (model->info().unit != OutputUnit::margin) return {};
  return model;
}

// The model in probabilities, if it explains margins that are no logits and gives probabilities itself; else null.
std::unique_ptr<EngineModel> probabilities_beside(const EngineModel& model, const std::string& path,
                                                  EngineModelOptions options, const Context& context) {
  const ModelInfo& info = model.info();
  const bool logits = info.unit != OutputUnit::margin || info.margin_link != MarginLink::unknown;
  if (logits || info.class_names.empty()) return {};
  options.unit = OutputUnit::probability;
  try {
    std::unique_ptr<EngineModel> found = EngineModel::from_onnx(info.name, read_model(path, context), options, context);
    const size_t outputs = found->info().outputs();
    if (outputs == 1 || outputs == info.class_names.size()) return found;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;  // any other: it has none
  }
  return {};
}

// Whether the table has all columns of the model, by name, and not in the model's order.
bool has_other_order(const Table& table, const EngineModel& model) {
  std::vector<std::string> wanted;
  if (model.encoder() == nullptr) {
    wanted = model.info().feature_names;
  } else {
    for (const ColumnEncoding& column : model.encoder()->columns()) wanted.push_back(column.name);
  }
  std::vector<std::string> found;
  for (const Column& column : table.columns) {
    if (std::ranges::find(wanted, column.name) != wanted.end()) found.push_back(column.name);
  }
  return found.size() == wanted.size() && found != wanted;
}

}  // namespace

void ModelRowsArguments::add_to(CLI::App& command, bool required) {
  command.add_option("--model", model, "An ONNX, XGBoost or LightGBM file")->required(required);
  table.add_to(command, "--data", required);
  command.add_option("--rows", rows, "Which rows, counted from 1, as in 1,5,10-20 (default: all)");
  auto* baseline = command.add_option("--baseline", reference.baseline,
                                      "The row that stands for absent features: zero, mean, median, neutral or a file");
  command
      .add_option(
          "--background", reference.background,
          "Rows to average over instead: pool:100 for so many of the pool, spread:100 for so many that are spread "
          "over the model's scores, or a file")
      ->excludes(baseline);
  command.add_option(
      "--pool", pool,
      "Training rows that mean, median, neutral, pool:N and spread:N are taken from: a data set or a file");
  command.add_option("--pool-split", pool_split, "Which part of the pool")
      ->check(CLI::IsMember({"all", "train", "test"}));
  command.add_option("--groups", groups,
                     "Columns that get one value together: auto (one-hot columns of a feature), none, grid:4 (squares "
                     "of an image) or a JSON file {\"name\": [\"column\", ...]}");
}

bool ModelRowsArguments::has_reference() const {
  return !reference.baseline.empty() || !reference.background.empty() || !pool.empty();
}

void ModelRowsArguments::refuse_as_output(const std::string& path, std::string_view option) const {
  for (const std::string& input : {model, table.what, pool, groups, reference.baseline, reference.background}) {
    refuse_same_file(option, path, input);
  }
}

ModelRows open_model_rows(const ModelRowsArguments& given, const ModelRowsWanted& wanted, const Session& session) {
  const std::string path = session.now_at(given.model);
  OnnxModel onnx = read_model(path, session.context);
  ModelRowsArguments arguments = given;
  declare_text_columns(arguments.model, onnx, arguments.table.options);
  declare_used_columns(columns_by_name(arguments.model, onnx), arguments.table.options);
  if (auto& used = arguments.table.options.used) {
    used->insert(used->end(), wanted.cohorts.begin(), wanted.cohorts.end());
  }
  // The model first: it decides whether cells of the pool are kept as doubles.
  const bool keep_doubles = compares_doubles(onnx);
  Tables tables = open_tables(arguments, session, keep_doubles || wanted.find_ids);
  const size_t columns = tables.rows.columns.size() - (tables.rows.label ? 1 : 0);
  ModelRows made;
  // Of all columns: those that name rows and those that the model does not take are gone later.
  check_cohort_names(wanted.cohorts, tables.rows);
  made.cohorts = cohort_wish(wanted.cohorts, {&tables.rows, &tables.doubles});
  OwnedSubject& subject = made.subject;
  made.external_files = onnx.external_files;
  const EngineModelOptions options{wanted.unit, columns, std::make_shared<TextCodes>()};
  made.model = EngineModel::from_onnx(arguments.model, std::move(onnx), options, session.context);
  if (wanted.margins) subject.margins = margins_beside(arguments.model, path, options, session.context);
  if (wanted.probabilities) {
    subject.probabilities = probabilities_beside(*made.model, path, options, session.context);
  }
  check_named_classes(wanted.classes, *made.model);
  std::vector<std::string> ids;
  if (wanted.find_ids && tables.pool) {
    ids = ids_beside(*made.model, arguments, tables, session);
    take_ids(tables.rows, &tables.doubles, ids);
    take_ids(*tables.pool, &tables.pool_doubles, ids);
    made.notes = notes_on_ids(ids);
    if (wanted.trained) {
      std::ranges::move(
          possible_ids(arguments, {&tables.rows, &tables.doubles}, {&*tables.pool, &tables.pool_doubles}, session),
          std::back_inserter(made.notes));
    }
  }
  const auto features_of = [&](const Table& table, const KeptDoubles& doubles) {
    return made.model->features_of(table, &doubles);
  };
  subject.model = made.model;
  // An encoder knows the labels that the model was trained on.
  const bool naming = (wanted.name_classes || !wanted.classes.empty()) && made.model->encoder() == nullptr;
  std::vector<TextLabels> labels;
  for (Table* table : {&tables.rows, tables.pool ? &*tables.pool : nullptr}) {
    if (table == nullptr || !naming) continue;
    labels.push_back(wanted.classes.empty() ? text_labels(*table) : take_labels(*table));
  }
  Dataset rows = features_of(tables.rows, tables.doubles);
  made.other_order = has_other_order(tables.rows, *made.model);
  const Dataset* first = &rows;
  const auto alike = [&](const Table& table, const KeptDoubles& doubles) {
    Dataset other = features_of(table, doubles);
    require_same_order(*first, other);
    return other;
  };
  const auto open = [&](const std::string& what) {
    KeptDoubles doubles;
    Table table = open_alike(arguments, session, what, "all", true, keep_doubles ? &doubles : nullptr);
    take_ids(table, &doubles, ids);
    return alike(table, doubles);
  };
  std::optional<Dataset> pool;
  if (tables.pool) pool = alike(*tables.pool, tables.pool_doubles);
  if (!labels.empty()) {
    std::vector<Dataset*> data = {&rows};
    if (pool) data.push_back(&*pool);
    std::ranges::move(name_classes(wanted, *made.model, labels, data, subject, session.context),
                      std::back_inserter(made.notes));
  }
  if (pool) subject.pool = std::make_shared<Dataset>(std::move(*pool));
  const auto note_label = [&](const Table& table) {
    if (table.label) made.named_labels.push_back(table.columns[*table.label].name);
  };
  if (!arguments.table.options.label.empty()) {
    note_label(tables.rows);
    if (tables.pool) note_label(*tables.pool);
  }
  subject.rows = std::make_shared<Dataset>(chosen_rows(std::move(rows), arguments.rows, made.numbers));
  first = subject.rows.get();
  subject.reference = choose_reference(arguments.reference, wanted.reference, subject.pool.get(), *made.model,
                                       made.model->encoder(), open, session.context);
  subject.trainer = trainer_of(*made.model);
  subject.trainer_concurrent = true;  // as Trainable promises
  subject.words.rows = rows_in_words(arguments);
  subject.words.pool = pool_in_words(arguments);
  return made;
}

std::vector<std::string> found_ids(const ModelRowsArguments& arguments, const TableCells& rows, const TableCells& pool,
                                   const std::function<bool(const std::string&)>& taken, const Session& session) {
  if (!may_have_ids(arguments)) return {};
  const auto said = said_of(arguments, session);
  return id_columns(rows, pool, [&](const std::string& name) { return said(name) || taken(name); });
}

void choose_groups(const std::string& groups, OwnedSubject& subject, const Context& context) {
  const std::vector<size_t>& shape = subject.model->info().item_shape;
  subject.players = choose_players(groups, *subject.rows, shape.empty() ? subject.rows->item_shape : shape, context);
  const bool by_default = groups.empty() || groups == "auto";
  const bool columns = groups == "none" || (by_default && subject.players.are_columns());
  subject.words.players = columns ? "columns" : by_default ? "feature groups" : groups;
}

std::string rows_in_words(const ModelRowsArguments& arguments) {
  const bool part = arguments.table.split != "all";
  return fmt::format("{}{}{}", arguments.table.what, part ? fmt::format(" ({} part)", arguments.table.split) : "",
                     arguments.rows.empty() ? "" : fmt::format(", rows {}", arguments.rows));
}

std::string pool_in_words(const ModelRowsArguments& arguments) {
  const bool part = arguments.pool_split != "all";
  return fmt::format("{}{}", arguments.pool, part ? fmt::format(" ({} part)", arguments.pool_split) : "");
}

}  // namespace assay::cli
