// assay aggregate --members FILES --aggregator LIST
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "cli/aggregate_members.h"
#include "cli/aggregate_needs.h"
#include "cli/aggregate_report.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/needed_options.h"
#include "cli/report_parts.h"

namespace assay::cli {
namespace {

// Refuses unknown aggregators and options before anything is read.
std::vector<Spec> parse_aggregators(const std::string& text) {
  std::vector<Spec> specs = parse_specs("--aggregator", text);
  std::vector<std::string> seen;
  for (const Spec& spec : specs) {
    find_aggregator(spec.name).make(spec);
    const std::string own = spec_text(spec);
    if (std::ranges::find(seen, own) != seen.end()) {
      fail_input("--aggregator", "each aggregator once", fmt::format("{} twice", in_quotes(own)));
    }
    seen.push_back(own);
  }
  return specs;
}

// Where each result goes; empty if the option is not given.
std::vector<std::string> output_paths(const AggregateArguments& arguments, std::string_view option,
                                      const std::string& path, const std::vector<Spec>& aggregators) {
  if (path.empty()) return {};
  std::vector<std::string> names;
  for (const Spec& spec : aggregators) names.push_back(spec.name);
  std::vector<std::string> paths = result_paths(path, names, {});
  for (const std::string& each : paths) {
    check_explanations_output(each);
    arguments.rows.refuse_as_output(each, option);
    for (const auto* files : {&arguments.members, &arguments.pool_members}) {
      for (const std::string& file : *files) refuse_same_file(option, each, file);
    }
  }
  return paths;
}

// Everything that is made before the first aggregator runs.
struct AggregateRun {
  std::vector<Spec> aggregators;
  std::vector<std::string> paths;
  std::vector<std::string> pool_paths;
  std::unique_ptr<MemberFiles> files;
};

AggregateRun prepare_aggregate(const AggregateArguments& arguments, const Session& session) {
  AggregateRun made;
  made.aggregators = parse_aggregators(arguments.aggregator);
  refuse_json_and_table(arguments.out, session);
  if (arguments.pool_out == "-") fail_input("--pool-out", "the name of a file", "-");
  made.paths = output_paths(arguments, "--out", arguments.out, made.aggregators);
  made.pool_paths = output_paths(arguments, "--pool-out", arguments.pool_out, made.aggregators);
  check_results_apart("--out", made.paths);
  check_results_apart("--pool-out", made.pool_paths, "--out", made.paths);
  arguments.check_useful();
  made.files = read_members(arguments, session);
  for (const Spec& spec : made.aggregators) {
    if (const auto reason = lacking(spec, *made.files, arguments)) refuse(*reason);
  }
  const bool pool = !arguments.pool_out.empty() || !arguments.rows.pool.empty();
  join_members(arguments, pool, *made.files, session);
  for (const Spec& spec : made.aggregators) {
    const auto reason = aggregator_refusal(spec, made.files->task());
    if (reason) throw Error(ErrorKind::unsupported, with_advice(*reason, arguments.rows));
  }
  return made;
}

std::vector<MemberSummary> summaries(const MemberFiles& files, const Context& context) {
  std::vector<MemberSummary> made;
  for (size_t j = 0; j < files.all.size(); j++) {
    made.push_back({files.names[j], mean_defined(complexity_of(files.all[j]->explanations, context))});
  }
  return made;
}

// The notes of the files, once for all results.
std::vector<std::string> notes_of(const AggregateRun& made, const Context& context) {
  const MemberFiles& files = *made.files;
  std::vector<std::string> notes;
  const auto scales = [](const Spec& spec) { return find_aggregator(spec.name).make(spec)->scales_to_output(); };
  if (files.filled_base && std::ranges::any_of(made.aggregators, scales)) {
    notes.push_back(fmt::format("the members say no output and base: those of {} and of its reference ({}) are used",
                                files.lead->subject.model->info().name, files.lead->subject.reference.description));
  }
  for (const auto& member : files.all) {
    notes.insert(notes.end(), member->notes.begin(), member->notes.end());
    const bool explained = member->pool_explanations && member->pool_explanations->explained() > 0;
    const MethodInfo* method = member->method_info();
    if (!explained || method == nullptr || !method->uses_reference) continue;
    if (const auto note = other_reference_of(*member, context)) {
      notes.push_back(fmt::format("{}: {}", member->file, *note));
    }
  }
  return notes;
}

void aggregate_files(const AggregateArguments& arguments, const Session& session) {
  const AggregateRun made = prepare_aggregate(arguments, session);
  const MemberFiles& files = *made.files;
  const std::vector<MemberSummary> members = summaries(files, session.context);
  const bool to_stdout = arguments.out == "-";
  FILE* report = to_stdout ? stderr : stdout;
  std::vector<std::string> shown;
  for (size_t i = 0; i < made.aggregators.size(); i++) {
    const Spec& spec = made.aggregators[i];
    AggregateResult result{spec_text(spec), aggregate(spec, files.task(), session.context),
                           made.paths.empty() ? "" : made.paths[i]};
    Explanations& explanations = result.made.explanations;
    describe_aggregate(files, explanations);
    result.complexity = complexity_of(explanations, session.context);
    if (!made.pool_paths.empty()) {
      const Explanations pool = pool_result(arguments, files, spec, result.made, session.context);
      result.pool_out = made.pool_paths[i];
      result.pool_rows = pool.rows();
      for (size_t r = 0; r < pool.rows(); r++) result.pool_undefined += std::isnan(pool.values(r, 0)) ? 1 : 0;
      write_explanations(pool, result.pool_out, session.context);
    }
    if (!result.out.empty()) write_explanations(explanations, result.out, session.context);
    if (session.json) {
      shown.push_back(aggregate_json(result, members));
      continue;
    }
    if (session.quiet && !result.out.empty()) continue;
    if (i > 0) fmt::print(report, "\n");
    print_aggregate(result, members, arguments.show, !session.quiet, report);
    if (session.quiet) continue;
    if (!result.out.empty() && !to_stdout) fmt::print(report, "wrote {}\n", one_line(result.out));
    if (!result.pool_out.empty()) fmt::print(report, "wrote {}, of the pool's rows\n", one_line(result.pool_out));
  }
  const std::vector<std::string> notes = notes_of(made, session.context);
  if (session.json) {
    fmt::print("{{\"results\": [\n{}\n],\n\"notes\": {}}}\n", fmt::join(shown, ",\n"), texts_json(notes));
  } else if (!session.quiet) {
    for (const std::string& note : notes) fmt::print(report, "note: {}\n", one_line(note));
  }
}

// Refuses an option that is given with an empty value. `value` is also empty if it is not given.
void refuse_empty(const CLI::App& command, const char* option, const std::string& value, const char* expected) {
  if (command.count(option) > 0 && value.empty()) fail_input(option, expected, "nothing");
}

}  // namespace

void add_aggregate(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<AggregateArguments>();
  CLI::App* command = app.add_subcommand("aggregate", "One explanation out of several: simpler, or more stable");
  const auto add_list_option = [&](const char* option, std::vector<std::string>& list, const char* meaning) {
    command->add_option(option, list, meaning)->allow_extra_args(false);
  };
  add_list_option(
      "--members", arguments->members,
      "Explanations of the same rows, joined by commas: what `assay explain` wrote, or attributions made elsewhere");
  command
      ->add_option("--aggregator", arguments->aggregator,
                   "One or more of `assay list aggregators`, with options, as in region_shrinking:rounds=10,mean")
      ->required();
  arguments->add_to(*command);
  command->get_option("--pool")->description(
      "Training rows that neighbours, antecedents, mean, median, neutral and pool:N come from: a data set or a file");
  add_list_option("--pool-members", arguments->pool_members,
                  "Explanations of the pool's rows, one file for each of --members (default: made by the same methods "
                  "when needed)");
  add_list_option("--member-names", arguments->names, "What to call the members (default: their methods, or files)");
  command->add_option("--out", arguments->out,
                      "Where to: .npz .csv .tsv .parquet .feather .json; - is CSV on stdout. Of several results each "
                      "gets its aggregator in its name");
  command->add_option("--pool-out", arguments->pool_out,
                      "Where the same aggregate of the pool's rows goes, for `assay evaluate --pool-explanations`");
  command->add_option("--show", arguments->show, "How many rows to show")->check(whole_number, "UINT64");
  command->callback([&session, arguments, command] {
    session.run = [&session, arguments, command] {
      refuse_empty(*command, "--aggregator", arguments->aggregator, "one or more of `assay list aggregators`");
      refuse_empty(*command, "--out", arguments->out, "the name of a file, or -");
      refuse_empty(*command, "--pool-out", arguments->pool_out, "the name of a file");
      split_files("--members", arguments->members);
      split_files("--pool-members", arguments->pool_members);
      split_names("--member-names", arguments->names);
      aggregate_files(*arguments, session);
    };
  });
}

}  // namespace assay::cli
