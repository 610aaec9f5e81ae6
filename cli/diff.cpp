// assay diff BEFORE AFTER
#include "assay/archive/diff.h"

#include <fmt/format.h>

#include <memory>

#include "assay/archive/study_folder.h"
#include "assay/core/error.h"
#include "assay/report/diff_text.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  bool all = false;
  bool fail_on_worse = false;
};

void diff(const DiffArguments& arguments, Session& session) {
  const StudyFolder before = open_study_folder(arguments.before, session.context);
  const StudyFolder after = open_study_folder(arguments.after, session.context);
  const StudyDiff found = diff_studies(before, after, session.context);
  if (session.json) {
    fmt::print("{}\n", diff_json(found));
  } else {
    fmt::print("{}", diff_text(found, arguments.all));
  }
  if (!arguments.fail_on_worse) return;
  if (something_worse(found)) {
    session.status = kNotPassed;
  } else if (something_untested(found)) {
    // Passing would say that nothing became worse, which is not known.
    fail_input("--fail-on-worse", "two studies against the same background rows, as --background pool:100 gives them",
               "background rows that each study drew for itself, so that nothing is tested");
  }
}

}  // namespace

void add_diff(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command = app.add_subcommand("diff", "What changed between two studies, with significance");
  command->add_option("before", arguments->before, "The folder of a study")->required();
  command->add_option("after", arguments->after, "The folder of the study to hold against it")->required();
  command->add_flag("--all", arguments->all, "Show scores that did not change, too");
  command->add_flag("--fail-on-worse", arguments->fail_on_worse,
                    "Exit with 3 when a score is significantly worse, or undefined where it was not");
  command->callback([&session, arguments] { session.run = [&session, arguments] { diff(*arguments, session); }; });
}

}  // namespace assay::cli
