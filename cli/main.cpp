// assay: which explanation of a prediction can be trusted, and can a better one be made?
//
// Exit codes: 0 done, 1 bad input, 2 bad usage, 3 a check did not pass, 130 interrupted. Results go to stdout, all
// else to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <system_error>

#include "assay/core/crew.h"
#include "assay/core/error.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/needed_options.h"
#include "cli/terminal.h"

namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;
constexpr int kInterrupted = 130;

// CLI11 says only that a command is required when it does not know the one that was given.
std::string complaint(const CLI::App& app, const CLI::ParseError& problem, int argc, char** argv) {
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  const std::string first = argc > 1 ? argv[1] : "-";
  if (first.starts_with('-') || std::ranges::find(known, first) != known.end()) return problem.what();
  return fmt::format("there is no command {}{}; the commands are {}", assay::in_quotes(first),
                     assay::suggestion(first, known), assay::joined(known));
}

void say(std::string_view sentence) { assay::cli::tell(fmt::format("assay: {}\n", assay::one_line(sentence))); }

// The library's sentence with the names that arguments have here.
std::string in_options(const assay::Error& error) {
  std::string sentence = error.argument().empty() ? error.what() : fmt::format("--{}", error.what());
  if (error.kind() != assay::ErrorKind::input) return sentence;
  if (error.need() == assay::Need::data_folder) sentence += "; name its folder by --data-dir or ASSAY_DATA";
  const std::vector<std::string> options = assay::cli::missing_options({error.need()});
  if (!options.empty()) sentence += fmt::format("; give {}", assay::joined(options));
  return sentence;
}

int run(int argc, char** argv) {
  using namespace assay;
  using namespace assay::cli;
  Session session;
  ProgressLine progress;

  CLI::App app("Which explanation of a prediction can be trusted, and can a better one be made?", "assay");
  app.set_version_flag("--version", fmt::format("assay {}", kVersion));
  app.add_option("--seed", session.context.seed, "Seed of everything random; the same seed gives the same bits")
      ->check(whole_number, "UINT64");
  app.add_option("--threads", session.context.threads, "Threads to use; 0 = all cores. Results do not depend on it")
      ->check(CLI::Range(0u, 4096u));
  app.add_flag("--quiet", session.quiet, "Print results alone: no progress, no remarks");
  app.add_flag("--json", session.json, "Print results as JSON");
  app.add_option("--data-dir", session.data_dirs, "A folder of data sets, searched before $ASSAY_DATA and the cache")
      ->allow_extra_args(false);
  app.require_subcommand(1);
  app.fallthrough();
  add_list(app, session);
  add_data(app, session);
  add_describe(app, session);
  add_neighbours(app, session);
  add_train(app, session);
  add_predict(app, session);
  add_inspect(app, session);
  add_explain(app, session);
  add_evaluate(app, session);
  add_aggregate(app, session);
  add_study(app, session);
  add_reasons(app, session);
  add_report(app, session);
  add_verify(app, session);
  add_gate(app, session);
  add_diff(app, session);
  add_reproduce(app, session);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& problem) {
    say(fmt::format("{} (`assay --help` shows how)", one_line(complaint(app, problem, argc, argv))));
    return kBadUsage;
  }

  if (!session.quiet && ::isatty(STDERR_FILENO) != 0) session.context.progress = &progress;
  session.context.cancelled = &interrupted();
  heed_interrupts();
  // A reader that went away (`| head`) is an error of write(), not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file over the limit of its size
  try {
    const char* target = std::getenv("ASSAY_VECTOR_TARGET");
    if (target != nullptr && *target != '\0') pin_vector_target(target);
    session.run();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    if (const std::string note = process_crew().note(); !note.empty() && !session.quiet) say(note);
    // A signal that came after the last look at it was too late: the work is done, and the code says so.
    return session.status;
  } catch (const Error& error) {
    say(in_options(error));
    return error.kind() == ErrorKind::cancelled ? kInterrupted : kBadInput;
  } catch (const std::system_error& error) {  // from fmt::print
    if (interrupted()) {
      say("interrupted");
      return kInterrupted;
    }
    say(fmt::format("cannot write to standard output: {}", error.code().message()));
    return kBadInput;
  } catch (const std::bad_alloc&) {
    say("not enough memory");
    return kBadInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& bug) {
    say(fmt::format("internal error: {}", bug.what()));
    return kBadInput;
  }
}
