// assay reproduce faithfulness|sensitivity|ava|mnist|all
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/version.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/report/reproduction_text.h"
#include "assay/study/reproduce/reproduction.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

struct ReproduceArguments {
  std::string name;
  bool quick = false;
  std::string sepsis = "explicit";
  std::string out;
};

struct Experiment {
  const char* name;
  Reproduction (*run)(const ReproduceOptions&, const Context&);
};

// In the order of the paper's tables, but Table 1 (mnist) last.
constexpr Experiment kExperiments[] = {{"faithfulness", reproduce_faithfulness},
                                       {"sensitivity", reproduce_sensitivity},
                                       {"ava", reproduce_ava},
                                       {"mnist", reproduce_mnist}};

std::vector<Experiment> chosen_experiments(const std::string& name) {
  std::vector<Experiment> chosen;
  std::vector<std::string> known;
  for (const Experiment& experiment : kExperiments) {
    known.emplace_back(experiment.name);
    if (name == "all" || name == experiment.name) chosen.push_back(experiment);
  }
  known.emplace_back("all");
  if (!chosen.empty()) return chosen;
  fail_input(fmt::format("there is no experiment {}{}; the experiments are {}", in_quotes(name),
                         suggestion(name, known), joined(known)));
}

// Checked before any work, because it takes long.
void check_reproduction_out(const std::string& path) {
  if (path.empty()) return;
  const std::string extension = format_extension(path);
  if (extension != ".md" && extension != ".json") {
    fail_input("--out", "a file that ends in .md or .json", in_quotes(path));
  }
  check_output_folder(path);
}

// What is needed to get the same numbers again. Threads and folders do not matter.
ReproductionOrigin origin_of(const ReproduceArguments& arguments, const Session& session) {
  ReproductionOrigin origin;
  origin.command = fmt::format("assay reproduce {}{}", arguments.name, arguments.quick ? " --quick" : "");
  if (arguments.sepsis != "explicit") origin.command += fmt::format(" --sepsis {}", arguments.sepsis);
  if (session.context.seed != 0) origin.command += fmt::format(" --seed {}", session.context.seed);
  origin.version = kVersion;
  origin.seed = session.context.seed;
  origin.quick = arguments.quick;
  return origin;
}

void write_out(const std::string& path, const std::string& text, const Context& context) {
  AtomicFile file(path, context);
  file.write(text);
  file.commit();
}

void reproduce(const ReproduceArguments& arguments, const Session& session) {
  const std::vector<Experiment> experiments = chosen_experiments(arguments.name);
  check_reproduction_out(arguments.out);
  ReproduceOptions options;
  options.quick = arguments.quick;
  options.data_dirs = session.data_dirs;
  options.sepsis = arguments.sepsis;
  const bool shown = !session.json && !(session.quiet && !arguments.out.empty());
  std::vector<Reproduction> tables;
  for (const Experiment& experiment : experiments) {
    tables.push_back(experiment.run(options, session.context));
    if (!shown) continue;
    // Each is printed as soon as it is there, because all of them take long.
    if (tables.size() > 1) fmt::print("\n");
    fmt::print("{}", reproduction_text({tables.back()}));
    std::fflush(stdout);
  }
  const ReproductionOrigin origin = origin_of(arguments, session);
  if (shown) fmt::print("\n{}\n", findings_summary(tables));
  if (session.json) fmt::print("{}", reproduction_json(tables, origin));
  if (arguments.out.empty()) return;
  const bool as_json = format_extension(arguments.out) == ".json";
  write_out(arguments.out, as_json ? reproduction_json(tables, origin) : reproduction_markdown(tables, origin),
            session.context);
  if (shown && !session.quiet) fmt::print("wrote {}\n", one_line(arguments.out));
}

}  // namespace

void add_reproduce(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's experiments again, its numbers beside ours");
  command->add_option("experiment", arguments->name, "faithfulness, sensitivity, ava, mnist or all")->required();
  command->add_flag("--quick", arguments->quick, "Few runs on few rows: a test that the protocol works");
  command->add_option("--sepsis", arguments->sepsis, "The rule that labels sepsis in MIMIC-III")
      ->check(CLI::IsMember({"explicit", "martin", "angus"}));
  command->add_option("--out", arguments->out, "Where the tables go too: a page (.md) or data (.json)");
  command->callback([&session, arguments] { session.run = [&session, arguments] { reproduce(*arguments, session); }; });
}

}  // namespace assay::cli
