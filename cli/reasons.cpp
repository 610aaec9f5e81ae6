// assay reasons STUDY|FILE
#include "assay/explain/reasons/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/archive/read_study.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/explain/methods.h"
#include "assay/explain/reasons/approved_background.h"
#include "assay/explain/reasons/reason_texts.h"
#include "assay/explain/reasons/write_reasons.h"
#include "assay/explain/replicates.h"
#include "assay/study/reason_choice.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/reasons_report.h"
#include "cli/recorded_study.h"

namespace assay::cli {
namespace {

constexpr uint64_t kMostTemplateBytes = uint64_t{4} << 20;
constexpr std::string_view kApproved = "approved";

struct ReasonsArguments {
  std::string from;  // a study or a file of explanations
  TableArguments table;
  StudyOverrides where;  // of a study; where.data is table.what
  size_t top = 3;
  bool against = false;
  bool favour = false;
  std::string groups;
  std::vector<std::string> exclude;
  std::string templates;
  std::string background;
  std::string explanation;
  size_t replicates = kUsualReplicates;
  double certain = 0.9;
  bool uncertain = false;
  size_t show = 5;
  std::string out;
  const CLI::App* command = nullptr;

  ReasonDirection direction() const { return favour ? ReasonDirection::favour : ReasonDirection::against; }
};

// Explanations, and what is known of their rows.
struct Explained {
  Explanations explanations;
  std::vector<Explanations> others;  // for agreement
  FeatureColumns columns;            // of each feature
  std::optional<Table> rows;         // in the user's units and words
  KeptDoubles doubles;
  std::optional<Table> encoded_rows;  // the same as the model sees them, decoded; of a study
  std::optional<Table> reference;
  std::vector<std::string> notes;
};

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

// The rows of the table that were explained, by their ids or, without ids, all of them.
std::vector<size_t> explained_rows(const std::string& file, const Explanations& explanations, const Table& table) {
  // Numbers that the program gave; a column of this name in the table holds ids.
  if (explanations.id_name == "row" && table.ids.empty()) {
    std::vector<size_t> rows;
    for (const std::string& id : explanations.ids) {
      size_t number = 0;
      const auto [stop, problem] = std::from_chars(id.data(), id.data() + id.size(), number);
      if (problem != std::errc() || stop != id.data() + id.size() || number == 0 || number > table.rows()) {
        fail_input("--data", fmt::format("the rows of {}, row {} among them", in_quotes(file), in_quotes(id)),
                   fmt::format("{} with {}", in_quotes(table.source), plural(table.rows(), "row")));
      }
      rows.push_back(number - 1);
    }
    return rows;
  }
  std::vector<size_t> all(table.rows());
  std::iota(all.begin(), all.end(), size_t{0});
  // In one order, an id may stand for several rows.
  if (!explanations.ids.empty() && !table.ids.empty() && explanations.ids != table.ids) {
    std::map<std::string, size_t> places;
    for (size_t i = 0; i < table.rows(); i++) {
      if (places.emplace(table.ids[i], i).second) continue;
      fail_input("--data", fmt::format("each id once, or the rows of {} in their order", in_quotes(file)),
                 fmt::format("{} in two rows of {}", in_quotes(table.ids[i]), in_quotes(table.source)));
    }
    std::vector<size_t> rows;
    for (const std::string& id : explanations.ids) {
      const auto found = places.find(id);
      if (found == places.end()) {
        fail_input("--data", fmt::format("the rows of {}, {} among them", in_quotes(file), in_quotes(id)),
                   fmt::format("none of that id in {}", in_quotes(table.source)));
      }
      rows.push_back(found->second);
    }
    return rows;
  }
  if (table.rows() != explanations.rows()) {
    fail_input(
        "--data", fmt::format("the {} that {} explains", plural(explanations.rows(), "row"), in_quotes(file)),
        fmt::format("{} with {} (--split takes a part of it)", in_quotes(table.source), plural(table.rows(), "row")));
  }
  return all;
}

// Row numbers are those of the part of the table that was explained.
void require_same_part(const ReasonsArguments& arguments, const Explanations& found) {
  const std::string& data = found.provenance.data;
  std::string part = data.empty() ? arguments.table.split : "all";
  for (const char* each : {"train", "test"}) {
    if (data.find(fmt::format(" ({} part)", each)) != std::string::npos) part = each;
  }
  if (part == arguments.table.split) return;
  fail_input("--split", fmt::format("{}, for {} is of {}", part, in_quotes(arguments.from), in_quotes(data)),
             arguments.table.split);
}

Explained from_file(const ReasonsArguments& arguments, const Session& session) {
  Explained made;
  made.explanations = read_explanations(arguments.from, session.context);
  made.columns = columns_named_alike(made.explanations.features);
  if (arguments.table.what.empty()) {
    if (!arguments.where.pool.empty()) fail_input("--pool is of no use without --data");
    return made;
  }
  TableArguments reading = arguments.table;
  reading.options.doubles = &made.doubles;
  const Explanations& found = made.explanations;
  const bool own_ids = !found.ids.empty() && !found.id_name.empty();
  Table table = reading.open(session);
  if (own_ids && reading.options.id.empty()) {
    const std::vector<std::string> names = column_names(table);
    if (std::ranges::find(names, found.id_name) != names.end()) {
      reading.options.id = found.id_name;
      table = reading.open(session);
    }
  }
  require_same_part(arguments, found);
  const std::vector<size_t> rows = explained_rows(arguments.from, found, table);
  made.rows = select_rows(table, rows);
  made.doubles.select(rows);
  if (!arguments.where.pool.empty()) {
    TableArguments pool = arguments.table;
    pool.what = arguments.where.pool;
    pool.split = "all";
    pool.options.id.clear();
    pool.options.label.clear();
    made.reference = pool.open(session);
  }
  return made;
}

// What stands for absent features; words other than these are opened with the study.
Reference reference_for(const ReasonsArguments& arguments, const OpenedStudy& opened, const TargetChoice& choice,
                        const Context& context) {
  const Subject subject = opened.subject();
  if (arguments.background.empty()) return reasons_background(*subject.pool, *subject.model, choice, context);
  if (arguments.background == kApproved) {
    return approved_background(*subject.pool, *subject.model, choice, arguments.direction(), context);
  }
  return *subject.reference;
}

// The user's own cells, as they are in the table; nothing if the table cannot be read by itself.
std::optional<Table> own_cells(const RecordedSettings& study, const OpenedStudy& opened, KeptDoubles& doubles) {
  TableArguments reading = study.arguments.rows.table;
  if (reading.split == "all") reading.options.label.clear();
  reading.options.id.clear();
  reading.options.doubles = &doubles;
  const std::vector<size_t>& numbers = opened.rows.numbers;
  Table table = reading.open(study.session);
  if (std::ranges::any_of(numbers, [&](size_t row) { return row >= table.rows(); })) return {};
  doubles.select(numbers);
  return select_rows(table, numbers);
}

Explained from_study(const ReasonsArguments& arguments, const Session& given) {
  FinishedStudy finished = read_study(arguments.from, given.context);
  const Advice& advice = finished.assessment.advice;
  const ReasonChoice chosen = choose_for_reasons(finished.study, advice, arguments.explanation);
  const bool known = arguments.background.empty() || arguments.background == kApproved;
  const RecordedSettings study = read_recorded_settings(arguments.from, arguments.where, given);
  const std::unique_ptr<OpenedStudy> opened = open_recorded_subject(
      arguments.from, study, ReferenceWords{.baseline = {}, .background = known ? "" : arguments.background});
  const Context& context = study.session.context;
  Subject subject = opened->subject();
  const TargetChoice choice = studied_target(subject.model->info(), study.arguments.target);
  const Reference reference = reference_for(arguments, *opened, choice, context);
  subject.reference = &reference;
  const Explanations& recorded = finished.study.entries[chosen.entry].explanations;
  std::string why_not;
  const std::optional<Spec> method = method_behind(recorded, &why_not);
  if (!method) fail_input(arguments.from, "a method that can be run again", why_not);
  if (const auto reason = refusal(*method, explain_task_of(subject))) refuse(*reason);
  Explained made;
  const size_t usual = usual_replicates(subject.rows->rows(), subject.players->size());
  const bool said = arguments.command->count("--replicates") > 0;
  made.explanations = explain_with_replicates(*method, subject, said ? arguments.replicates : usual, context);
  if (made.explanations.features != recorded.features || made.explanations.rows() != recorded.rows()) {
    fail_input(arguments.from, "the rows and features of the study", "others");
  }
  made.notes = {chosen.why, fmt::format("they are against {}", one_line(reference.description))};
  // Against the same rows: agreement is about methods, not about backgrounds.
  for (const Explanations* other : faithful_methods(finished.study, advice)) {
    const std::optional<Spec> again = method_behind(*other);
    if (other == &recorded) {
      made.others.push_back(made.explanations);
    } else if (again && !refusal(*again, explain_task_of(subject))) {
      made.others.push_back(explain(*again, subject, context));
    }
  }
  made.columns = columns_of_players(*subject.players, *subject.rows);
  const Encoder* encoder = opened->rows.model->encoder();
  made.encoded_rows = decoded_table(subject.rows->x.view(), *subject.rows, encoder);
  made.reference = decoded_table(reference.rows.view(), *subject.rows, encoder);
  made.rows = own_cells(study, *opened, made.doubles);
  return made;
}

std::vector<ShownFeature> values_for(const Explained& explained, const ReasonOptions& options) {
  if (!explained.rows && !explained.encoded_rows) return {};
  const FeatureColumns columns =
      options.groups ? grouped_columns(explained.columns, *options.groups) : explained.columns;
  const Table* reference = explained.reference ? &*explained.reference : nullptr;
  if (!explained.encoded_rows) return shown_features(columns, *explained.rows, &explained.doubles, reference);
  std::vector<ShownFeature> shown = shown_features(columns, *explained.encoded_rows, nullptr, reference);
  if (!explained.rows) return shown;
  // Numbers as they are in the user's table: an encoder may have scaled, imputed and rounded them.
  const auto own = shown_features(columns, *explained.rows, &explained.doubles, reference);
  for (size_t j = 0; j < shown.size(); j++) {
    const bool numbers = own[j].known && !own[j].several && !std::isnan(own[j].reference_number);
    if (numbers || (own[j].known && !shown[j].known)) shown[j] = own[j];
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
  const Explained explained = study ? from_study(arguments, session) : from_file(arguments, session);
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
