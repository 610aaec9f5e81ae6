// assay report STUDY
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/archive/study_files.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/report/report_html.h"
#include "cli/commands.h"
#include "cli/recorded_study.h"
#include "cli/report_parts.h"

namespace assay::cli {
namespace {

struct ReportArguments {
  std::string study;
  std::string explanation;
  bool summary = false;
  bool no_cells = false;
  std::string out;
  bool overwrite = false;
  StudyOverrides where;
};

size_t entry_called(const std::string& name, const Study& study) {
  std::vector<std::string> names;
  for (const StudyEntry& entry : study.entries) names.push_back(entry.name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    std::vector<std::string> shown;
    for (const std::string& each : names) shown.push_back(short_name(each));
    fail_input("--explanation", fmt::format("one of the study's: {}", joined(shown, "or")),
               fmt::format("{}{}", in_quotes(name), suggestion(name, names)));
  }
  return static_cast<size_t>(found - names.begin());
}

void report(const ReportArguments& given, const Session& session) {
  const std::string out = !given.out.empty() ? given.out : given.summary ? "summary.html" : "report.html";
  require_outside("--out", out, given.study);
  if (is_there(out) && !given.overwrite) {
    fail_input("--out", "a file that is not there yet, or --overwrite", in_quotes(out));
  }
  const RecordedStudy opened = open_recorded_study(given.study, given.where, session);
  ReportOptions options;
  options.cells = !given.no_cells && !opened.recorded.arguments.no_cells;
  options.summary = given.summary;
  if (!given.explanation.empty()) options.opened = entry_called(given.explanation, opened.finished.study);
  const std::string page = report_page(opened.finished, opened.subject(), options, session.context);
  write_whole(out, page, session.context);
  if (session.json) {
    fmt::print("{}\n", dumped({{"wrote", out}, {"bytes", page.size()}}));
  } else if (!session.quiet) {
    fmt::print("wrote {}\n", one_line(out));
  }
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Write the page of a finished study again: on another explanation, or its summary of two pages");
  command->add_option("study", arguments->study, "The folder of a study")->required();
  command->add_option("--explanation", arguments->explanation,
                      "Open the page on this explanation of the study, in place of the recommended one");
  command->add_flag("--summary", arguments->summary, "Only the summary, two pages when printed");
  command->add_flag("--no-cells", arguments->no_cells, "Keep values of rows out of the page");
  command->add_option("--out", arguments->out, "The file to write (default: report.html, or summary.html)");
  command->add_flag("--overwrite", arguments->overwrite, "Replace the file if it is there");
  command->add_option("--model", arguments->where.model, "Where the model is now, if not where it was");
  command->add_option("--data", arguments->where.data, "Where the rows are now");
  command->add_option("--pool", arguments->where.pool, "Where the training rows are now");
  command->callback([&session, arguments] { session.run = [&session, arguments] { report(*arguments, session); }; });
}

}  // namespace assay::cli
