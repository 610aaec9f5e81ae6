// A file of explanations, joined to its model, rows, pool and reference, and checked against them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/options.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/explanations.h"
#include "assay/explain/methods.h"
#include "assay/explain/subject.h"
#include "cli/model_rows.h"

namespace assay::cli {

// The arguments that say how explanations were made.
struct JoinArguments {
  ModelRowsArguments rows;
  std::string target;
  std::string value;
  const CLI::App* command = nullptr;  // the command with these arguments

  JoinArguments() { rows.groups.clear(); }
  void add_to(CLI::App& to);
  bool has_model() const { return !rows.model.empty(); }
  // Throws an input error for options on the model and rows if these are not given.
  void check_useful() const;
  // --label or --labels, whichever was written.
  std::string_view label_option() const { return command->count("--label") > 0 ? "--label" : "--labels"; }
};

struct JoinedExplanations {
  std::string file;
  Explanations explanations;
  std::optional<Spec> method = {};  // how to make them again, if that is known and possible
  std::string not_again = {};       // why that is not possible, if the file names a method or is an aggregate
  std::string pool_file = {};
  std::optional<Explanations> pool_given = {};
  OwnedSubject subject = {};                     // what they explain; empty without a model
  std::optional<TargetChoice> pool_target = {};  // how to choose targets for rows of the pool, if possible
  std::optional<PoolExplanations> pool_explanations = {};
  std::vector<std::string> notes = {};

  bool has_model() const { return subject.model != nullptr; }
  const MethodInfo* method_info() const { return method ? &find_method(method->name) : nullptr; }
};

// Advice if there are not as many rows as explanations; the end of a sentence.
inline constexpr std::string_view kWhichRows = "; --rows and --split select rows";

// Adds a note if explained values could not be checked for `unsaid` rows of a file.
void note_unchecked(const std::string& file, const Explanations& found, size_t unsaid, std::vector<std::string>& notes);

// Opened models and rows, by the explained unit.
using RowsOfUnits = std::map<std::string, ModelRows>;

// Reads a file of explanations and, if pool_file is not empty, the file of its pool.
void read_joined(const std::string& file, const std::string& pool_file, const Session& session,
                 JoinedExplanations& made);

// Joins explanations to their model, rows and pool. What the file does not say (unit, players, targets) is taken from
// `like`, or else from the arguments. An input error names what does not fit: number of rows, ids, names of players,
// targets, or an explained value that the model does not give.
void join_rows(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
               JoinedExplanations& explained, const JoinedExplanations* like = nullptr);

// The same without explanations: the arguments alone say what is explained.
void join_without_file(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
                       JoinedExplanations& explained);

// A sentence if the base values in the file are not those of the reference in use.
std::optional<std::string> other_reference_of(const JoinedExplanations& explained, const Context& context);

}  // namespace assay::cli
