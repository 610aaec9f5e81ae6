// assay study [DATASET] [--model FILE --data FILE --pool FILE]
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/report/study_json.h"
#include "assay/report/terminal.h"
#include "assay/study/assess.h"
#include "assay/study/run.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/study_arguments.h"
#include "cli/study_files.h"
#include "cli/study_rerun.h"
#include "cli/study_subject.h"
#include "cli/temporary_folder.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

template <class Find>
std::vector<Spec> specs_of(std::string_view option, const std::string& text, const Find& find) {
  if (text.empty()) return {};
  std::vector<Spec> specs = parse_specs(option, text);
  for (const Spec& spec : specs) find(spec.name).make(spec);
  return specs;
}

// Unknown names and options are known before anything is read.
StudyOptions options_of(const StudyArguments& arguments) {
  StudyOptions options;
  options.methods = specs_of("--methods", arguments.methods, find_method);
  options.criteria = specs_of("--criteria", arguments.criteria, find_criterion);
  options.no_aggregates = arguments.aggregators == "none";
  if (!options.no_aggregates) {
    options.aggregators = specs_of("--aggregators", arguments.aggregators, find_aggregator);
  }
  if (!arguments.members.empty()) {
    for (const Spec& spec : parse_specs("--members", arguments.members)) options.members.push_back(spec_text(spec));
  }
  options.retrain = arguments.retrain;
  options.curves = !arguments.no_curves;
  options.variations = !arguments.no_variations;
  return options;
}

std::string names_of(const StudyPlan& plan, EntryKind kind, size_t& count) {
  std::vector<std::string> names;
  for (const PlannedEntry& entry : plan.entries) {
    if (entry.kind == kind) names.push_back(short_name(entry.name));
  }
  count = names.size();
  return fmt::format("{}", fmt::join(names, ", "));
}

void print_plan(const StudyPlan& plan, const OpenedStudy& opened, size_t finished, FILE* to) {
  const StudyFacts& facts = opened.facts;
  const ModelRows& rows = opened.rows;
  fmt::print(to, "study of {}\n", one_line(facts.title));
  // A sample says of how many itself.
  const auto counted = [](size_t rows, size_t available, const std::string& words) {
    return rows < available ? one_line(words) : fmt::format("{} of {}", plural(rows, "row"), one_line(words));
  };
  fmt::print(to, "rows: {}; pool: {}\n", counted(rows.data.rows(), facts.rows_available, facts.data),
             counted(rows.pool->rows(), facts.pool_rows_available, facts.pool));
  const OutputUnit unit = rows.model->info().unit;
  fmt::print(to, "explained: {}{}; reference {}; {} ({})\n",
             unit == OutputUnit::value ? "" : fmt::format("the {} of ", output_unit_name(unit)),
             opened.targets.predicted ? std::string(kPredictedTarget)
                                      : short_name(opened.targets.names[opened.targets.of_row[0]]),
             one_line(rows.reference.description), plural(opened.players.size(), "player"), one_line(facts.players));
  size_t count = 0;
  const std::string methods = names_of(plan, EntryKind::method, count);
  fmt::print(to, "{}: {}\n", plural(count, "method"), methods);
  const std::string aggregates = names_of(plan, EntryKind::aggregate, count);
  if (count > 0) {
    std::vector<std::string> members;
    for (const size_t member : plan.members) members.push_back(plan.entries[member].spec.name);
    fmt::print(to, "{}: {}\n  of {}\n", plural(count, "aggregate"), aggregates, joined(members));
  }
  std::vector<std::string> criteria;
  for (const Spec& spec : plan.criteria) criteria.push_back(short_name(spec_text(spec)));
  fmt::print(to, "{} {}: {}\n", criteria.size(), criteria.size() == 1 ? "criterion" : "criteria",
             fmt::join(criteria, ", "));
  for (const LeftOut& each : plan.left_out) fmt::print(to, "left out: {}\n", one_line(each.reason));
  for (const std::string& note : plan.notes) fmt::print(to, "note: {}\n", one_line(note));
  if (finished > 0) fmt::print(to, "finished before: {} of {}\n", plural(finished, "part"), plan.entries.size());
  fmt::print(to, "about {} model evaluations, {}\n\n", with_commas(plan.evaluations), time_text(plan.seconds));
  std::fflush(to);
}

void print_costs(const StudyPlan& plan, FILE* to) {
  std::vector<std::vector<std::string>> lines = {{"", "model evaluations", "seconds"}};
  for (const PlannedEntry& entry : plan.entries) {
    lines.push_back({short_name(entry.name), with_commas(entry.evaluations), short_number(entry.seconds)});
  }
  fmt::print(to, "{}", aligned(lines, {0}));
}

struct Finished {
  Study study;
  Assessment assessment;
  StudyTimes times;
};

// Into a folder that is claimed.
Finished run_into(const StudyArguments& arguments, const std::string& folder, const StudySettings& settings, bool show,
                  const Session& session) {
  const StudyOptions options = options_of(arguments);
  // Before anything is trained on them.
  record_inputs(folder, file_inputs(arguments, session), session.context);
  if (show && arguments.rows.model.empty()) {
    fmt::print("no --model: a small network, trained on {}\n", one_line(pool_in_words(arguments.rows)));
    std::fflush(stdout);
  }
  const std::unique_ptr<OpenedStudy> opened = open_study(arguments, folder, session);
  record_inputs(folder, opened->facts.inputs, session.context);
  const StudySubject subject = opened->subject();
  const StudyPlan plan = plan_study(subject, options, session.context);
  const StudyStore store(folder);
  const auto finished =
      std::ranges::count_if(plan.entries, [&](const auto& entry) { return store.has(entry.stem, entry.kind); });
  if (show) print_plan(plan, *opened, static_cast<size_t>(finished), stdout);
  StudyFacts facts = opened->facts;
  facts.settings.emplace_back("arguments", fmt::format("{}", fmt::join(settings.arguments, " ")));
  facts.settings.emplace_back("seed", fmt::format("{}", settings.seed));
  Finished made;
  made.study = run_study(subject, plan, std::move(facts), store, made.times, session.context);
  made.times.machine = machine_words();
  made.assessment = assess(made.study);
  write_study_files(folder, made.study, made.assessment, made.times, subject, !arguments.no_cells, session.context);
  return made;
}

void plan_only(const StudyArguments& arguments, const Session& session) {
  // A model that has to be trained is put where nobody looks, and removed.
  const TemporaryFolder folder((fs::temp_directory_path() / "assay").string(), "plan");
  const StudyOptions options = options_of(arguments);
  const std::unique_ptr<OpenedStudy> opened = open_study(arguments, folder.path(), session);
  const StudyPlan plan = plan_study(opened->subject(), options, session.context);
  print_plan(plan, *opened, 0, stdout);
  print_costs(plan, stdout);
}

// --resume with nothing else says that the folder knows.
void recall(StudyArguments& arguments, StudySettings& settings, const Session& session) {
  const bool said_data = !arguments.subject.empty() || !arguments.rows.table.what.empty();
  if (arguments.resume && !settings.arguments.empty() && !said_data) {
    fail_input("--resume", "--out alone, or all arguments of the study", in_quotes(settings.arguments[0]));
  }
  if (arguments.resume && arguments.overwrite) fail_input("--resume", "no --overwrite beside it", "both");
  if (!arguments.resume || !settings.arguments.empty()) return;
  if (arguments.out.empty()) fail_input("--resume", "--out, the folder of the study to go on with", "none");
  const StudyArguments said = std::exchange(arguments, {});
  const uint64_t seed = settings.seed;
  settings = read_settings(said.out, session.context);
  if (said.seed_given && seed != settings.seed) {
    fail_input("--seed", fmt::format("{}, which the study in {} has", settings.seed, in_quotes(said.out)),
               fmt::format("{}", seed));
  }
  arguments = parse_study_words(fmt::format("{}/settings.json", said.out), settings.arguments);
  arguments.out = said.out;
  arguments.resume = true;
  arguments.plan_only = said.plan_only;
}

void study(StudyArguments arguments, StudySettings settings, const Session& given) {
  recall(arguments, settings, given);
  Session session = given;
  session.context.seed = settings.seed;
  options_of(arguments);
  complete(arguments);
  if (arguments.plan_only) {
    plan_only(arguments, session);
    return;
  }
  parse_study_words("--resume", settings.arguments);  // what cannot be read back could not be resumed
  check_inputs(arguments, session);
  make_folder(arguments.out);
  const FolderLock lock(arguments.out);
  claim_folder(arguments.out, settings, arguments.resume, arguments.overwrite, session.context);
  const bool show = !session.quiet && !session.json;
  Finished made;
  try {
    made = run_into(arguments, arguments.out, settings, show, session);
  } catch (const Error& problem) {
    if (problem.kind() != ErrorKind::cancelled) {
      abandon_folder(arguments.out);
      throw;
    }
    throw Error(
        ErrorKind::cancelled,
        fmt::format("stopped; finished parts are kept: `assay study --out {} --resume` goes on", arguments.out));
  }
  if (session.json) {
    fmt::print("{}", study_json(made.study, made.assessment));
    return;
  }
  fmt::print("{}", study_table(made.study, made.assessment, made.times));
  fmt::print("\n{}", study_conclusions(made.study, made.assessment));
  if (session.quiet) return;
  fmt::print("\nwrote {0}/report.html, and beside it study.json, scores.csv, explanations and manifest.json\n",
             one_line(arguments.out));
}

}  // namespace

void rerun_study(const std::string& folder, const std::string& into, const StudyOverrides& where,
                 const Session& session) {
  const StudySettings settings = read_settings(folder, session.context);
  StudyArguments arguments = parse_study_words(fmt::format("{}/settings.json", folder), settings.arguments);
  Session quiet = session;
  quiet.quiet = true;
  quiet.context.seed = settings.seed;
  complete(arguments);
  const auto move = [&](std::string_view option, const std::string& from, const std::string& to) {
    if (to.empty()) return;
    if (from.empty())
      fail_input(option, fmt::format("none: the study in {} has no such file", in_quotes(folder)), in_quotes(to));
    const std::string& before = quiet.now_at(from);
    if (before != from && before != to) {
      fail_input(option, fmt::format("{}, for the study has one file for both", in_quotes(before)), in_quotes(to));
    }
    quiet.moved.emplace_back(from, to);
  };
  move("--model", arguments.rows.model, where.model);
  move("--data", arguments.rows.table.what, where.data);
  move("--pool", arguments.rows.pool, where.pool);
  claim_folder(into, settings, false, false, quiet.context);
  run_into(arguments, into, settings, false, quiet);
}

void add_study(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "study", "Which explanation to trust for a model, and whether a better one can be made: all of it in one folder");
  arguments->add_to(*command);
  command->callback([&session, arguments, command] {
    session.run = [&session, arguments, command] {
      if (command->count("--out") > 0 && arguments->out.empty()) fail_input("--out", "the name of a folder", "nothing");
      arguments->seed_given = command->get_parent()->count("--seed") > 0;
      study(*arguments, {argument_words(*command), session.context.seed}, session);
    };
  });
}

}  // namespace assay::cli
