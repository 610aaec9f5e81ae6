// assay study [DATASET] [--model FILE --data FILE --pool FILE]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "assay/archive/folder_claim.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/read_study.h"
#include "assay/archive/run_in_folder.h"
#include "assay/archive/study_folder.h"
#include "assay/archive/study_names.h"
#include "assay/archive/study_settings.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/data/io/bytes.h"
#include "assay/report/cohorts_text.h"
#include "assay/report/first_screen.h"
#include "assay/report/plan_text.h"
#include "assay/report/report_html.h"
#include "assay/report/terminal.h"
#include "assay/study/early_checks.h"
#include "assay/study/plan.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/recorded_study.h"
#include "cli/study_arguments.h"
#include "cli/study_rerun.h"
#include "cli/study_subject.h"
#include "cli/temporary_folder.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Spec> specs_of(std::string_view option, const std::string& text) {
  return text.empty() ? std::vector<Spec>() : parse_specs(option, text);
}

// Refuses unknown names and options before anything is read.
StudyOptions options_of(const StudyArguments& arguments) {
  StudyOptions options;
  options.methods = specs_of("--methods", arguments.methods);
  options.criteria = specs_of("--criteria", arguments.criteria);
  options.no_aggregates = arguments.aggregators == "none";
  if (!options.no_aggregates) {
    options.aggregators = specs_of("--aggregators", arguments.aggregators);
  }
  check_study_options(options);
  options.paper_members = arguments.members == "paper";
  if (!options.paper_members) {
    for (const Spec& spec : specs_of("--members", arguments.members)) options.members.push_back(spec_text(spec));
  }
  check_members(options);
  options.retrain = arguments.retrain;
  options.curves = !arguments.no_curves;
  options.variations = !arguments.no_variations;
  options.advice = {arguments.margin, arguments.tie};
  options.seconds = arguments.time.empty() ? kDefaultStudySeconds : study_seconds(arguments.time);
  options.seconds_named = !arguments.time.empty();
  options.rows_named = arguments.sample != "auto" || !arguments.rows.rows.empty();
  options.background_named = !arguments.rows.reference.baseline.empty() || !arguments.rows.reference.background.empty();
  return options;
}

// The seed is an option of the program, which may stand behind those of the command.
std::vector<std::string> words_with_seed(const StudySettings& settings) {
  std::vector<std::string> words = settings.arguments;
  if (settings.seed != Context().seed) words.push_back(fmt::format("--seed={}", settings.seed));
  return words;
}

// How the command line says what the plan says about time.
PlanWords words_for(const StudyPlan& plan, const StudySettings& settings) {
  const std::vector<std::string> words = words_with_seed(settings);
  return {.time = "--time",
          .fuller = command_in_time(words, fuller_time(plan.full_seconds)),
          .notes = "--all prints them",
          .pinned = pinned_command(words, plan.choices)};
}

// The recorded study that this run will be compared with; none by default.
struct Verification {
  std::string recorded = {};         // its folder
  bool from_recorded_parts = false;  // see run_study_in_folder
};

// What is on the screen before a study is done.
struct Shown {
  size_t lines = 0;
  StudyChoices choices = {};  // of the plan
  ExplainWords explained = {};
};

// The model's own name of the explained class, if labels gave the study other names. Those that the user said are in
// the command.
std::string own_target(const OpenedStudy& opened, const StudyArguments& arguments) {
  const ModelInfo& studied = opened.rows.subject.model->info();
  const ModelInfo& own = opened.rows.model->info();
  if (!arguments.classes.empty() || studied.class_names == own.class_names) return {};
  const TargetChoice choice = studied_target(studied, arguments.target);
  return choice.predicted ? std::string() : target_names(own)[choice.which];
}

// shown: null to show nothing.
FinishedStudy run_into(ClaimedFolder& folder, const StudyArguments& arguments, Shown* shown, const Session& session,
                       const Verification& verified = {}) {
  const auto show = [shown](const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);
    shown->lines += static_cast<size_t>(std::ranges::count(text, '\n'));
  };
  std::unique_ptr<OpenedStudy> opened;
  // While the folder holds the study that is replaced, a model is trained beside it.
  std::optional<TemporaryFolder> beside;
  if (folder.holds_older() && arguments.rows.model.empty()) beside.emplace(folder.path(), "new");
  StudySteps steps;
  steps.inputs = [&] { return file_inputs(arguments, session); };
  steps.open = [&](const StudyChoices& choices) -> OpenedSubject {
    if (shown != nullptr && arguments.rows.model.empty() && opened == nullptr) {
      show(fmt::format("no --model: a small network, trained on {}\n", one_line(pool_in_words(arguments.rows))));
    }
    opened = open_study(with_choices(arguments, choices), beside ? beside->path() : folder.path(), session);
    return {opened->subject(), opened->facts, opened->notes, opened->cohorts};
  };
  steps.planned = [&](const OpenedSubject& studied, const StudyPlan& plan, size_t finished) {
    if (beside) {
      const std::string trained = read_all(*open_bytes(path_within(beside->path(), kModelOnnx), session.context));
      write_whole(path_within(folder.path(), kModelOnnx), trained, session.context);
    }
    if (shown == nullptr) return;
    PlanWords words = words_for(plan, folder.settings());
    words.title = !arguments.rows.model.empty();  // what is trained was said before
    show(arguments.all ? plan_text(plan, studied.facts, studied.subject, finished, words)
                       : plan_summary(plan, studied.facts, studied.subject, finished, words));
    shown->choices = plan.choices;
    shown->explained.target = own_target(*opened, arguments);
    // Rows without ids are called by their number in a column "row".
    const std::string& what = arguments.rows.table.what;
    const std::string& id = studied.subject.rows->id_name;
    const bool found = arguments.rows.table.options.id.empty() && !is_dataset(what.substr(0, what.find(':')));
    shown->explained.id = found && id != "row" ? id : "";
    const size_t pool = studied.subject.pool->rows();
    shown->explained.pool_sample = pool < studied.facts.pool_rows_available ? pool : 0;
  };
  steps.page = [&](const FinishedStudy& finished, const Subject& subject) {
    const ReportOptions options = {.cells = !arguments.no_cells};
    if (verified.recorded.empty()) return report_page(finished, subject, options, session.context);
    // Made from the recorded files and times: the recorded page must equal it. If the files cannot be read, the page is
    // made from the new study; the comparison fails anyway.
    FinishedStudy recorded = finished;
    try {
      recorded = read_study(verified.recorded, session.context);
    } catch (const Error& problem) {
      if (problem.kind() == ErrorKind::cancelled) throw;
    }
    return report_page(recorded, subject, options, session.context);
  };
  StudyOptions options = options_of(arguments);
  // What was recorded without choices was made without a limit.
  if (!verified.recorded.empty()) options.seconds = kNoTimeLimit;
  return run_study_in_folder(folder, options, steps, session.context,
                             verified.from_recorded_parts ? verified.recorded : std::string());
}

void plan_only(const StudyArguments& arguments, const StudySettings& settings, const Session& session) {
  // If a model must be trained, it goes to a temporary folder.
  const TemporaryFolder folder((fs::temp_directory_path() / "assay").string(), "plan");
  StudyOptions options = options_of(arguments);
  options.choices = settings.choices;
  std::unique_ptr<OpenedStudy> opened;
  const auto open = [&](const StudyChoices& choices) -> OpenedSubject {
    opened = open_study(with_choices(arguments, choices), folder.path(), session);
    return {opened->subject(), opened->facts, opened->notes, opened->cohorts};
  };
  const auto [studied, plan] = open_and_plan(open, options, session.context);
  fmt::print("{}{}", plan_text(plan, studied.facts, studied.subject, 0, words_for(plan, settings)), plan_costs(plan));
}

constexpr size_t kLinesOfScreen = 25;
constexpr size_t kLinesAfterwards = 2;  // how long it took, and what was written

ScreenOptions screen_options(const StudyArguments& arguments, const StudySettings& settings, const Shown& shown,
                             const FinishedStudy& made) {
  ScreenOptions options;
  // With everything else printed as well, it is no single screen.
  if (!arguments.all) options.lines = kLinesOfScreen - std::min(shown.lines + kLinesAfterwards, kLinesOfScreen);
  const std::optional<Recommendation>& overall = made.assessment.advice.overall;
  if (!overall || made.study.entries[overall->entry].aggregate()) return options;
  ExplainWords explained = shown.explained;
  explained.model =
      arguments.rows.model.empty() ? fmt::format("{}/{}", arguments.out, kModelOnnx) : arguments.rows.model;
  explained.method = made.study.entries[overall->entry].name;
  options.next = explain_command(words_with_seed(settings), arguments, shown.choices, explained);
  return options;
}

// --resume with --out alone: takes the arguments from the folder.
void take_recorded(StudyArguments& arguments, StudySettings& settings, const Session& session) {
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
  const std::string path = fmt::format("{}/settings.json", said.out);
  require_program(path, settings, kStudyCommand);
  arguments = parse_study_words(path, settings.arguments);
  arguments.out = said.out;
  arguments.resume = true;
  arguments.plan_only = said.plan_only;
}

void study(StudyArguments arguments, StudySettings settings, const Session& given) {
  take_recorded(arguments, settings, given);
  Session session = given;
  session.context.seed = settings.seed;
  options_of(arguments);
  fill_in(arguments);
  if (arguments.plan_only) {
    plan_only(arguments, settings, session);
    return;
  }
  parse_study_words("--resume", settings.arguments);  // checks that the settings can be read back, for --resume
  check_inputs(arguments, session);
  ClaimedFolder folder(arguments.out, settings, arguments.resume, arguments.overwrite, session.context);
  Shown shown;
  FinishedStudy made;
  try {
    made = run_into(folder, arguments, session.quiet || session.json ? nullptr : &shown, session);
  } catch (const Error& problem) {
    if (problem.kind() != ErrorKind::cancelled) throw;
    if (folder.holds_older()) {
      throw Error(ErrorKind::cancelled,
                  fmt::format("stopped before the new study began; the one in {} is as it was", arguments.out));
    }
    throw Error(
        ErrorKind::cancelled,
        fmt::format("stopped; finished parts are kept: `assay study --out {} --resume` goes on", arguments.out));
  }
  if (session.json) {
    fmt::print("{}", study_json(made.study, made.assessment));
    return;
  }
  fmt::print("{}", first_screen(made.study, made.assessment, screen_options(arguments, settings, shown, made)));
  if (arguments.all) {
    fmt::print("\n{}", study_table(made.study, made.assessment, made.times));
    fmt::print("\n{}", study_conclusions(made.study, made.assessment));
  }
  if (arguments.all || made.study.cohorts.named) {
    if (const std::string groups = cohorts_text(made.study, made.assessment.advice); !groups.empty()) {
      fmt::print("\n{}", groups);
    }
  }
  if (session.quiet) return;
  const size_t warnings = made.assessment.warnings.size();
  fmt::print("{}{}\n", time_words(made.study, made.assessment.advice, made.times),
             arguments.all ? ""
                           : fmt::format("; --all prints {}all scores",
                                         warnings > 0 ? fmt::format("{} and ", plural(warnings, "warning")) : ""));
  fmt::print("wrote {0}/report.html, and beside it study.json, scores.csv, explanations and manifest.json\n",
             one_line(arguments.out));
}

}  // namespace

void rerun_study(const std::string& folder, const std::string& into, const StudyOverrides& where,
                 const Session& session) {
  RecordedSettings recorded = read_recorded_settings(folder, where, session);
  StudySettings& settings = recorded.settings;
  const StudyArguments& arguments = recorded.arguments;
  const Session& quiet = recorded.session;
  // The caller has compared the inputs with the recorded ones, with better messages.
  settings.inputs.clear();
  ClaimedFolder claimed(into, settings, false, false, quiet.context);
  const bool same_bits = settings.version == kVersion && settings.vector_target == vector_target();
  // With other vector instructions, training rounds differently and ends in another model. So the recorded model is
  // used, and only what follows from it is checked.
  if (!same_bits && arguments.rows.model.empty() && instead_of_file(folder, kModelOnnx).empty()) {
    std::error_code problem;
    fs::copy_file(path_within(folder, kModelOnnx), path_within(into, kModelOnnx), problem);
    if (problem) fail_io(path_within(into, kModelOnnx), "copy the recorded model to it", problem.value());
  }
  run_into(claimed, arguments, nullptr, quiet, {.recorded = folder, .from_recorded_parts = !same_bits});
}

void add_study(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "study", "Which explanation to trust for a model, and whether a better one can be made: all of it in one folder");
  arguments->add_to(*command);
  command->callback([&session, arguments, command] {
    session.run = [&session, arguments, command] {
      refuse_empty_values(*command);
      arguments->seed_given = command->get_parent()->count("--seed") > 0;
      study(*arguments, {argument_words(*command), session.context.seed}, session);
    };
  });
}

}  // namespace assay::cli
