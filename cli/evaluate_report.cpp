#include "cli/evaluate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/text.h"
#include "cli/report_parts.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

// Never 100 % while a row is missing, nor 0 % while one is there.
std::string percent(double share) {
  const double hundredths = std::round(share * 10'000) / 100;
  return fmt::format("{:.4g} %", share > 0 && share < 1 ? std::clamp(hundredths, 0.01, 99.99) : hundredths);
}

std::string interval_text(const Interval& interval) {
  if (std::isnan(interval.low) || std::isnan(interval.high)) return "-";
  return fmt::format("{} to {}", number_text(interval.low), number_text(interval.high));
}

std::string_view unit_of_values(const Scores& scores) { return scores.of_rows ? "row" : "run"; }

std::string subject_heading(const EvaluatedFile& subject) {
  const Explanations& found = subject.explanations;
  const Provenance& made = found.provenance;
  const std::string size = fmt::format("{}, {}", plural(found.rows(), "row"), plural(found.players(), "player"));
  if (made.method.empty()) return fmt::format("{}: {}", one_line(subject.file), size);
  return fmt::format("{}: {}, {} of {}; {}", one_line(subject.file), short_name(made.method), short_name(made.unit),
                     short_name(made.model), size);
}

void print_remarks(const std::vector<const FileScores*>& evaluations, FILE* to) {
  uint64_t runs = 0;
  for (const FileScores* each : evaluations) {
    const Scores& scores = each->scores;
    runs += scores.evaluations;
    for (const Undefined& undefined : scores.undefined) {
      fmt::print(to, "{}: {} of {} undefined: {}\n", each->criterion, with_commas(undefined.rows),
                 plural(scores.values.size(), unit_of_values(scores)), one_line(undefined.reason));
    }
    for (const std::string& note : scores.notes) fmt::print(to, "{}: {}\n", each->criterion, one_line(note));
  }
  const EvaluatedFile& subject = *evaluations[0]->subject;
  for (const std::string& note : subject.notes) fmt::print(to, "note: {}\n", one_line(note));
  const size_t explained = subject.pool_explanations ? subject.pool_explanations->explained() : 0;
  if (runs > 0) fmt::print(to, "{}", plural(runs, "model evaluation"));
  if (explained > 0) {
    fmt::print(to, "{}{} of the pool explained by {}", runs > 0 ? "; " : "", plural(explained, "row"),
               subject.method->name);
  }
  if (runs > 0 || explained > 0) fmt::print(to, "\n");
  for (const FileScores* each : evaluations) print_tables(each->criterion, each->scores.tables, to);
}

Json score_json(const FileScores& evaluation) {
  const Scores& scores = evaluation.scores;
  Json made = {{"criterion", scores.criterion},
               {"explanations", evaluation.subject->file},
               {"options", options_json(scores.options)},
               {"mean", number(scores.mean)},
               {"stderr", number(scores.mean_error)},
               {"interval", {number(scores.interval.low), number(scores.interval.high)}},
               {"coverage", scores.coverage},
               {"direction", direction_name(scores.direction)},
               {"per", unit_of_values(scores)},
               {"dependent", scores.dependent},
               {"evaluations", scores.evaluations},
               {"undefined", undefined_json(scores.undefined)},
               {"notes", scores.notes},
               {"tables", tables_json(scores.tables)},
               {"values", numbers(scores.values)}};
  if (!scores.standard_error.empty()) made["values_stderr"] = numbers(scores.standard_error);
  return made;
}

Json subject_json(const EvaluatedFile& subject) {
  const Explanations& found = subject.explanations;
  const size_t explained = subject.pool_explanations ? subject.pool_explanations->explained() : 0;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"file", subject.file},
          {"method", text_or_null(found.provenance.method)},
          {"rows", found.rows()},
          {"players", found.features},
          {"reference", !subject.has_model() ? Json() : text_or_null(subject.subject.reference.description)},
          {"pool_rows_explained", explained},
          {"notes", subject.notes}};
}

std::vector<const EvaluatedFile*> subjects_of(const std::vector<FileScores>& evaluations) {
  std::vector<const EvaluatedFile*> subjects;
  for (const FileScores& each : evaluations) {
    if (subjects.empty() || subjects.back() != each.subject) subjects.push_back(each.subject);
  }
  return subjects;
}

}  // namespace

void print_evaluations(const std::vector<FileScores>& evaluations, bool remarks, FILE* to) {
  for (const EvaluatedFile* subject : subjects_of(evaluations)) {
    if (subject != evaluations[0].subject) fmt::print(to, "\n");
    fmt::print(to, "{}\n", subject_heading(*subject));
    std::vector<std::vector<std::string>> lines = {
        {"criterion", "mean", "stderr", "95 % interval", "coverage", "of", "better"}};
    std::vector<const FileScores*> own;
    for (const FileScores& each : evaluations) {
      if (each.subject != subject) continue;
      own.push_back(&each);
      const Scores& scores = each.scores;
      const bool judges = scores.direction != Direction::neither;
      lines.push_back({one_line(each.criterion), number_text(scores.mean), number_text(scores.mean_error),
                       interval_text(scores.interval), percent(scores.coverage),
                       plural(scores.values.size(), unit_of_values(scores)),
                       judges ? std::string(direction_name(scores.direction)) : "-"});
    }
    fmt::print(to, "{}", aligned(lines, {0, 6}));
    if (remarks) print_remarks(own, to);
  }
}

std::string evaluations_json(const std::vector<FileScores>& evaluations, const std::vector<std::string>& notes) {
  std::vector<std::string> subjects;
  for (const EvaluatedFile* subject : subjects_of(evaluations)) subjects.push_back(dumped(subject_json(*subject)));
  std::vector<std::string> scores;
  for (const FileScores& each : evaluations) scores.push_back(dumped(score_json(each)));
  return fmt::format("{{\"explanations\": [\n{}\n],\n\"scores\": [\n{}\n],\n\"notes\": {}}}",
                     fmt::join(subjects, ",\n"), fmt::join(scores, ",\n"), texts_json(notes));
}

Table evaluations_table(const std::vector<FileScores>& evaluations) {
  const EvaluatedFile& first = *evaluations.at(0).subject;
  const bool several = subjects_of(evaluations).size() > 1;
  Table table;
  table.source = "scores";
  const bool named = !first.explanations.ids.empty() || !first.has_model();
  table.ids = named ? first.explanations.ids : first.subject.rows->ids;
  table.id_name = named ? first.explanations.id_name : first.subject.rows->id_name;
  std::vector<const std::vector<double>*> columns;
  for (const FileScores& each : evaluations) {
    const Scores& scores = each.scores;
    if (!scores.of_rows) continue;
    const std::string name = several ? fmt::format("{} ({})", each.criterion, each.subject->file) : each.criterion;
    table.columns.push_back({name});
    columns.push_back(&scores.values);
    if (scores.standard_error.empty()) continue;
    table.columns.push_back({fmt::format("{} (stderr)", name)});
    columns.push_back(&scores.standard_error);
  }
  table.values = Matrix(first.explanations.rows(), columns.size());
  for (size_t c = 0; c < columns.size(); c++) {
    for (size_t r = 0; r < table.rows(); r++) table.values(r, c) = static_cast<float>((*columns[c])[r]);
  }
  return table;
}

}  // namespace assay::cli
