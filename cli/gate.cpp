// assay gate STUDY RULES
#include "assay/archive/gate.h"

#include <fmt/format.h>

#include <memory>

#include "assay/archive/study_folder.h"
#include "assay/data/io/bytes.h"
#include "assay/report/gate_text.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

constexpr uint64_t kMostRulesBytes = uint64_t{4} << 20;

struct GateArguments {
  std::string study;
  std::string rules;
};

void gate(const GateArguments& arguments, Session& session) {
  const auto source = open_bytes(arguments.rules, session.context);
  const std::vector<GateRule> rules = gate_rules_from_json(arguments.rules, read_all(*source, kMostRulesBytes));
  const StudyFolder study = open_study_folder(arguments.study, session.context);
  const std::vector<GateOutcome> outcomes = run_gate(arguments.rules, rules, study.summary);
  if (session.json) {
    fmt::print("{}\n", gate_json(outcomes, study.summary));
  } else {
    fmt::print("{}", gate_text(outcomes, study.summary));
  }
  if (!all_passed(outcomes)) session.status = kNotPassed;
}

}  // namespace

void add_gate(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<GateArguments>();
  CLI::App* command = app.add_subcommand(
      "gate", "Whether the scores of a study keep the bounds of a file of rules; exits with 3 if not");
  command->add_option("study", arguments->study, "The folder of a study")->required();
  command->add_option("rules", arguments->rules, "A file of rules (JSON, see docs/continuous-integration.md)")
      ->required();
  command->callback([&session, arguments] { session.run = [&session, arguments] { gate(*arguments, session); }; });
}

}  // namespace assay::cli
