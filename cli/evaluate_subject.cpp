#include "cli/evaluate_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "cli/evaluate_checks.h"
#include "cli/evaluate_pool.h"

namespace assay::cli {
namespace {

bool is_information(const EvaluateArguments& arguments, const Explanations& explanations) {
  if (!arguments.value.empty()) return arguments.value == "information";
  const std::string& unit = explanations.provenance.unit;
  const bool named = explanations.target_names.size() == 1 && explanations.target_names[0] == "information";
  return unit == "information" || (unit.empty() && named);
}

Targets targets_of(const EvaluateArguments& arguments, const Subject& subject, const Context& context) {
  const Model& model = *subject.rows->model;
  const MatrixView<const float> rows = subject.rows->data.x.view();
  const bool given = !arguments.target.empty();
  const Explanations& found = subject.explanations;
  if (is_information(arguments, found)) {
    if (given) fail_input("--target", "none for the information form, which is of all classes", arguments.target);
    return information_targets(model, rows.rows());
  }
  if (!found.target.empty()) {
    if (!given) return own_targets(subject.file, found, model, rows);
    fail_input("--target", fmt::format("none for {}, which says what it explains", in_quotes(subject.file)),
               in_quotes(arguments.target));
  }
  const std::vector<TargetChoice> choices = parse_target(model.info(), given ? arguments.target : "auto");
  if (choices.size() != 1) fail_input("--target", "one class or output", in_quotes(arguments.target));
  return freeze_targets(model, rows, choices[0], context);
}

std::string groups_word(const EvaluateArguments& arguments, const Subject& subject) {
  if (!arguments.rows.groups.empty()) return arguments.rows.groups;
  const std::string& words = subject.explanations.provenance.players;
  if (words == "columns") return "none";
  if (words.empty() || words == "feature groups") return "auto";
  if (words.starts_with("grid:")) return words;
  // A file of explanations may be anybody's: it does not choose what is opened.
  fail_input(fmt::format("{}: its players are those of {}, which is not opened on its word: give --groups",
                         subject.file, in_quotes(words)));
}

Players subject_players(const EvaluateArguments& arguments, const Subject& subject, const Context& context) {
  const std::string word = groups_word(arguments, subject);
  const Explanations& found = subject.explanations;
  Players players;
  try {
    players = players_of(word, *subject.rows, context);
  } catch (const Error& problem) {
    // What the file says is not what the user said.
    const bool said_by_file = arguments.rows.groups.empty() && !found.provenance.players.empty();
    if (problem.kind() != ErrorKind::input || !said_by_file) throw;
    fail_input(fmt::format("{}: its players are those of {}, which do not fit {}: {}", subject.file, in_quotes(word),
                           subject.rows->data.source, problem.what()));
  }
  // Nobody says what the columns of an array are: those of the rows, where they are as many.
  const bool unsaid = arguments.rows.groups.empty() && found.provenance.players.empty();
  if (unsaid && players.size() != found.players() && found.players() == subject.rows->data.x.cols()) {
    players = column_players(subject.rows->data.feature_names);
  }
  const size_t columns = subject.rows->data.x.cols();
  const bool grouped = players.size() < columns || found.players() < columns;
  const bool helps = grouped && found.players() <= columns;
  check_names(subject.file, found, players.names, subject.rows->data.source,
              helps ? "; --groups says which columns go together" : "");
  return players;
}

// Nothing where it cannot be done again, which a note says.
std::optional<Spec> method_of(const Explanations& explanations, std::vector<std::string>& notes) {
  const Provenance& made = explanations.provenance;
  if (made.method.empty()) return {};
  const auto not_again = [&](std::string_view why) {
    notes.push_back(fmt::format("made by {}, {}: nothing can be explained again", in_quotes(made.method), why));
  };
  Spec spec{made.method, made.options};
  const MethodInfo* method = nullptr;
  try {
    method = &find_method(spec.name);
  } catch (const Error&) {
    not_again("which this version does not know");
    return {};
  }
  try {
    method->make(spec);
  } catch (const Error& problem) {
    not_again(fmt::format("with options that this version refuses ({})", problem.what()));
    return {};
  }
  return spec;
}

const ModelRows& rows_of(const EvaluateArguments& arguments, Subjects& subjects, const Subject& subject,
                         const Session& session) {
  const std::string& said = subject.explanations.provenance.unit;
  const std::string unit = arguments.value.empty() ? said : arguments.value;
  const auto known = subjects.rows_of_unit.find(unit);
  if (known != subjects.rows_of_unit.end()) return known->second;
  ModelRows rows = open_model_rows(arguments.rows, {.unit = unit_of(unit), .margins = true}, session);
  check_labels(rows);
  return subjects.rows_of_unit.emplace(unit, std::move(rows)).first->second;
}

}  // namespace

EvaluateTask Subject::task() {
  EvaluateTask made{explanations};
  if (rows != nullptr) {
    made.data = &rows->data;
    made.model = rows->model.get();
    made.margins = rows->margins.get();
    made.players = &players;
    made.targets = &targets;
    made.reference = &rows->reference;
    made.pool = rows->pool_or_null();
    made.trainer = trainer;
    made.trainer_concurrent = true;  // as Trainable promises
  }
  if (pool_explanations) made.pool_explanations = &*pool_explanations;
  if (method) made.method = &*method;
  made.method_seed = explanations.provenance.seed;
  made.others = others;
  made.other_names = other_names;
  return made;
}

Subjects read_subjects(const EvaluateArguments& arguments, const Session& session) {
  const size_t count = arguments.explanations.size();
  const size_t pools = arguments.pool_explanations.size();
  if (pools > 0 && pools != count) {
    fail_input("--pool-explanations", fmt::format("{}, one for each of --explanations", count),
               fmt::format("{}", pools));
  }
  Subjects subjects;
  for (size_t i = 0; i < count; i++) {
    const std::string& file = arguments.explanations[i];
    Subject& made = *subjects.all.emplace_back(std::make_unique<Subject>());
    made.file = file;
    made.explanations = read_explanations(file, session.context);
    check_unit(file, made.explanations);
    made.method = method_of(made.explanations, made.notes);
    if (pools == 0) continue;
    made.pool_file = arguments.pool_explanations[i];
    made.pool_given = read_explanations(made.pool_file, session.context);
    check_unit(made.pool_file, *made.pool_given);
  }
  return subjects;
}

void join_others(const EvaluateArguments& arguments, Subjects& subjects, const Session& session) {
  for (const std::string& file : arguments.others) {
    subjects.others.push_back(read_explanations(file, session.context));
    check_unit(file, subjects.others.back());
  }
  for (const auto& subject : subjects.all) {
    const auto compare_with = [&](const std::string& file, const Explanations& other) {
      check_same_rows(file, other, subject->file, subject->explanations);
      subject->others.push_back(&other);
      subject->other_names.push_back(file);
    };
    for (size_t i = 0; i < subjects.others.size(); i++) compare_with(arguments.others[i], subjects.others[i]);
    // Several files without others are compared with each other.
    if (!subjects.others.empty()) continue;
    for (const auto& other : subjects.all) {
      if (other != subject) compare_with(other->file, other->explanations);
    }
  }
}

void join_rows(const EvaluateArguments& arguments, Subjects& subjects, Subject& subject, const Session& session) {
  Context quiet = session.context;
  quiet.progress = nullptr;
  subject.rows = &rows_of(arguments, subjects, subject, session);
  const ModelRows& rows = *subject.rows;
  check_rows(subject.file, subject.explanations, rows.data);
  subject.players = subject_players(arguments, subject, quiet);
  subject.targets = targets_of(arguments, subject, quiet);
  const size_t unsaid =
      check_outputs(subject.file, subject.explanations, *rows.model, rows.data, subject.targets, quiet);
  note_unchecked(subject.file, subject.explanations, unsaid, subject.notes);
  if (rows.pool && !subject.targets.information) subject.pool_target = pool_target_of(subject, quiet);
  if (const Trainable* trainable = rows.model->trainable()) {
    subject.trainer = [trainable](const Dataset& training, uint64_t seed, const Context& context) {
      return trainable->retrain(training, seed, context);
    };
  }
}

}  // namespace assay::cli
