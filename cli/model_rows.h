// What commands share that run a model on the rows of a table beside a pool of others: their arguments, and how the
// tables are read alike.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/explain/subject.h"
#include "assay/model/graph_model.h"
#include "cli/commands.h"

namespace assay::cli {

struct ModelRowsArguments {
  std::string model;
  TableArguments table;
  std::string rows;
  std::string pool;
  std::string pool_split = "all";
  ReferenceWords reference;
  std::string groups = "auto";

  // required: whether the command is nothing without --model and --data.
  void add_to(CLI::App& command, bool required);
  // Whether something is said that stands for absent features; a pool says it by its mean.
  bool has_reference() const;
  // An input error when `path`, which the option names, is a file that these arguments have us read.
  void refuse_as_output(const std::string& path, std::string_view option = "--out") const;
};

// Everything that the arguments name, read.
struct ModelRows {
  std::shared_ptr<GraphModel> model;
  OwnedSubject subject = {};         // without players and targets, which are chosen later
  std::vector<size_t> numbers = {};  // of the chosen rows, in the table or the part of it that --split names
  std::vector<std::string> external_files = {};  // that the model keeps weights in
  std::vector<std::string> named_labels = {};    // the columns that --label names, of rows and pool
};

struct ModelRowsWanted {
  std::optional<OutputUnit> unit = {};
  bool reference = false;  // it is an input error when nothing stands for absent features
  bool margins = false;    // beside a model of probabilities or log-odds; the subject has none where there are none
};

ModelRows open_model_rows(const ModelRowsArguments& arguments, const ModelRowsWanted& wanted, const Session& session);

// Sets the players that --groups means for the subject's rows, and the words for them: "columns", "feature groups" or
// what --groups says.
void choose_groups(const std::string& groups, OwnedSubject& subject, const Context& context);

// The rows in words: "iris (test part), rows 1,60".
std::string rows_in_words(const ModelRowsArguments& arguments);
std::string pool_in_words(const ModelRowsArguments& arguments);

}  // namespace assay::cli
