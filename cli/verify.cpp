// assay verify STUDY
#include "assay/archive/verify.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "assay/archive/manifest.h"
#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/table_text.h"
#include "cli/commands.h"
#include "cli/report_parts.h"
#include "cli/study_rerun.h"
#include "cli/temporary_folder.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyArguments {
  std::string study;
  StudyOverrides where;
  bool files_only = false;
};

// Whether the input is a file that must still exist. Built-in data sets ("data (rows)") are not files, and a trained
// model ("model (trained)") is an output: both are checked by running the study again.
bool is_file_input(const StudyInput& input) { return !input.sha256.empty() && !input.role.ends_with(')'); }

std::vector<std::string> input_problems(const Manifest& manifest, const StudyOverrides& where, const Context& context) {
  std::vector<std::string> problems;
  for (const StudyInput& input : manifest.inputs) {
    if (!is_file_input(input)) continue;
    const std::string& moved = input.role == "model"  ? where.model
                               : input.role == "data" ? where.data
                               : input.role == "pool" ? where.pool
                                                      : std::string();
    const std::string& path = moved.empty() ? input.name : moved;
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
      const bool may_move = input.role == "model" || input.role == "data" || input.role == "pool";
      problems.push_back(fmt::format("the {}, {}, is not there{}", one_line(input.role), in_quotes(path),
                                     may_move ? fmt::format(": --{} says where it is now", input.role) : ""));
      continue;
    }
    const std::string found = file_sha256(path, context);
    if (found == input.sha256) continue;
    problems.push_back(fmt::format("the {}, {}, has changed: expected sha256 {}, found {}", one_line(input.role),
                                   in_quotes(path), input.sha256, found));
  }
  return problems;
}

struct Verified {
  std::vector<std::string> problems;
  std::string result;  // one line
  size_t files = 0;    // how many agree
  bool again = false;  // whether the study was run again
  bool exact = true;
};

Verified verify(const VerifyArguments& arguments, const Session& session) {
  const Manifest manifest = read_manifest(arguments.study, session.context);
  Verified made;
  made.problems = manifest_problems(arguments.study, manifest, session.context);
  for (std::string& each : input_problems(manifest, arguments.where, session.context)) {
    made.problems.push_back(std::move(each));
  }
  // Damaged files are reported, and not read.
  if (made.problems.empty()) made.problems = maker_problems(arguments.study, session.context);
  if (!made.problems.empty()) {
    made.result = fmt::format("not verified: {} with the files; the study was not run again",
                              plural(made.problems.size(), "problem"));
    return made;
  }
  made.files = manifest.outputs.size();
  if (arguments.files_only) {
    made.result = fmt::format("{} and all inputs are as the manifest says; the study was not run again",
                              plural(made.files, "file"));
    return made;
  }
  // Beside the study: a disk that holds one study should have room for another.
  const TemporaryFolder folder(arguments.study, "verify");
  rerun_study(arguments.study, folder.path(), arguments.where, session);
  const FolderComparison compared = compare_study_folders(arguments.study, folder.path(), session.context);
  made.again = true;
  made.exact = compared.exact;
  made.files = compared.same.size();
  made.problems = compared.different;
  if (!made.problems.empty()) {
    made.result = fmt::format("not verified: {} of {} came out different", with_commas(made.problems.size()),
                              plural(compared.files, "file"));
  } else if (made.exact) {
    made.result = fmt::format("verified: {} are the same, bit for bit", plural(made.files, "file"));
  } else {
    made.result = fmt::format("verified: {} are the same within the tolerances", plural(made.files, "file"));
  }
  if (!made.exact) made.result = fmt::format("{}\n{}", compared.why_not_exact, made.result);
  return made;
}

void print_verified(const Verified& verified, const Session& session) {
  if (!session.json) {
    for (const std::string& problem : verified.problems) fmt::print("{}\n", one_line(problem));
    fmt::print("{}\n", verified.result);
    return;
  }
  fmt::print("{}\n", dumped({{"verified", verified.problems.empty()},
                             {"run_again", verified.again},
                             {"exact", verified.exact},
                             {"files", verified.files},
                             {"problems", verified.problems},
                             {"result", verified.result}}));
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand(
      "verify", "Whether a study's files are as they were written and come out the same again; exits with 3 if not");
  command->add_option("study", arguments->study, "The folder of a study")->required();
  command->add_option("--model", arguments->where.model, "Where the model is now, if not where it was");
  command->add_option("--data", arguments->where.data, "Where the rows are now");
  command->add_option("--pool", arguments->where.pool, "Where the training rows are now");
  command->add_flag("--files-only", arguments->files_only, "Check the files alone; do not run the study again");
  command->callback([&session, arguments] {
    session.run = [&session, arguments] {
      const Verified verified = verify(*arguments, session);
      print_verified(verified, session);
      if (!verified.problems.empty()) session.status = kNotPassed;
    };
  });
}

}  // namespace assay::cli
