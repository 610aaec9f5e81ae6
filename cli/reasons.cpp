// assay reasons STUDY|FILE
#include "assay/explain/reasons/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/explain/reasons/reason_texts.h"
#include "assay/explain/reasons/write_reasons.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/reasons_report.h"
#include "cli/reasons_source.h"

namespace assay::cli {
namespace {

constexpr uint64_t kMostTemplateBytes = uint64_t{4} << 20;

bool is_study(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

void check_useful(const ReasonsArguments& arguments, bool study) {
  constexpr std::array<const char*, 4> kOfStudies = {"--model", "--background", "--explanation", "--replicates"};
  constexpr std::array<const char*, 10> kOfFiles = {"--split",       "--label",     "--id",     "--numeric",
                                                    "--categorical", "--delimiter", "--header", "--names",
                                                    "--skip-lines",  "--missing"};
  const auto refuse_given = [&](const auto& options, std::string_view what) {
    for (const char* option : options) {
      if (arguments.command->count(option) > 0) fail_input(fmt::format("{} is of no use for {}", option, what));
    }
  };
  if (study) return refuse_given(kOfFiles, "a study, which says itself how its tables are read");
  refuse_given(kOfStudies, "a file of explanations, which are taken as they are");
}

bool is_number(const ShownFeature& shown) {
  return std::ranges::any_of(shown.numbers, [](double number) { return !std::isnan(number); });
}

std::vector<ShownFeature> values_for(const Explained& explained, const ReasonOptions& options) {
  if (!explained.rows && !explained.encoded_rows) return {};
  const FeatureColumns columns =
      options.groups ? grouped_columns(explained.columns, *options.groups) : explained.columns;
  const Table* reference = explained.reference ? &*explained.reference : nullptr;
  if (!explained.encoded_rows) return shown_features(columns, *explained.rows, &explained.doubles, reference);
  std::vector<ShownFeature> shown = shown_features(columns, *explained.encoded_rows, nullptr, reference);
  if (!explained.rows) return shown;
  // As it is in the user's table, if it is of the same kind there: an encoder may have scaled, imputed and rounded
  // numbers, and it calls a level that training did not have "unknown".
  const auto own = shown_features(columns, *explained.rows, &explained.doubles, reference);
  const auto in_table = [&](const std::string& name) { return has_named_column(*explained.rows, name); };
  for (size_t j = 0; j < shown.size(); j++) {
    if (!std::ranges::all_of(columns[j], in_table)) continue;
    if (!own[j].known) continue;
    if (!shown[j].known || is_number(own[j]) == is_number(shown[j])) shown[j] = own[j];
  }
  return shown;
}

void keep_uncertain(Reasons& reasons, double level) {
  if (!reasons.certainty_known) {
    fail_input("--uncertain: certainty is not known, so that no row is known to be uncertain");
  }
  const std::vector<size_t> rows = uncertain_rows(reasons, level);
  std::erase_if(reasons.list, [&](const Reason& each) { return !std::ranges::binary_search(rows, each.row); });
}

std::string heading_of(const Reasons& reasons, const Explanations& made) {
  const Provenance& from = made.provenance;
  const std::string target = from.target.empty() ? "" : fmt::format(" {}", from.target);
  const std::string model = from.model.empty() ? "" : fmt::format(", {} of {}", from.unit, from.model);
  const std::string reference = from.reference.empty() ? "" : fmt::format("; reference {}", from.reference);
  return fmt::format("reasons {}{}: {}{}; {} and {}{}", direction_name(reasons.direction), target,
                     from.method.empty() ? "attributions" : from.method, model, plural(reasons.rows, "row"),
                     plural(reasons.features.size(), "feature"), reference);
}

void check_reasons(ReasonsArguments& arguments, const Session& session, bool study) {
  std::error_code ignored;
  if (arguments.from != "-" && !std::filesystem::exists(arguments.from, ignored)) {
    fail_input(arguments.from, "the folder of a study, or a file of explanations", "nothing");
  }
  check_useful(arguments, study);
  split_names("--exclude", arguments.exclude);
  if (arguments.out.empty()) return;
  if (study && arguments.out != "-") require_outside("--out", arguments.out, arguments.from);
  refuse_json_and_table(arguments.out, session);
  check_reasons_output(arguments.out);
  for (const std::string& input : {arguments.from, arguments.table.what, arguments.groups, arguments.templates,
                                   arguments.where.model, arguments.where.pool, arguments.background}) {
    refuse_same_file("--out", arguments.out, input);
  }
}

void reasons(ReasonsArguments arguments, const Session& session) {
  const bool study = is_study(arguments.from);
  check_reasons(arguments, session, study);
  const auto text_of = [&](const std::string& path) {
    return path.empty() ? std::string() : read_all(*open_bytes(path, session.context), kMostTemplateBytes);
  };
  // Both are read before any work.
  const std::string groups = text_of(arguments.groups);
  const std::string templates = text_of(arguments.templates);
  arguments.where.data = arguments.table.what;
  const Explained explained = study ? explained_by_study(arguments, session) : explained_in_file(arguments, session);
  ReasonOptions options{.top = arguments.top, .direction = arguments.direction(), .exclude = arguments.exclude};
  const Explanations& made = explained.explanations;
  if (!arguments.groups.empty()) options.groups = players_from_json(arguments.groups, groups, made.features);
  const ReasonTemplates texts =
      arguments.templates.empty() ? ReasonTemplates()
                                  : ReasonTemplates::from_json(arguments.templates, templates,
                                                               options.groups ? options.groups->names : made.features);
  std::vector<const Explanations*> others;
  for (const Explanations& other : explained.others) others.push_back(&other);
  Reasons found = find_reasons(made, others, options, session.context);
  add_texts(found, values_for(explained, options), texts);
  found.notes.insert(found.notes.begin(), explained.notes.begin(), explained.notes.end());
  if (arguments.uncertain) keep_uncertain(found, arguments.certain);
  if (!arguments.out.empty()) write_reasons(found, arguments.out, session.context);
  if (session.json && arguments.out.empty()) {
    fmt::print("{}\n", reasons_json("standard output", found));
  } else if (session.json) {
    fmt::print("{}", reasons_summary_json(found, arguments.certain, arguments.out));
  } else if (!session.quiet || arguments.out.empty()) {
    FILE* const to = arguments.out == "-" ? stderr : stdout;
    print_reasons(found, heading_of(found, made), arguments.show, arguments.certain, to);
    if (!arguments.out.empty() && arguments.out != "-") fmt::print(to, "wrote {}\n", one_line(arguments.out));
  }
}

}  // namespace

void add_reasons(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReasonsArguments>();
  CLI::App* command = app.add_subcommand(
      "reasons", "For each row the features that speak most against (or for) the decision, and how sure that is");
  arguments->command = command;
  command->add_option("from", arguments->from, "The folder of a study, or a file of `assay explain`")->required();
  arguments->table.add_to(*command, "--data", false);
  command->get_option("--data")->description(
      "The explained rows, whose cells are the values of reasons; for a study: where its rows are now");
  command->add_option("--top", arguments->top, "How many reasons for a row (default: 3)")
      ->check(positive_whole_number, "UINT64");
  auto* against =
      command->add_flag("--against", arguments->against, "Features that lower what is explained (the default)");
  command->add_flag("--for", arguments->favour, "Features that raise it")->excludes(against);
  command->add_option("--groups", arguments->groups,
                      "A JSON file {\"credit history\": [\"column\", ...]}: features that make one reason");
  command
      ->add_option("--exclude", arguments->exclude,
                   "Features that are never named, as in age,sex; the column withheld says where they would have been")
      ->allow_extra_args(false);
  command->add_option("--template", arguments->templates, "A JSON file of sentences (see docs/reasons.md)");
  command->add_option("--background", arguments->background,
                      "Of a study: what rows are compared with: approved (rows of the pool that the model accepts), "
                      "pool:100, spread:100 or a file (default: the pool, up to 1,000 rows of it)");
  command->add_option("--explanation", arguments->explanation,
                      "Of a study: the method to use (default: what the study recommends)");
  command
      ->add_option("--replicates", arguments->replicates,
                   "Of a study: how many replicates certainty is counted over (default: 1000)")
      ->check(positive_whole_number, "UINT64");
  command->add_option("--model", arguments->where.model, "Of a study: where the model is now, if not where it was");
  command->add_option("--pool", arguments->where.pool,
                      "Where the training rows of a study are now; for a file: rows whose means and most frequent "
                      "levels are the {reference} of sentences");
  command
      ->add_option("--certain", arguments->certain,
                   "Below this certainty a reason counts as not certain (default: 0.9)")
      ->check(share_of_one, "0 to 1");
  command->add_flag("--uncertain", arguments->uncertain, "Only the rows with a reason that is not certain");
  command->add_option("--show", arguments->show, "How many rows to show (default: 5)")->check(whole_number, "UINT64");
  command->add_option("--out", arguments->out,
                      "Where to: .csv .tsv .parquet .feather .json; - is CSV on standard output");
  command->callback([&session, arguments] { session.run = [&session, arguments] { reasons(*arguments, session); }; });
}

}  // namespace assay::cli
