// The commands of the program. Each adds itself to the parser and sets Session::run.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/datasets.h"
#include "assay/data/io/csv.h"
#include "assay/model/model.h"

namespace assay::cli {

// What every command shares.
struct Session {
  Context context;
  bool quiet = false;
  bool json = false;
  std::vector<std::string> data_dirs;
  std::function<void()> run;  // set by the command that was chosen
  int status = 0;             // the program's exit status when the command ends without an error
  // (name, path) of files that are not where their names say, for example when a study is verified.
  std::vector<std::pair<std::string, std::string>> moved = {};

  // The path of a file: from `moved`, or else its name.
  std::string now_at(const std::string& name) const;
};

// Exit status of a check (gate, diff, verify) that ran and did not pass.
inline constexpr int kNotPassed = 3;

void add_list(CLI::App& app, Session& session);
void add_data(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_neighbours(CLI::App& app, Session& session);
void add_train(CLI::App& app, Session& session);
void add_predict(CLI::App& app, Session& session);
void add_inspect(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_evaluate(CLI::App& app, Session& session);
void add_aggregate(CLI::App& app, Session& session);
void add_study(CLI::App& app, Session& session);
void add_reasons(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_gate(CLI::App& app, Session& session);
void add_diff(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);

// Checks of option values for CLI11. They return what is wrong, or an empty text. CLI11's own checks let numbers wrap
// around and accept NaN.
std::string whole_number(const std::string& text);
std::string positive_whole_number(const std::string& text);
std::string distance_or_radius(const std::string& text);
std::string share_of_one(const std::string& text);

// Throws an input error for --json with --out -: both print to standard output.
void refuse_json_and_table(const std::string& out, const Session& session);

// The unit that a word of --output or --value means; nothing for an unknown word.
std::optional<OutputUnit> unit_of(const std::string& word);

// The arguments that say which table is meant and how to read it.
struct TableArguments {
  std::string what;
  std::string split = "all";
  std::string delimiter;
  std::string header = "detect";
  std::vector<std::string> missing;
  TableOptions options;

  // name: "data" if the table is the main argument, "--data" if it is one of several.
  void add_to(CLI::App& command, const std::string& name = "data", bool required = true);
  Table open(const Session& session) const;
};

}  // namespace assay::cli
