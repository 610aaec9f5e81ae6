// A file of explanations, joined to the model, rows, pool and reference that it came from, and checked against them.
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

// What says where explanations came from.
struct JoinArguments {
  ModelRowsArguments rows;
  std::string target;
  std::string value;
  const CLI::App* command = nullptr;  // whose arguments they are

  JoinArguments() { rows.groups.clear(); }
  void add_to(CLI::App& to);
  bool has_model() const { return !rows.model.empty(); }
  // What says something about the model and the rows has no meaning without them.
  void check_useful() const;
  // --label or --labels, whichever was written.
  std::string_view label_option() const { return command->count("--label") > 0 ? "--label" : "--labels"; }
};

struct JoinedExplanations {
  std::string file;
  Explanations explanations;
  std::optional<Spec> method = {};  // how they were made, where that is known and can be done again
  std::string not_again = {};       // why it cannot, where the file names a method or is an aggregate
  std::string pool_file = {};
  std::optional<Explanations> pool_given = {};
  OwnedSubject subject = {};                     // what they explain; without a model it is empty
  std::optional<TargetChoice> pool_target = {};  // of each row of the pool, where they have one
  std::optional<PoolExplanations> pool_explanations = {};
  std::vector<std::string> notes = {};

  bool has_model() const { return subject.model != nullptr; }
  const MethodInfo* method_info() const { return method ? &find_method(method->name) : nullptr; }
};

// What helps where there are not as many rows as explanations: the end of a sentence.
inline constexpr std::string_view kWhichRows = "; --rows and --split select rows";

// Notes where explained values could not be checked for so many rows of a file.
void note_unchecked(const std::string& file, const Explanations& found, size_t unsaid, std::vector<std::string>& notes);

// Model and rows as they were opened, by the unit that is explained.
using RowsOfUnits = std::map<std::string, ModelRows>;

// Reads a file alone, and the file of its pool unless that has no name.
void read_joined(const std::string& file, const std::string& pool_file, const Session& session,
                 JoinedExplanations& made);

// Joins explanations to their model, rows and pool. What the file does not say (unit, players, targets) is as in
// `like`, or else as the arguments say. An input error names what does not fit: numbers of rows, ids, names of players,
// targets, or an explained value that is not the model's own.
void join_rows(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
               JoinedExplanations& explained, const JoinedExplanations* like = nullptr);

// The same without explanations: the arguments alone say what is explained.
void join_without_file(const JoinArguments& arguments, RowsOfUnits& opened, const Session& session,
                       JoinedExplanations& explained);

// A sentence when the base values of explanations that came from a file are not those of the reference in use.
std::optional<std::string> other_reference_of(const JoinedExplanations& explained, const Context& context);

}  // namespace assay::cli
