#include "cli/reasons_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <numeric>

#include "assay/archive/read_study.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/explain/methods.h"
#include "assay/explain/reasons/approved_background.h"
#include "assay/model/text_columns.h"
#include "assay/study/reason_choice.h"

namespace assay::cli {
namespace {

constexpr std::string_view kApproved = "approved";

// The rows of the table that were explained, by their ids or, without ids, all of them.
std::vector<size_t> explained_rows(const std::string& file, const Explanations& explanations, const Table& table) {
  if (explanations.row_numbers) {
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
  // By position, one row's reasons would have another row's values if the orders differ.
  if (!explanations.ids.empty() && table.ids.empty()) {
    fail_input("--id",
               fmt::format("the column of {} with the ids of {}, such as {}", in_quotes(table.source), in_quotes(file),
                           in_quotes(explanations.ids[0])),
               "none");
  }
  if (std::ranges::find(explanations.features, table.id_name) != explanations.features.end()) {
    fail_input(file, fmt::format("attributions without the column {}, which names rows", in_quotes(table.id_name)),
               "it among the features");
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
  const Provenance& from = found.provenance;
  if (from.part.empty() || from.part == arguments.table.split) return;
  fail_input("--split", fmt::format("{}, for {} is of {}", from.part, in_quotes(arguments.from), in_quotes(from.data)),
             arguments.table.split);
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
  declare_used_columns(columns_by_name(*opened.rows.model), reading.options);
  const std::vector<size_t>& numbers = opened.rows.numbers;
  Table table = reading.open(study.session);
  if (std::ranges::any_of(numbers, [&](size_t row) { return row >= table.rows(); })) return {};
  doubles.select(numbers);
  return select_rows(table, numbers);
}

}  // namespace

bool has_named_column(const Table& table, std::string_view name) {
  return std::ranges::find(table.columns, name, &Column::name) != table.columns.end();
}

Explained explained_in_file(const ReasonsArguments& arguments, const Session& session) {
  Explained made;
  made.explanations = read_explanations(arguments.from, session.context);
  made.columns = columns_of(made.explanations);
  if (arguments.table.what.empty()) {
    if (!arguments.where.pool.empty()) fail_input("--pool is of no use without --data");
    return made;
  }
  TableArguments reading = arguments.table;
  reading.options.doubles = &made.doubles;
  std::vector<std::string> shown;
  for (const std::vector<std::string>& behind : made.columns) shown.insert(shown.end(), behind.begin(), behind.end());
  shown.push_back(made.explanations.id_name);
  declare_used_columns(shown, reading.options);
  Explanations& found = made.explanations;
  // A table of explanations does not say whether its column "row" was the user's, or has numbers that Assay gave.
  const bool untold = found.row_numbers && found.provenance.version.empty();
  if (untold && reading.options.id == kRowNumbers) found.row_numbers = false;
  const bool own_ids = !found.ids.empty() && !found.id_name.empty() && !found.row_numbers;
  Table table = reading.open(session);
  if (untold && reading.options.id.empty() && has_named_column(table, kRowNumbers)) {
    fail_input("--id",
               fmt::format("row, if that column of {} holds the ids of {}; explanations in .npz say it themselves",
                           in_quotes(table.source), in_quotes(arguments.from)),
               "nothing");
  }
  if (own_ids && reading.options.id.empty()) {
    if (has_named_column(table, found.id_name)) {
      reading.options.id = found.id_name;
      table = reading.open(session);
    }
  }
  require_same_part(arguments, found);
  const std::vector<size_t> rows = explained_rows(arguments.from, found, table);
  made.rows = select_rows(table, rows);
  made.columns = columns_named_alike(std::move(made.columns), table);
  made.doubles.select(rows);
  if (!arguments.where.pool.empty()) {
    TableArguments pool = arguments.table;
    pool.options.used = reading.options.used;
    pool.what = arguments.where.pool;
    pool.split = "all";
    pool.options.id.clear();
    pool.options.label.clear();
    made.reference = pool.open(session);
  }
  return made;
}

Explained explained_by_study(const ReasonsArguments& arguments, const Session& given) {
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
  made.encoded_rows = decoded_table(*subject.rows, encoder);
  made.reference = decoded_table(reference.rows.view(), *subject.rows, encoder);
  made.rows = own_cells(study, *opened, made.doubles);
  return made;
}

}  // namespace assay::cli
