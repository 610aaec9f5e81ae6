#include "cli/joined_explanations.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/encoder.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/explain/spread_background.h"
#include "cli/joined_pool.h"

namespace assay::cli {
namespace {

// A model from `assay train` takes labels only from the column it was trained on. Refuses another column in `option`.
void check_labels(const ModelRows& rows, std::string_view option) {
  if (rows.model->encoder() == nullptr || rows.named_labels.empty()) return;
  const std::string& own = rows.model->encoder()->label();
  for (const std::string& named : rows.named_labels) {
    if (own.empty() || named == own) continue;
    fail_input(fmt::format("{} names the column {}, and {} takes its labels from {}, on which it was trained", option,
                           in_quotes(named), rows.model->info().name, in_quotes(own)));
  }
}

// A hint for the end of a sentence on wrong rows: another seed may have split the table. Empty if `split` is "all" or
// the seed is the same.
std::string other_split(const Explanations& found, std::string_view split, const Context& context) {
  const Provenance& made = found.provenance;
  if (split == "all" || made.method.empty() || made.seed == context.seed) return {};
  return fmt::format("; it was made with --seed {}, which also chooses the split", made.seed);
}

bool is_information(const JoinArguments& arguments, const Explanations& explanations) {
  if (!arguments.value.empty()) return arguments.value == "information";
  const std::string& unit = explanations.provenance.unit;
  const bool named = explanations.target_names.size() == 1 && explanations.target_names[0] == "information";
  return unit == "information" || (unit.empty() && named);
}

TargetChoice chosen_target(const JoinArguments& arguments, const Model& model) {
  const std::vector<TargetChoice> choices =
      parse_target(model.info(), arguments.target.empty() ? "auto" : arguments.target);
  if (choices.size() != 1) fail_input("--target", "one class or output", in_quotes(arguments.target));
  return choices[0];
}

void refuse_target_of_information(const JoinArguments& arguments) {
  if (arguments.target.empty()) return;
  fail_input("--target", "none for the information form, which is of all classes", arguments.target);
}

Targets targets_of(const JoinArguments& arguments, const JoinedExplanations& explained, const Context& context) {
  const Model& model = *explained.subject.model;
  const MatrixView<const float> rows = explained.subject.rows->x.view();
  const Explanations& found = explained.explanations;
  if (is_information(arguments, found)) {
    refuse_target_of_information(arguments);
    return information_targets(model, rows.rows());
  }
  if (!found.target.empty()) {
    if (arguments.target.empty()) return named_targets(explained.file, found, model, rows);
    fail_input("--target", fmt::format("none for {}, which says what it explains", in_quotes(explained.file)),
               in_quotes(arguments.target));
  }
  return freeze_targets(model, rows, chosen_target(arguments, model), context);
}

std::string groups_word(const JoinArguments& arguments, const JoinedExplanations& explained) {
  if (!arguments.rows.groups.empty()) return arguments.rows.groups;
  const std::string& words = explained.explanations.provenance.players;
  if (words == "columns") return "none";
  if (words.empty() || words == "feature groups") return "auto";
  if (words.starts_with("grid:")) return words;
  // The file is not trusted: it must not decide which files are opened.
  fail_input(fmt::format("{}: its players are those of {}, which is not opened on its word: give --groups",
                         explained.file, in_quotes(words)));
}

void choose_players_of_file(const JoinArguments& arguments, JoinedExplanations& explained, const Context& context) {
  const std::string word = groups_word(arguments, explained);
  const Explanations& found = explained.explanations;
  OwnedSubject& subject = explained.subject;
  try {
    choose_groups(word, subject, context);
  } catch (const Error& problem) {
    // The message must say that the file, not the user, chose these groups.
    const bool said_by_file = arguments.rows.groups.empty() && !found.provenance.players.empty();
    if (problem.kind() != ErrorKind::input || !said_by_file) throw;
    fail_input(fmt::format("{}: its players are those of {}, which do not fit {}: {}", explained.file, in_quotes(word),
                           subject.rows->source, problem.what()));
  }
  // An array does not say what its columns are. They are the rows' columns if the number is the same.
  const bool unsaid = arguments.rows.groups.empty() && found.provenance.players.empty();
  const size_t columns = subject.rows->x.cols();
  if (unsaid && subject.players.size() != found.players() && found.players() == columns) {
    choose_groups("none", subject, context);
  }
  const bool grouped = subject.players.size() < columns || found.players() < columns;
  const bool helps = grouped && found.players() <= columns;
  check_player_names(explained.file, found, subject.players.names, subject.rows->source,
                     helps ? "; --groups says which columns go together" : "");
}

// How to make the explanations again. Nothing if that is not possible; not_again then says why.
std::optional<Spec> method_of(const Explanations& explanations, std::string& not_again) {
  if (is_aggregate(explanations)) {
    not_again = fmt::format(
        "{}: it cannot be explained again; give --pool-explanations (`assay aggregate --pool-out` writes them)",
        aggregate_in_words(explanations));
    return {};
  }
  std::string why;
  std::optional<Spec> method = method_behind(explanations, &why);
  if (!why.empty()) not_again = fmt::format("{}: nothing can be explained again", why);
  return method;
}

const ModelRows& rows_of(const JoinArguments& arguments, RowsOfUnits& opened, const std::string& said,
                         const Session& session) {
  const std::string unit = arguments.value.empty() ? said : arguments.value;
  const auto known = opened.find(unit);
  if (known != opened.end()) return known->second;
  ModelRows rows = open_model_rows(arguments.rows, {.unit = unit_of(unit), .margins = true}, session);
  check_labels(rows, arguments.label_option());
  return opened.emplace(unit, std::move(rows)).first->second;
}

// Without a rule that says what is explained, the pool's rows have no scores to be spread over.
void choose_spread(const JoinArguments& arguments, JoinedExplanations& explained, const Context& context) {
  OwnedSubject& subject = explained.subject;
  const std::optional<TargetChoice> choice =
      subject.targets.information ? TargetChoice{.predicted = true} : explained.pool_target;
  auto reference =
      said_spread_background(arguments.rows.reference.background, subject.pool.get(), *subject.model, choice, context);
  if (reference) subject.reference = std::move(*reference);
}

}  // namespace

void JoinArguments::add_to(CLI::App& to) {
  command = &to;
  rows.add_to(to, false);
  to.add_option("--labels", rows.table.options.label, "The same as --label")->excludes("--label");
  to.add_option("--target", target,
                "What arrays made elsewhere explain: auto, predicted, a class or output by name or index");
  to.add_option("--value", value,
                "Of which unit they are: margin, probability, log_odds or information (default: as the file says)")
      ->check(CLI::IsMember({"margin", "probability", "log_odds", "information"}));
}

void JoinArguments::check_useful() const {
  const bool data = !rows.table.what.empty();
  if (has_model() && !data) fail_input("--model is of no use without --data");
  if (data && !has_model()) fail_input("--data is of no use without --model");
  if (has_model()) return;
  constexpr std::array<const char*, 19> kOfRows = {
      "--pool",       "--pool-split", "--rows",   "--split",      "--label",  "--labels",  "--baseline",
      "--background", "--groups",     "--target", "--value",      "--id",     "--numeric", "--categorical",
      "--delimiter",  "--header",     "--names",  "--skip-lines", "--missing"};
  for (const char* option : kOfRows) {
    if (command->count(option) > 0) fail_input(fmt::format("{} is of no use without --model and --data", option));
  }
}

void note_unchecked(const std::string& file, const Explanations& found, size_t unsaid,
                    std::vector<std::string>& notes) {
  if (is_aggregate(found)) return;
  if (std::optional<std::string> note = unchecked_note(file, found, unsaid)) notes.push_back(std::move(*note));
}

void read_joined(const std::string& file, const std::string& pool_file, const Session& session,
                 JoinedExplanations& made) {
  made.file = file;
  made.explanations = read_explanations(file, session.context);
  check_explained_unit(file, made.explanations);
  made.method = method_of(made.explanations, made.not_again);
  // What reading a table made elsewhere found; notes of our own files were said when they were made.
  if (made.explanations.provenance.version.empty()) made.notes = made.explanations.notes;
  if (pool_file.empty()) return;
  made.pool_file = pool_file;
  made.pool_given = read_explanations(pool_file, session.context);
  check_explained_unit(pool_file, *made.pool_given);
}

void join_rows(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
               JoinedExplanations& explained, const JoinedExplanations* like) {
  const Context quiet = session.context.quiet();
  const Explanations& found = explained.explanations;
  const auto said = [&](std::string Provenance::* what) {
    const std::string& own = found.provenance.*what;
    return own.empty() && like != nullptr ? like->explanations.provenance.*what : own;
  };
  const ModelRows& rows = rows_of(arguments, opened, said(&Provenance::unit), session);
  explained.subject = rows.subject;
  OwnedSubject& subject = explained.subject;
  check_explained_rows(explained.file, found, *subject.rows, kWhichRows);
  if (like != nullptr && found.provenance.players.empty()) {
    subject.players = like->subject.players;
    subject.words.players = like->subject.words.players;
    check_player_names(explained.file, found, subject.players.names, subject.rows->source);
  } else {
    choose_players_of_file(arguments, explained, quiet);
  }
  if (rows.other_order && !are_names(found.features)) {
    fail_input(explained.file,
               fmt::format("names of its columns, for {} has its columns in another order than {}",
                           in_quotes(arguments.rows.table.what), in_quotes(subject.model->info().name)),
               "columns without names, which may be in either order");
  }
  const bool targets_alike = like != nullptr && found.target.empty();
  subject.targets = targets_alike ? like->subject.targets : targets_of(arguments, explained, quiet);
  if (has_own_outputs(found)) {
    const size_t unsaid = check_explained_values(explained.file, found, *subject.model, *subject.rows, subject.targets,
                                                 other_split(found, arguments.rows.table.split, quiet), quiet);
    note_unchecked(explained.file, found, unsaid, explained.notes);
  }
  if (subject.pool != nullptr && !subject.targets.information) {
    explained.pool_target = targets_alike ? like->pool_target : pool_target_of(explained, quiet);
  }
  choose_spread(arguments, explained, quiet);
}

void join_without_file(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
                       JoinedExplanations& explained) {
  const Context quiet = session.context.quiet();
  const ModelRows& rows = rows_of(arguments, opened, "", session);
  explained.subject = rows.subject;
  OwnedSubject& subject = explained.subject;
  choose_groups(arguments.rows.groups.empty() ? "auto" : arguments.rows.groups, subject, quiet);
  if (arguments.value == "information") {
    refuse_target_of_information(arguments);
    subject.targets = information_targets(*subject.model, subject.rows->rows());
  } else {
    explained.pool_target = chosen_target(arguments, *subject.model);
    subject.targets = freeze_targets(*subject.model, subject.rows->x.view(), *explained.pool_target, quiet);
  }
  choose_spread(arguments, explained, quiet);
}

std::optional<std::string> other_reference_of(const JoinedExplanations& explained, const Context& context) {
  // The base of an aggregate of antecedents is theirs.
  if (!explained.explanations.combination.antecedents.empty()) return {};
  const OwnedSubject& subject = explained.subject;
  return other_reference(explained.explanations, *subject.model, *subject.rows, subject.targets, subject.reference,
                         context.quiet());
}

}  // namespace assay::cli
