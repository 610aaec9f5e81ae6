#include "cli/evaluate_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "cli/evaluate_checks.h"

namespace assay::cli {
namespace {

bool is_information(const EvaluateArguments& arguments, const Explanations& explanations) {
  if (!arguments.value.empty()) return arguments.value == "information";
  const std::string& unit = explanations.provenance.unit;
  const bool named = explanations.target_names.size() == 1 && explanations.target_names[0] == "information";
  return unit == "information" || (unit.empty() && named);
}

// By name: a table lists only the classes that it has, in another order.
Targets own_targets(const std::string& file, const Explanations& found, const Model& model,
                    MatrixView<const float> rows) {
  Targets targets = freeze_targets(model, rows, {}, {});
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
  std::error_code ignored;
  if (!words.starts_with("grid:") && !std::filesystem::is_regular_file(words, ignored)) {
    fail_input(fmt::format("{}: its players are those of {}, which is not here: give --groups", subject.file,
                           in_quotes(words)));
  }
  return words;
}

Players subject_players(const EvaluateArguments& arguments, const Subject& subject, const Context& context) {
  const std::string word = groups_word(arguments, subject);
  Players players = players_of(word, *subject.rows, context);
  const Explanations& found = subject.explanations;
  // Nobody says what the columns of an array are: those of the rows, where they are as many.
  const bool unsaid = arguments.rows.groups.empty() && found.provenance.players.empty();
  if (unsaid && players.size() != found.players() && found.players() == subject.rows->data.x.cols()) {
    players = column_players(subject.rows->data.feature_names);
  }
  check_names(subject.file, found, players.names, subject.rows->data.source);
  return players;
}

// Nothing where it cannot be done again, which a note says.
std::optional<Spec> method_of(const Explanations& explanations, std::vector<std::string>& notes) {
  const Provenance& made = explanations.provenance;
  if (made.method.empty()) return {};
  Spec spec{made.method, made.options};
  try {
    find_method(spec.name).make(spec);
  } catch (const Error&) {
    notes.push_back(
        fmt::format("the method {} is not known here as it was used, so that nothing can be explained again",
                    in_quotes(made.method)));
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
  ModelRows rows = open_model_rows(arguments.rows, unit_of(unit), false, session);
  return subjects.rows_of_unit.emplace(unit, std::move(rows)).first->second;
}

// The target that all rows share, or else the predicted class of each; nothing when rows have neither.
std::optional<TargetChoice> pool_target_of(const Subject& subject, const Context& context) {
  const Targets& targets = subject.targets;
  if (targets.of_row.empty()) return {};
  const auto same = [&](uint32_t t) { return t == targets.of_row[0]; };
  if (std::ranges::all_of(targets.of_row, same)) return TargetChoice{false, targets.of_row[0]};
  const Model& model = *subject.rows->model;
  if (model.info().class_names.empty()) return {};
  const TargetChoice predicted{true, 0};
  const Targets own = freeze_targets(model, subject.rows->data.x.view(), predicted, context);
  return own.of_row == targets.of_row ? std::optional(predicted) : std::nullopt;
}

Matrix made_for_pool(const Subject& subject, std::span<const size_t> rows, const Context& context) {
  const ModelRows& from = *subject.rows;
  Matrix x(rows.size(), from.pool->x.cols());
  std::vector<std::string> names;  // for messages
  for (size_t i = 0; i < rows.size(); i++) {
    std::ranges::copy(from.pool->x.row(rows[i]), x.row(i).begin());
    names.push_back(fmt::format("{} of {}", rows[i] + 1, from.pool->source));
  }
  const Targets targets = subject.targets.information
                              ? information_targets(*from.model, rows.size())
                              : freeze_targets(*from.model, x.view(), subject.pool_target, context);
  Context seeded = context;
  seeded.seed = subject.explanations.provenance.seed;
  const ExplainTask task{
      *from.model, x.view(), targets, from.reference, subject.players, names, from.pool->feature_names};
  return explain(*subject.method, task, seeded).values;
}

}  // namespace

EvaluateTask Subject::task() {
  EvaluateTask made{explanations};
  if (rows != nullptr) {
    made.data = &rows->data;
    made.model = rows->model.get();
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
    made.method = method_of(made.explanations, made.notes);
    if (pools == 0) continue;
    made.pool_file = arguments.pool_explanations[i];
    made.pool_given = read_explanations(made.pool_file, session.context);
    check_names(made.pool_file, *made.pool_given, made.explanations.features, in_quotes(file));
  }
  return subjects;
}

void join_others(const EvaluateArguments& arguments, Subjects& subjects, const Session& session) {
  for (const std::string& file : arguments.others) {
    subjects.others.push_back(read_explanations(file, session.context));
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
  check_outputs(subject.file, subject.explanations, *rows.model, rows.data, subject.targets, quiet);
  if (const Trainable* trainable = rows.model->trainable()) {
    subject.trainer = [trainable](const Dataset& training, uint64_t seed, const Context& context) {
      return trainable->retrain(training, seed, context);
    };
  }
  if (!subject.pool_given || !rows.pool) return;
  const Explanations& pool = *subject.pool_given;
  check_rows(subject.pool_file, pool, *rows.pool);
  if (pool.target.empty() || subject.targets.information) return;
  const Targets targets = own_targets(subject.pool_file, pool, *rows.model, rows.pool->x.view());
  check_outputs(subject.pool_file, pool, *rows.model, *rows.pool, targets, quiet);
}

void join_pool(Subject& subject, const Context& context) {
  if (subject.pool_given) {
    subject.pool_explanations.emplace(std::move(subject.pool_given->values));
    return;
  }
  if (subject.rows == nullptr || !subject.rows->pool || !subject.method) return;
  if (!subject.targets.information) {
    Context quiet = context;
    quiet.progress = nullptr;
    const std::optional<TargetChoice> target = pool_target_of(subject, quiet);
    if (!target) return;
    subject.pool_target = *target;
  }
  subject.pool_explanations.emplace(
      subject.rows->pool->rows(), subject.players.size(),
      [&subject](std::span<const size_t> rows, const Context& inner) { return made_for_pool(subject, rows, inner); });
}

}  // namespace assay::cli
