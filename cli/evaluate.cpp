// assay evaluate --explanations FILE --criteria LIST
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/evaluate/criteria.h"
#include "assay/study/verdict.h"
#include "cli/commands.h"
#include "cli/evaluate_needs.h"
#include "cli/evaluate_report.h"
#include "cli/evaluate_subject.h"
#include "cli/file_lists.h"
#include "cli/joined_pool.h"
#include "cli/needed_options.h"
#include "cli/report_parts.h"

namespace assay::cli {
namespace {

// Refuses unknown criteria and options before anything is read.
std::vector<Spec> parse_criteria(const std::string& text) {
  if (text.empty()) return {};
  std::vector<Spec> specs = parse_specs("--criteria", text);
  std::vector<std::string> seen;
  for (const Spec& spec : specs) {
    find_criterion(spec.name).make(spec);
    const std::string own = spec_text(spec);
    if (std::ranges::find(seen, own) != seen.end()) {
      fail_input("--criteria", "each criterion once", fmt::format("{} twice", in_quotes(own)));
    }
    seen.push_back(own);
  }
  return specs;
}

// The first reason why one of the files cannot be scored.
std::optional<std::string> first_lack(const Spec& spec, const Subjects& subjects, const EvaluateArguments& arguments) {
  for (const auto& subject : subjects.all) {
    if (auto reason = lacking(spec, *subject, arguments)) return reason;
  }
  return {};
}

// Criteria that were asked for must be possible. Of the default ones, those that are not possible are dropped.
void keep_possible(const EvaluateArguments& arguments, std::vector<Spec>& criteria, std::vector<std::string>& notes,
                   const auto& reason_of) {
  std::erase_if(criteria, [&](const Spec& spec) {
    const std::optional<std::string> reason = reason_of(spec);
    if (!reason) return false;
    if (!arguments.criteria.empty()) refuse(*reason);
    notes.push_back(fmt::format("left out: {}", *reason));
    return true;
  });
}

void check_scores_out(const EvaluateArguments& arguments, const Session& session) {
  if (arguments.out.empty()) return;
  refuse_json_and_table(arguments.out, session);
  check_explanations_output(arguments.out);
  arguments.rows.refuse_as_output(arguments.out);
  for (const auto* files : {&arguments.explanations, &arguments.pool_explanations, &arguments.others}) {
    for (const std::string& file : *files) refuse_same_file("--out", arguments.out, file);
  }
}

bool is_json(const std::string& path) { return path != "-" && format_extension(path) == ".json"; }

// A table has a line for each row, so some criterion must score rows.
void check_table_criteria(const EvaluateArguments& arguments, const std::vector<Spec>& criteria) {
  if (arguments.out.empty() || is_json(arguments.out) || criteria.empty()) return;
  const auto scores_rows = [](const Spec& spec) { return find_criterion(spec.name).make(spec)->scores_rows(); };
  if (std::ranges::any_of(criteria, scores_rows)) return;
  fail_input(fmt::format(
      "--out: none of the criteria scores single rows, so that there is no table for {}; a .json file holds them",
      in_quotes(arguments.out)));
}

// A table has one line for the same row of all files, so all need the same number of rows.
void check_table_rows(const EvaluateArguments& arguments, const Subjects& subjects) {
  if (arguments.out.empty() || is_json(arguments.out)) return;
  const EvaluatedFile& first = *subjects.all[0];
  for (const auto& subject : subjects.all) {
    if (subject->explanations.rows() == first.explanations.rows()) continue;
    fail_input(fmt::format(
        "--out: expected files of as many rows as each other for one table, found {} in {} and {} in {}; a .json file "
        "holds both",
        first.explanations.rows(), in_quotes(first.file), subject->explanations.rows(), in_quotes(subject->file)));
  }
}

void join(const EvaluateArguments& arguments, const std::vector<Spec>& criteria, Subjects& subjects,
          const Session& session) {
  arguments.check_useful();
  if (std::ranges::any_of(criteria, [](const Spec& spec) { return needs_of(spec).others; })) {
    join_others(arguments, subjects, session);
  } else if (!arguments.others.empty()) {
    fail_input("--others is of no use without a criterion of agreement");
  }
  for (const auto& subject : subjects.all) {
    if (arguments.has_model()) join_rows(arguments, subjects.opened, session, *subject);
    check_pool(*subject, session.context);
    join_pool(*subject);
  }
}

void note_reference(const std::vector<Spec>& criteria, EvaluatedFile& subject, const Session& session) {
  const MethodInfo* method = subject.method_info();
  if (!subject.has_model() || (method != nullptr && !method->uses_reference)) return;
  const auto uses = [&](const Spec& spec) { return uses_reference(spec, subject); };
  const bool explained = subject.pool_explanations && subject.pool_explanations->explained() > 0;
  if (!explained && !std::ranges::any_of(criteria, uses)) return;
  const auto note = other_reference_of(subject, session.context);
  if (note) subject.notes.push_back(*note);
}

void write_results(const std::vector<FileScores>& results, const std::vector<std::string>& notes,
                   const std::string& path, const Context& context) {
  if (is_json(path)) {
    AtomicFile file(path, context);
    file.write(evaluations_json(results, notes));
    file.write("\n");
    file.commit();
    return;
  }
  write_table(evaluations_table(results), path, context);
}

// Everything that is made before the first criterion runs.
struct EvaluateRun {
  std::vector<Spec> criteria;
  Subjects subjects;
  std::vector<std::string> notes;
};

EvaluateRun prepare_evaluate(const EvaluateArguments& arguments, const Session& session) {
  EvaluateRun made;
  made.criteria = parse_criteria(arguments.criteria);
  check_scores_out(arguments, session);
  check_table_criteria(arguments, made.criteria);
  check_once("--explanations", arguments.explanations);
  if (arguments.criteria.empty()) {
    const std::vector<std::string> names = main_criteria();
    for (const std::string& name : names) made.criteria.push_back({name});
    made.notes.push_back(fmt::format("no --criteria: {}, as far as the files allow", fmt::join(names, ", ")));
  }
  made.subjects = read_subjects(arguments, session);
  check_table_rows(arguments, made.subjects);
  const auto lacks = [&](const Spec& spec) { return first_lack(spec, made.subjects, arguments); };
  keep_possible(arguments, made.criteria, made.notes, lacks);
  join(arguments, made.criteria, made.subjects, session);
  keep_possible(arguments, made.criteria, made.notes, lacks);
  for (const auto& subject : made.subjects.all) {
    keep_possible(arguments, made.criteria, made.notes, [&](const Spec& spec) {
      const std::optional<Refusal> refusal = criterion_refusal(spec, subject->task());
      return refusal ? std::optional(with_advice(*refusal, arguments.rows)) : std::nullopt;
    });
  }
  return made;
}

void evaluate_files(const EvaluateArguments& arguments, const Session& session) {
  const EvaluateRun made = prepare_evaluate(arguments, session);
  const std::vector<std::string>& notes = made.notes;
  std::vector<FileScores> results;
  for (const auto& subject : made.subjects.all) {
    for (const Spec& spec : made.criteria) {
      results.push_back({subject.get(), spec_text(spec), evaluate(spec, subject->task(), {}, session.context)});
    }
    note_reference(made.criteria, *subject, session);
  }
  const bool to_stdout = arguments.out == "-";
  if (session.json) {
    fmt::print("{}\n", evaluations_json(results, notes));
  } else if (!session.quiet || arguments.out.empty()) {
    FILE* report = to_stdout ? stderr : stdout;
    print_evaluations(results, !session.quiet, report);
    for (const std::string& note : notes) {
      if (!session.quiet) fmt::print(report, "note: {}\n", one_line(note));
    }
  }
  if (arguments.out.empty()) return;
  write_results(results, notes, arguments.out, session.context);
  if (!session.quiet && !session.json && !to_stdout) fmt::print("wrote {}\n", one_line(arguments.out));
}

}  // namespace

void add_evaluate(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command = app.add_subcommand("evaluate", "How good explanations are, by the criteria of the literature");
  const auto add_files = [&](const char* option, std::vector<std::string>& files, const char* meaning) {
    return command->add_option(option, files, meaning)->allow_extra_args(false);
  };
  add_files("--explanations", arguments->explanations,
            "What `assay explain` wrote, or attributions made elsewhere: one file, or several joined by commas")
      ->required();
  const CLI::Option* criteria =
      command->add_option("--criteria", arguments->criteria,
                          "One or more of `assay list criteria`, with options, as in faithfulness:subset=2,complexity "
                          "(default: faithfulness, sensitivity and complexity as far as the files allow)");
  arguments->add_to(*command);
  command->get_option("--pool")->description(
      "Training rows that neighbours, retraining, mean, median, neutral and pool:N use: a data set or a file");
  add_files("--pool-explanations", arguments->pool_explanations,
            "Explanations of the pool's rows, one file for each of --explanations (default: made by the same method "
            "when needed)");
  add_files("--others", arguments->others,
            "Other explanations of the same rows, for criteria of agreement (default: the other files)");
  const CLI::Option* out = command->add_option("--out", arguments->out,
                                               "Where the scores of single rows go: .csv .tsv .npz .parquet .feather, "
                                               "- is CSV on stdout; .json holds everything");
  command->callback([&session, arguments, criteria, out] {
    // Counted, because both are also empty if they are not given.
    const bool no_criteria = criteria->count() > 0 && arguments->criteria.empty();
    const bool no_out = out->count() > 0 && arguments->out.empty();
    session.run = [&session, arguments, no_criteria, no_out] {
      if (no_criteria) fail_input("--criteria", "one or more of `assay list criteria`", "nothing");
      if (no_out) fail_input("--out", "the name of a file, or -", "nothing");
      split_files("--explanations", arguments->explanations);
      split_files("--pool-explanations", arguments->pool_explanations);
      split_files("--others", arguments->others);
      evaluate_files(*arguments, session);
    };
  });
}

}  // namespace assay::cli
