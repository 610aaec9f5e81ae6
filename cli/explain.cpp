// assay explain --model FILE --data NAME|FILE --method METHOD
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/unseen.h"
#include "assay/explain/io/explanations_json.h"
#include "assay/explain/methods.h"
#include "assay/explain/replicates.h"
#include "assay/explain/spread_background.h"
#include "assay/model/train/recipe.h"
#include "assay/study/sampling.h"
#include "cli/commands.h"
#include "cli/explain_report.h"
#include "cli/model_rows.h"
#include "cli/study_arguments.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

struct ExplainArguments {
  ModelRowsArguments rows;
  std::string method;
  std::string target = "auto";
  std::string value;
  std::string classes;
  std::string pool_sample = "all";
  std::string out;
  size_t show = 10;
  size_t replicates = 0;
};

// Everything that is made before the first method runs.
struct ExplainRun {
  std::vector<Spec> methods;
  ModelRows rows;
  std::vector<Targets> targets;    // one for each result of a method
  std::vector<Reference> spread;   // for --background spread:N: one for each of the targets; else empty
  std::vector<std::string> paths;  // methods x targets; empty without --out
};

// Refuses unknown methods and options before anything is read.
std::vector<Spec> parse_methods(const ExplainArguments& arguments) {
  std::vector<Spec> specs = parse_specs("--method", arguments.method);
  for (const Spec& spec : specs) find_method(spec.name).make(spec);
  return specs;
}

bool needs_reference(const std::vector<Spec>& methods) {
  return std::ranges::any_of(methods, [](const Spec& spec) { return find_method(spec.name).uses_reference; });
}

void check_reference(const ExplainArguments& arguments, const std::vector<Spec>& methods) {
  if (arguments.rows.has_reference() || !needs_reference(methods)) return;
  fail_missing("what stands for absent features is not said", Need::reference);
}

// Of each class or output that is explained.
std::vector<Reference> spread_references(const ExplainArguments& arguments, const ModelRows& rows,
                                         const Context& context) {
  std::vector<TargetChoice> choices = {{.predicted = true}};
  if (arguments.value != "information") choices = parse_target(rows.subject.model->info(), arguments.target);
  std::vector<Reference> made;
  for (const TargetChoice& choice : choices) {
    auto reference = said_spread_background(arguments.rows.reference.background, rows.subject.pool.get(), *rows.model,
                                            choice, context);
    if (reference) made.push_back(std::move(*reference));
  }
  return made;
}

std::vector<Targets> chosen_targets(const ExplainArguments& arguments, const ExplainRun& made, const Context& context) {
  if (arguments.value == "information") {
    if (arguments.target != "auto") {
      fail_input("--target", "none with --value information, which is of all classes", in_quotes(arguments.target));
    }
    return {information_targets(*made.rows.model, made.rows.subject.rows->rows())};
  }
  std::vector<Targets> targets;
  for (const TargetChoice& choice : parse_target(made.rows.subject.model->info(), arguments.target)) {
    targets.push_back(freeze_targets(*made.rows.subject.model, made.rows.subject.rows->x.view(), choice, context));
  }
  return targets;
}

std::vector<std::string> paths_of(const ExplainArguments& arguments, const ExplainRun& made) {
  if (arguments.out.empty()) return {};
  std::vector<std::string> methods;
  for (const Spec& spec : made.methods) methods.push_back(spec.name);
  // A class may be called "all", so the number of targets decides.
  const bool several =
      arguments.value != "information" && parse_target(made.rows.subject.model->info(), arguments.target).size() > 1;
  const std::vector<std::string> targets =
      several ? target_names(made.rows.subject.model->info()) : std::vector<std::string>();
  std::vector<std::string> paths = result_paths(arguments.out, methods, targets);
  for (const std::string& path : paths) {
    check_explanations_output(path);
    arguments.rows.refuse_as_output(path);
  }
  return paths;
}

// Replaces the pool by the sample that a study takes of it. Returns how many rows the whole pool has.
size_t sample_pool(const ExplainArguments& arguments, OwnedSubject& subject, const Context& context) {
  const size_t whole = subject.pool == nullptr ? 0 : subject.pool->rows();
  if (arguments.pool_sample == "all") return whole;
  if (subject.pool == nullptr) fail_missing("--pool-sample: expected a pool to draw from, found none", Need::pool);
  const std::vector<size_t> rows =
      sample_pool_rows({"--pool-sample", arguments.pool_sample}, subject.players.size(), *subject.pool, context.seed);
  if (rows.size() < subject.pool->rows()) subject.pool = std::make_shared<Dataset>(select_rows(*subject.pool, rows));
  return whole;
}

// Refuses replicates that nothing would keep, and that do not fit into memory.
void check_replicates_kept(const ExplainArguments& arguments) {
  if (arguments.replicates == 0) return;
  if (!arguments.out.empty() && arguments.out != "-" && format_extension(arguments.out) == ".npz") return;
  fail_input("--replicates", "--out with a name that ends in .npz, which alone keeps them",
             arguments.out.empty() ? "none" : in_quotes(arguments.out));
}

ExplainRun prepare_explain(const ExplainArguments& arguments, const Session& session) {
  ExplainRun made;
  made.methods = parse_methods(arguments);
  check_reference(arguments, made.methods);
  if (!arguments.out.empty()) check_explanations_output(arguments.out);
  check_replicates_kept(arguments);
  ModelRowsWanted wanted{unit_of(arguments.value), needs_reference(made.methods)};
  // A sample has the classes' shares, so labels must be read as a study reads them.
  wanted.name_classes = arguments.pool_sample != "all";
  wanted.classes = class_names_from(arguments.classes);
  made.rows = open_model_rows(arguments.rows, wanted, session);
  made.paths = paths_of(arguments, made);
  choose_groups(arguments.rows.groups, made.rows.subject, session.context);
  check_replicates(arguments.replicates, made.rows.subject.rows->rows(), made.rows.subject.players.size());
  const size_t whole_pool = sample_pool(arguments, made.rows.subject, session.context);
  made.targets = chosen_targets(arguments, made, session.context);
  made.spread = spread_references(arguments, made.rows, session.context);
  // Rows of a sample stand for the whole pool.
  for (Reference& reference : made.spread) {
    if (whole_pool > made.rows.subject.pool->rows()) reference.drawn_from = whole_pool;
  }
  return made;
}

// Adds the notes that only the program knows.
void describe_run(const ExplainArguments& arguments, const ExplainRun& made, Explanations& result) {
  const ModelInfo& info = made.rows.model->info();
  // Without margins something else is explained: the note says so.
  if (arguments.value.empty() && info.unit != OutputUnit::margin && !info.note.empty())
    result.notes.push_back(info.note);
  if (takes_unknown(made.rows.model->graph().metadata())) {
    for (std::string& note : unknown_in_words(*made.rows.subject.rows, 0)) result.notes.push_back(std::move(note));
  }
}

void explain_rows(const ExplainArguments& arguments, const Session& session) {
  const ExplainRun made = prepare_explain(arguments, session);
  const auto subject_for = [&](const Targets& targets) {
    Subject subject = made.rows.subject.view();
    subject.targets = &targets;
    if (!made.spread.empty()) subject.reference = &made.spread[static_cast<size_t>(&targets - made.targets.data())];
    return subject;
  };
  for (const Spec& spec : made.methods) {
    for (const Targets& targets : made.targets) {
      if (const auto reason = refusal(spec, explain_task_of(subject_for(targets)))) refuse(*reason);
    }
  }
  const bool to_file = !arguments.out.empty();
  FILE* report = arguments.out == "-" ? stderr : stdout;
  std::vector<std::string> results;
  for (const Spec& spec : made.methods) {
    for (const Targets& targets : made.targets) {
      Explanations result = explain_with_replicates(spec, subject_for(targets), arguments.replicates, session.context);
      describe_run(arguments, made, result);
      const std::string path = to_file ? made.paths[results.size()] : "";
      if (to_file) write_explanations(result, path, session.context);
      results.emplace_back();
      if (session.json && arguments.out != "-") {
        results.back() = to_file ? summary_json(result, path) : explanations_json("standard output", result);
      } else if (!session.quiet || !to_file) {
        if (results.size() > 1) fmt::print(report, "\n");
        print_explanations(result, arguments.show, report);
        if (to_file && arguments.out != "-") fmt::print(report, "wrote {}\n", one_line(path));
      }
    }
  }
  if (session.json && arguments.out != "-") fmt::print("{{\"results\": [\n{}\n]}}\n", fmt::join(results, ",\n"));
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "What each feature adds to the predictions for the rows of a table");
  arguments->rows.add_to(*command, true);
  command
      ->add_option("--method", arguments->method,
                   "One or more of `assay list methods`, with options, as in kernel_shap:samples=2048,deeplift")
      ->required();
  command->add_option("--target", arguments->target,
                      "auto, predicted, a class or output by name or index, or all (one result for each)");
  command
      ->add_option("--value", arguments->value,
                   "What is explained: margin, probability, log_odds, or information (of all classes)")
      ->check(CLI::IsMember({"margin", "probability", "log_odds", "information"}));
  command
      ->add_option("--classes", arguments->classes,
                   "Names of the model's classes, in its order, as in good,bad; a name with a comma in double quotes")
      ->multi_option_policy(CLI::MultiOptionPolicy::Join);  // by line feeds
  command->add_option("--pool-sample", arguments->pool_sample,
                      "How many rows of the pool a background is drawn from, in the classes' shares, as a study takes "
                      "them; all by default");
  command->add_option("--out", arguments->out,
                      "Where to: .npz .csv .tsv .parquet .feather .json; - is CSV on stdout. Of several results each "
                      "gets its method and class in its name");
  command
      ->add_option("--replicates", arguments->replicates,
                   "How many times to keep what the values might be with another draw of background rows and of what "
                   "the method samples: `assay reasons` says from them how sure a reason is (1000 is usual; .npz only)")
      ->check(whole_number, "UINT64");
  command->add_option("--show", arguments->show, "How many rows to show")->check(whole_number, "UINT64");
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { explain_rows(*arguments, session); }; });
}

}  // namespace assay::cli
