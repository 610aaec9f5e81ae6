// Shared by commands that run a model on the rows of a table, with a pool of other rows: their arguments, and how both
// tables are read in the same way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/id_columns.h"
#include "assay/explain/subject.h"
#include "assay/model/engine_model.h"
#include "assay/study/find_cohorts.h"
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

  // required: whether the command needs --model and --data.
  void add_to(CLI::App& command, bool required);
  // Whether there is a reference for absent features: --baseline, --background or a pool, whose mean is the default.
  bool has_reference() const;
  // Throws an input error if `path`, the value of `option`, is a file that these arguments read.
  void refuse_as_output(const std::string& path, std::string_view option = "--out") const;
};

// Everything that the arguments name, read.
struct ModelRows {
  std::shared_ptr<EngineModel> model;
  // Without players and targets, which are chosen later, and without the reference where it is spread:N.
  OwnedSubject subject = {};
  std::vector<size_t> numbers = {};  // of the chosen rows, from 0, in the table or the part chosen by --split
  std::vector<std::string> external_files = {};  // files beside the model that hold its weights
  std::vector<std::string> named_labels = {};    // the label columns of rows and pool, if --label is given
  std::vector<std::string> notes = {};           // sentences on columns taken for ids and on the names of the classes
  CohortWish cohorts = {};                       // as wanted; its columns are of all rows that `numbers` count
  bool other_order = false;  // the table has the model's columns, by name, in another order than the model
};

struct ModelRowsWanted {
  std::optional<OutputUnit> unit = {};
  bool reference = false;  // required: an input error if there is none
  bool margins = false;    // for probabilities and log-odds: also load the model in margins, if it has some
  // The names of the model's classes, and without them whether the table's labels may name classes that the model only
  // counts. subject.model then has other names than `model`.
  std::vector<std::string> classes = {};
  bool name_classes = false;
  // For margins that are no logits: also load the model in probabilities, if it has some.
  bool probabilities = false;
  bool find_ids = false;  // whether columns that only name rows, and that the model does not take, are taken for ids
  std::vector<std::string> cohorts = {};  // columns that rows are grouped by
  bool trained = false;                   // the study trained the model: that it takes a column says nothing about it
};

// Columns of rows and pool that only name rows; none if the user said --id, or if the table is a data set by name.
// Columns that the user says something about are none, nor those for which `taken` is true.
std::vector<std::string> found_ids(const ModelRowsArguments& arguments, const TableCells& rows, const TableCells& pool,
                                   const std::function<bool(const std::string&)>& taken, const Session& session);

ModelRows open_model_rows(const ModelRowsArguments& arguments, const ModelRowsWanted& wanted, const Session& session);

// Sets the subject's players as --groups says, and the words for them: "columns", "feature groups" or the value of
// --groups.
void choose_groups(const std::string& groups, OwnedSubject& subject, const Context& context);

// The rows in words: "iris (test part), rows 1,60".
std::string rows_in_words(const ModelRowsArguments& arguments);
std::string pool_in_words(const ModelRowsArguments& arguments);

}  // namespace assay::cli
