#include "cli/aggregate_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "assay/aggregate/members.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/table_io.h"
#include "assay/evaluate/joining/explained_values.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "cli/file_lists.h"
#include "cli/joined_pool.h"
#include "cli/places_in_pool.h"

namespace assay::cli {
namespace {

bool distinct(const std::vector<std::string>& words) {
  return std::set<std::string>(words.begin(), words.end()).size() == words.size();
}

// "phi" of "made/phi.csv.gz".
std::string stem(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const std::string extension = format_extension(file);
  const size_t at = extension.empty() ? name.size() : lower_case(name).rfind(extension);
  return at == std::string::npos || at == 0 ? name : name.substr(0, at);
}

// Names of the members: their methods, or file names, or paths, the first of these that are distinct.
std::vector<std::string> names_of(const AggregateArguments& arguments, const MemberFiles& files) {
  if (!arguments.names.empty()) return arguments.names;
  std::vector<std::string> methods;
  std::vector<std::string> stems;
  for (const auto& member : files.all) {
    methods.push_back(member->explanations.provenance.method);
    stems.push_back(stem(member->file));
  }
  constexpr size_t kLongest = 60;  // a longer text is no name of a method
  const auto is_name = [](const std::string& method) { return !method.empty() && method.size() <= kLongest; };
  if (std::ranges::all_of(methods, is_name) && distinct(methods)) return methods;
  return distinct(stems) ? stems : arguments.members;
}

void check_count(std::string_view option, size_t found, size_t members) {
  if (found == 0) return;
  if (members == 0) fail_input(fmt::format("{} is of no use without --members", option));
  if (found != members) {
    fail_input(option, fmt::format("{}, one for each of --members", members), fmt::format("{}", found));
  }
}

JoinedExplanations& most_said(const MemberFiles& files) {
  const auto says = [](const auto& member) {
    const Explanations& found = member->explanations;
    return !found.target.empty() && !found.provenance.unit.empty();
  };
  const auto has_target = [](const auto& member) { return !member->explanations.target.empty(); };
  auto lead = std::ranges::find_if(files.all, says);
  if (lead == files.all.end()) lead = std::ranges::find_if(files.all, has_target);
  return **(lead == files.all.end() ? files.all.begin() : lead);
}

bool none_says(const MemberFiles& files, std::vector<double> Explanations::* values) {
  const auto unsaid = [](double value) { return std::isnan(value); };
  return std::ranges::all_of(files.explanations,
                             [&](const Explanations* member) { return std::ranges::all_of(member->*values, unsaid); });
}

// If no member has outputs, computes them by the model; the same for base values.
void fill_values(MemberFiles& files, const Context& context) {
  const OwnedSubject& subject = files.lead->subject;
  const bool output = none_says(files, &Explanations::output);
  files.filled_base = none_says(files, &Explanations::base) && subject.reference.rows.rows() > 0;
  for (const auto& member : files.all) {
    if (output)
      member->explanations.output = explained_values(*subject.model, *subject.rows, member->subject.targets, context);
    if (!files.filled_base) continue;
    member->explanations.base =
        base_values(*subject.model, *subject.rows, member->subject.targets, subject.reference, context);
  }
}

bool has_pool(const MemberFiles& files) { return files.lead->subject.pool != nullptr; }

}  // namespace

AggregateTask MemberFiles::task() const {
  AggregateTask made{explanations, names};
  if (lead->has_model()) made.subject = lead->subject.view();
  made.pool_members = pool_explanations;
  made.pool_given = !all.empty() && all[0]->pool_given;
  if (all.size() == 1 && all[0]->method) {
    made.method = &*all[0]->method;
    made.method_seed = all[0]->explanations.provenance.seed;
  }
  return made;
}

std::unique_ptr<MemberFiles> read_members(const AggregateArguments& arguments, const Session& session) {
  const size_t count = arguments.members.size();
  check_count("--pool-members", arguments.pool_members.size(), count);
  check_count("--member-names", arguments.names.size(), count);
  if (!distinct(arguments.names)) {
    fail_input("--member-names", "names that tell the members apart",
               in_quotes(fmt::format("{}", fmt::join(arguments.names, ","))));
  }
  check_once("--members", arguments.members);
  check_once("--pool-members", arguments.pool_members);
  auto files = std::make_unique<MemberFiles>();
  if (count == 0) {
    files->no_file = std::make_unique<JoinedExplanations>();
    files->lead = files->no_file.get();
    return files;
  }
  for (size_t i = 0; i < count; i++) {
    const std::string pool_file = arguments.pool_members.empty() ? "" : arguments.pool_members[i];
    read_joined(arguments.members[i], pool_file, session,
                *files->all.emplace_back(std::make_unique<JoinedExplanations>()));
    files->explanations.push_back(&files->all.back()->explanations);
  }
  files->names = arguments.members;  // in messages about files that do not fit
  files->lead = &most_said(*files);
  check_members(files->task());
  files->names = names_of(arguments, *files);
  return files;
}

void join_members(const AggregateArguments& arguments, bool pool, MemberFiles& files, const Session& session) {
  arguments.check_useful();
  const Context quiet = session.context.quiet();
  if (arguments.has_model()) {
    if (files.all.empty()) {
      join_without_file(arguments, files.opened, session, *files.lead);
    } else {
      join_rows(arguments, files.opened, session, *files.lead);
    }
    for (const auto& member : files.all) {
      if (member.get() != files.lead) join_rows(arguments, files.opened, session, *member, files.lead);
    }
    if (!files.all.empty()) fill_values(files, quiet);
  }
  for (const auto& member : files.all) {
    check_pool(*member, session.context);
    const JoinedExplanations& first = *files.all[0];
    if (!member->pool_given || member.get() == &first) continue;
    check_explained_alike(member->pool_file, *member->pool_given, first.pool_file, *first.pool_given);
  }
  if (pool && has_pool(files)) {
    OwnedSubject& subject = files.lead->subject;
    subject.pool_targets = pool_targets_of(*files.lead, quiet);
    subject.in_pool = places_in_pool(arguments.rows, files.opened.begin()->second, session);
  }
  for (const auto& member : files.all) {
    join_pool(*member);
    if (member->pool_explanations) files.pool_explanations.push_back(&*member->pool_explanations);
  }
  // All members or none.
  if (files.pool_explanations.size() != files.all.size()) files.pool_explanations.clear();
}

void describe_aggregate(const MemberFiles& files, Explanations& result) {
  if (!files.lead->has_model()) return;
  const OwnedSubject& subject = files.lead->subject;
  const Targets& targets = subject.targets;
  // Empty if members did not say it, or said different things.
  const auto fill = [](std::string& said, const std::string& known) {
    if (said.empty()) said = known;
  };
  Provenance& made = result.provenance;
  fill(made.model, subject.model->info().name);
  fill(made.unit, explained_unit(subject.model->info(), targets));
  fill(made.data, subject.words.rows);
  if (files.filled_base) fill(made.reference, subject.reference.description);
  fill(made.players, subject.words.players);
  const bool one = std::ranges::all_of(targets.of_row, [&](uint32_t target) { return target == targets.of_row[0]; });
  if (targets.predicted || one) fill(made.target, target_in_words(targets));
  result.features = subject.players.names;  // arrays have no names
  result.columns = columns_behind(subject.view());
  if (result.target.empty()) {
    result.target = targets.of_row;
    result.target_names = targets.names;
  }
  if (result.ids.empty()) {
    result.ids = subject.rows->ids;
    result.id_name = subject.rows->id_name;
    result.row_numbers = subject.rows->row_numbers;
  }
}

Explanations pool_result(const AggregateArguments& arguments, const MemberFiles& files, const Spec& spec,
                         const Aggregate& made, const Context& context) {
  const AggregateTask task = files.task();
  PoolExplanations pool = aggregate_of_pool(spec, task, made);
  pool.need_all(context);
  Explanations result;
  result.values = Matrix(pool.rows(), pool.players());
  for (size_t r = 0; r < pool.rows(); r++) std::ranges::copy(pool.values().row(r), result.values.row(r).begin());
  result.features = made.explanations.features;
  result.columns = made.explanations.columns;
  for (std::vector<double>* unsaid : {&result.base, &result.output, &result.gap}) unsaid->assign(pool.rows(), NAN);
  const OwnedSubject& subject = files.lead->subject;
  if (subject.pool_targets) {
    result.target = subject.pool_targets->of_row;
    result.target_names = subject.pool_targets->names;
  }
  if (subject.pool != nullptr) {
    result.ids = subject.pool->ids;
    result.id_name = subject.pool->id_name;
    result.row_numbers = subject.pool->row_numbers;
  }
  for (const auto& member : files.all) {
    if (!member->pool_given) continue;
    const Explanations& given = *member->pool_given;
    if (result.target.empty()) {
      result.target = given.target;
      result.target_names = given.target_names;
    }
    if (result.ids.empty()) {
      result.ids = given.ids;
      result.id_name = given.id_name;
      result.row_numbers = given.row_numbers;
    }
  }
  result.provenance = made.explanations.provenance;
  const bool given = !files.all.empty() && files.all[0]->pool_given;
  result.provenance.data =
      arguments.rows.pool.empty() && given ? files.all[0]->pool_given->provenance.data : pool_in_words(arguments.rows);
  result.combination.members = made.explanations.combination.members;
  result.combination.relative = made.explanations.combination.relative;
  if (result.combination.relative) result.notes.emplace_back("relative, does not add up to the score");
  return result;
}

}  // namespace assay::cli
