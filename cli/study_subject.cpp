#include "cli/study_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/text.h"
#include "assay/data/unseen.h"
#include "assay/explain/reference.h"
#include "assay/explain/spread_background.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/renamed_classes.h"
#include "assay/model/text_columns.h"
#include "assay/model/train/networks.h"
#include "assay/model/train/recipe.h"
#include "assay/model/train/training_rows.h"
#include "assay/study/sampling.h"
#include "assay/study/study_reference.h"
#include "assay/study/subject_parts.h"
#include "cli/cohort_columns.h"
#include "cli/places_in_pool.h"

namespace assay::cli {

TargetChoice studied_target(const ModelInfo& info, const std::string& said) {
  const std::vector<TargetChoice> choices = parse_target(info, said);
  if (choices.size() != 1) fail_input("--target", "one class or output; a study explains one thing", in_quotes(said));
  return choices[0];
}

namespace {

namespace fs = std::filesystem;

bool names_dataset(const std::string& what) { return is_dataset(what.substr(0, what.find(':'))); }

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

struct NamedFile {
  std::string role;
  std::string name;
};

// Words mean the same whatever files are called.
bool is_word(const NamedFile& file) {
  if (file.role == "data" || file.role == "pool") return names_dataset(file.name);
  if (file.role == "baseline") return is_baseline_name(file.name);
  if (file.role == "background") return file.name.starts_with("pool:") || file.name.starts_with(kSpreadPrefix);
  return file.role == "groups" && (file.name == "auto" || file.name == "none" || file.name.starts_with("grid:"));
}

// All arguments that name a file.
std::vector<NamedFile> named_files(const StudyArguments& arguments) {
  const ModelRowsArguments& rows = arguments.rows;
  std::vector<NamedFile> files = {{"model", rows.model},
                                  {"data", rows.table.what},
                                  {"pool", rows.pool},
                                  {"baseline", rows.reference.baseline},
                                  {"background", rows.reference.background},
                                  {"groups", rows.groups}};
  std::erase_if(files, [](const NamedFile& file) { return file.name.empty() || is_word(file); });
  return files;
}

void train_into(const StudyArguments& arguments, const std::string& path, const Session& session) {
  TableArguments pool = arguments.rows.table;
  pool.what = arguments.rows.pool;
  pool.split = arguments.rows.pool_split;
  // The network must not learn what only names rows. open_model_rows finds the same columns.
  KeptDoubles pool_doubles;
  KeptDoubles doubles;
  pool.options.doubles = &pool_doubles;
  TableArguments held = arguments.rows.table;
  held.options.doubles = &doubles;
  Table training = pool.open(session);
  Table held_out = held.open(session);
  // Rows are counted within the parts, and errors say so.
  set_part(training, pool.split);
  set_part(held_out, held.split);
  check_cohort_names(arguments.cohorts, held_out);
  const std::vector<std::string> ids = found_ids(
      arguments.rows, {&held_out, &doubles}, {&training, &pool_doubles}, [](const std::string&) { return false; },
      session);
  take_ids(training, &pool_doubles, ids);
  take_ids(held_out, &doubles, ids);
  const bool labelled = held_out.label.has_value();
  const TrainingRows rows = training_rows(training, labelled ? &held_out : nullptr,
                                          arguments.encode.empty() ? kDefaultEncoding : arguments.encode,
                                          {.label = "--label", .encode = "--encode"});
  // What cannot be explained is refused before anything is trained.
  ModelInfo info;
  info.name = arguments.rows.model;
  info.class_names = rows.data.class_names;
  info.output_names =
      info.class_names.empty() ? std::vector<std::string>{std::string(kValueName)} : rows.data.class_names;
  studied_target(info, arguments.target);
  Recipe recipe = recipe_for(rows.data.item_shape);
  // A split may put the only rows with a rare category into the studied part. They must not be refused.
  recipe.unseen = "unknown";
  const TrainResult result = train_recipe(recipe, rows.data, &rows.encoder, session.context);
  write_onnx(result.model, path);
}

// Replaces rows and pool by samples of them.
void sample(const StudyArguments& arguments, uint64_t seed, ModelRows& rows) {
  OwnedSubject& subject = rows.subject;
  const size_t players = subject.players.size();
  const std::vector<size_t> chosen = sample_rows({"--sample", arguments.sample}, players, *subject.rows, seed);
  const std::vector<size_t> pool =
      sample_pool_rows({"--pool-sample", arguments.pool_sample}, players, *subject.pool, seed);
  subject.in_pool = sampled_in_pool(subject.in_pool, chosen, pool, subject.pool->rows());
  if (chosen.size() < subject.rows->rows()) {
    subject.rows = std::make_shared<Dataset>(numbered_rows(*subject.rows, chosen, rows.numbers));
    for (size_t i = 0; i < chosen.size(); i++) rows.numbers[i] = rows.numbers[chosen[i]];
    rows.numbers.resize(chosen.size());
  }
  if (pool.size() < subject.pool->rows()) subject.pool = std::make_shared<Dataset>(select_rows(*subject.pool, pool));
}

// Notes on categories and classes of the studied rows that the training rows did not have.
std::vector<std::string> notes_on_unknown(const StudyArguments& arguments, const ModelRows& rows,
                                          const Session& session) {
  if (!takes_unknown(rows.model->graph().metadata())) return {};
  size_t of_unknown_class = 0;
  // A missing label may be an unknown class. Only then is the table read again.
  if (std::ranges::any_of(rows.subject.rows->labels, [](float label) { return std::isnan(label); })) {
    TableArguments table = arguments.rows.table;
    declare_used_columns(columns_by_name(*rows.model), table.options);
    const std::vector<size_t> found = rows_of_unknown_class(*rows.model->encoder(), table.open(session));
    of_unknown_class = static_cast<size_t>(
        std::ranges::count_if(rows.numbers, [&](size_t number) { return std::ranges::binary_search(found, number); }));
  }
  return unknown_in_words(*rows.subject.rows, of_unknown_class);
}

}  // namespace

void fill_in(StudyArguments& arguments) {
  std::string& data = arguments.rows.table.what;
  if (!arguments.subject.empty()) {
    if (!data.empty()) {
      fail_input("study", "one of a data set by name and --data",
                 fmt::format("{} and {}", in_quotes(arguments.subject), in_quotes(data)));
    }
    data = arguments.subject;
    if (!names_dataset(data) && !is_file(data)) {
      std::vector<std::string> names;
      for (const DatasetInfo& info : list_datasets()) names.push_back(info.name);
      fail_input("study", fmt::format("a data set ({}) or a file", joined(names, "or")),
                 fmt::format("{}{}", in_quotes(data), suggestion(data, names)));
    }
  }
  if (data.empty())
    fail_input("study", "a data set by name, as in `assay study iris`, or --data and --pool", "neither");
  if (arguments.rows.pool.empty()) {
    if (!names_dataset(data) && arguments.rows.table.split == "all") {
      fail_input("--pool", "training rows beside --data (or --split test, which takes the rest of the table for them)",
                 "none");
    }
    arguments.rows.pool = data;
    if (arguments.rows.table.split == "all") arguments.rows.table.split = "test";
    arguments.rows.pool_split = arguments.rows.table.split == "test" ? "train" : "all";
  }
  if (arguments.rows.rows == "all") {
    arguments.rows.rows.clear();
    arguments.sample = "all";
  } else if (!arguments.rows.rows.empty()) {
    if (arguments.sample != "auto")
      fail_input("--sample", "none beside --rows, which says which rows", in_quotes(arguments.sample));
    arguments.sample = "all";
  }
  if (arguments.rows.model.empty() && !arguments.classes.empty()) {
    fail_input("--classes", "none without --model: the network that the study trains has the names of the labels",
               joined(quoted_names(arguments.class_names())));
  }
  if (!arguments.rows.model.empty() && !arguments.encode.empty()) {
    fail_input("--encode", "none with --model, which says itself what it takes", in_quotes(arguments.encode));
  }
  if (arguments.out.empty()) {
    arguments.out = fmt::format("study-{}", fs::path(data.substr(0, data.find(':'))).stem().string());
  }
}

void check_inputs(const StudyArguments& arguments, const Session& session) {
  const auto absolute = [](const std::string& path) {
    std::error_code problem;
    const fs::path found = fs::weakly_canonical(path, problem);
    return (problem ? fs::path(path) : found).lexically_normal();
  };
  const fs::path folder = absolute(arguments.out);
  for (const NamedFile& file : named_files(arguments)) {
    const bool table = file.role == "data" || file.role == "pool";
    const std::string path = session.now_at(file.name);
    if (!is_file(path)) {
      if (table || file.role == "model")
        fail_input(fmt::format("--{}", file.role), "a file that is there", in_quotes(path));
      continue;
    }
    const fs::path inside = absolute(path).lexically_relative(folder);
    if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") {
      fail_input(fmt::format("--{}", file.role),
                 fmt::format("a file outside of the study's folder {}", in_quotes(arguments.out)), in_quotes(path));
    }
  }
}

std::vector<StudyInput> file_inputs(const StudyArguments& arguments, const Session& session) {
  std::vector<StudyInput> inputs;
  for (const NamedFile& file : named_files(arguments)) {
    const std::string path = session.now_at(file.name);
    if (is_file(path)) inputs.push_back({file.role, file.name, file_sha256(path, session.context)});
  }
  return inputs;
}

std::unique_ptr<OpenedStudy> open_study(StudyArguments arguments, const std::string& folder, const Session& given) {
  Session session = given;
  std::string& background = arguments.rows.reference.background;
  if (background.starts_with(kSpreadPrefix)) {
    arguments.background = spread_count(background);
    background.clear();
  }
  const bool trained = arguments.rows.model.empty();
  if (trained) {
    // Named without the folder, so that a study has the same bytes in any folder.
    const std::string path = fmt::format("{}/model.onnx", folder);
    arguments.rows.model = "model.onnx";
    session.moved.emplace_back(arguments.rows.model, path);
    if (!is_file(path)) train_into(arguments, path, session);
  }
  auto made = std::make_unique<OpenedStudy>();
  const ModelRowsWanted wanted{.unit = unit_of(arguments.value),
                               .reference = true,
                               .margins = true,
                               .classes = arguments.class_names(),
                               .name_classes = true,
                               .probabilities = true,
                               .find_ids = true,
                               .cohorts = arguments.cohorts,
                               .trained = trained};
  made->rows = open_model_rows(arguments.rows, wanted, session);
  ModelRows& rows = made->rows;
  OwnedSubject& subject = rows.subject;
  const Context& context = session.context;
  StudyFacts& facts = made->facts;
  facts.rows_available = subject.rows->rows();
  facts.pool_rows_available = subject.pool->rows();
  facts.inputs = file_inputs(arguments, session);
  if (trained) facts.inputs[0].role = "model (trained)";
  size_t weights = 0;
  for (const std::string& path : rows.external_files) {
    facts.inputs.push_back({fmt::format("model data {}", ++weights), path, file_sha256(path, context)});
  }
  // For a data set given by name: the hash of the rows as the model takes them.
  const auto add_rows = [&](const char* role, const std::string& name, const Dataset& data) {
    if (names_dataset(name) || !is_file(session.now_at(name))) facts.inputs.push_back({role, name, rows_hash(data)});
  };
  add_rows("data (rows)", arguments.rows.table.what, *subject.rows);
  add_rows("pool (rows)", arguments.rows.pool, *subject.pool);
  std::vector<size_t> numbers = rows.numbers;
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) != numbers.end()) {
    fail_input("--rows", "each row once: a row that is counted twice is no evidence",
               fmt::format("row {} twice", *std::ranges::adjacent_find(numbers) + 1));
  }
  subject.in_pool = places_in_pool(arguments.rows, rows, session);
  choose_groups(arguments.rows.groups, subject, context);
  sample(arguments, context.seed, rows);
  made->cohorts = std::move(rows.cohorts);
  for (RowColumn& column : made->cohorts.columns) column = select_rows(column, rows.numbers);
  check_cohort_wish("--cohort", made->cohorts, subject.view());
  made->notes = rows.notes;
  std::ranges::move(notes_on_unknown(arguments, rows, session), std::back_inserter(made->notes));

  const Model& model = *subject.model;
  const TargetChoice choice = studied_target(model.info(), arguments.target);
  subject.targets = freeze_targets(model, subject.rows->x.view(), choice, context);
  subject.pool_targets = freeze_targets(model, subject.pool->x.view(), choice, context);
  const ReferenceWords& said = arguments.rows.reference;
  facts.reference_facts = choose_study_reference(subject, *subject.pool_targets,
                                                 {.said = !said.baseline.empty() || !said.background.empty(),
                                                  .variations = !arguments.no_variations,
                                                  .background = arguments.background,
                                                  .encoder = rows.model->encoder(),
                                                  .whole_pool = facts.pool_rows_available},
                                                 context);

  if (std::string note = note_on_zero(subject.reference, *subject.rows); !note.empty()) {
    made->notes.push_back(std::move(note));
  }

  facts.data = sampled_in_words(*subject.rows, facts.rows_available, subject.words.rows);
  facts.pool = sampled_in_words(*subject.pool, facts.pool_rows_available, subject.words.pool);
  facts.players = subject.words.players;
  const std::string name = trained ? fmt::format("a network trained on {}", subject.words.pool) : model.info().name;
  facts.title = fmt::format("{} on {}", name, subject.words.rows);
  return made;
}

}  // namespace assay::cli
