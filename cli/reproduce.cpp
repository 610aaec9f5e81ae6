// assay reproduce faithfulness|sensitivity|ava|mnist|all|setup
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/version.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/report/png.h"
#include "assay/report/reproduction_text.h"
#include "assay/study/reproduce/reproduction.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

constexpr size_t kZoom = 4;

struct ReproduceArguments {
  std::string name;
  bool quick = false;
  std::string sepsis = "explicit";
  std::string out;
  Spec setup = {"reproduce"};  // options of the set-up, as given
};

std::vector<PaperTable> chosen_tables(const std::string& name) {
  std::vector<PaperTable> chosen;
  std::vector<std::string> known;
  for (size_t i = 0; i < kPaperTables; i++) {
    const auto table = static_cast<PaperTable>(i);
    known.emplace_back(table_name(table));
    if (name == "all" || name == known.back()) chosen.push_back(table);
  }
  known.emplace_back("all");
  known.emplace_back("setup");
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
  for (const auto& [name, value] : arguments.setup.options) {
    std::string flag = name;
    std::ranges::replace(flag, '_', '-');
    origin.command += fmt::format(" --{} {}", flag, value);
  }
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

// A page, the JSON beside it and its pictures; or the JSON alone.
void write_reproduction(const std::string& path, const Reproduction& made, const ReproductionOrigin& origin,
                        const Context& context) {
  const std::string json = reproduction_json(made, origin);
  if (format_extension(path) == ".json") {
    write_out(path, json, context);
    return;
  }
  const std::string stem = path.substr(0, path.size() - std::string_view(".md").size());
  const std::string word = stem.substr(stem.rfind('/') + 1);
  for (const Picture& picture : made.pictures) {
    write_out(fmt::format("{}-{}.png", stem, picture.name), picture_png(picture, kZoom), context);
  }
  write_out(stem + ".json", json, context);
  write_out(path, reproduction_markdown(made, origin, word + "-"), context);
}

void reproduce_command(const ReproduceArguments& arguments, const Session& session) {
  check_reproduction_out(arguments.out);
  if (arguments.name == "setup") {
    if (arguments.out.empty()) {
      fmt::print("{}", setup_markdown());
    } else {
      write_out(arguments.out, setup_markdown(), session.context);
    }
    return;
  }
  ReproduceOptions options;
  options.tables = chosen_tables(arguments.name);
  options.quick = arguments.quick;
  options.data_dirs = session.data_dirs;
  options.sepsis = arguments.sepsis;
  options.setup = options_from<Setup>(arguments.setup);
  options.variants = arguments.name == "all" && arguments.setup.options.empty();
  const bool shown = !session.json && !(session.quiet && !arguments.out.empty());
  const Reproduction made = reproduce(options, session.context);
  const ReproductionOrigin origin = origin_of(arguments, session);
  if (shown) fmt::print("{}\n{}", reproduction_text(made), verdict_lines(made.claims));
  if (session.json) fmt::print("{}", reproduction_json(made, origin));
  if (arguments.out.empty()) return;
  write_reproduction(arguments.out, made, origin, session.context);
  if (shown && !session.quiet) fmt::print("wrote {}\n", one_line(arguments.out));
}

}  // namespace

void add_reproduce(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's experiments again, its numbers beside ours");
  command
      ->add_option("experiment", arguments->name,
                   "faithfulness, sensitivity, ava, mnist, all (with all variants), or setup: the declared set-up")
      ->required();
  command->add_flag("--quick", arguments->quick, "Few runs on few rows: a test that the protocol works");
  command->add_option("--sepsis", arguments->sepsis, "The rule that labels sepsis in MIMIC-III")
      ->check(CLI::IsMember({"explicit", "martin", "angus"}));
  // The set-up's own options, each changed alone in the variants.
  for (const OptionInfo& option : list_options<Setup>()) {
    std::string flag = "--" + option.name;
    std::ranges::replace(flag, '_', '-');
    command->add_option_function<std::string>(
        flag,
        [arguments, name = option.name](const std::string& value) {
          arguments->setup.options.emplace_back(name, value);
        },
        fmt::format("{} ({}; {})", option.meaning, option.range, option.value));
  }
  command->add_option("--out", arguments->out,
                      "A page (.md) with its pictures and JSON beside it, or the JSON alone (.json)");
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { reproduce_command(*arguments, session); }; });
}

}  // namespace assay::cli
