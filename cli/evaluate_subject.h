// What `assay evaluate` scores: a file of explanations, joined to the model, rows, pool and reference that it came
// from, and checked against them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/explanations.h"
#include "assay/explain/methods.h"
#include "cli/model_rows.h"

namespace assay::cli {

struct EvaluateArguments {
  ModelRowsArguments rows;
  std::vector<std::string> explanations;
  std::vector<std::string> pool_explanations;  // none, or one for each of the explanations
  std::vector<std::string> others;
  std::string criteria;
  std::string target;
  std::string value;
  std::string out;
};

struct Subject {
  std::string file;
  Explanations explanations;
  std::optional<Spec> method = {};  // how they were made, where that is known and can be done again
  std::string pool_file = {};
  std::optional<Explanations> pool_given = {};
  // With a model:
  const ModelRows* rows = nullptr;
  Players players = {};
  Targets targets = {};
  std::optional<TargetChoice> pool_target = {};  // of each row of the pool, where they have one
  Trainer trainer = {};
  std::optional<PoolExplanations> pool_explanations = {};
  std::vector<const Explanations*> others = {};
  std::vector<std::string> other_names = {};
  std::vector<std::string> notes = {};

  const MethodInfo* method_info() const { return method ? &find_method(method->name) : nullptr; }
  EvaluateTask task();
};

// Everything that criteria may look at. Subjects refer to others and rows, and pool explanations to their subject.
struct Subjects {
  std::vector<std::unique_ptr<Subject>> all;
  std::vector<Explanations> others;
  std::map<std::string, ModelRows> rows_of_unit;
};

// The files of explanations alone.
Subjects read_subjects(const EvaluateArguments& arguments, const Session& session);

// The explanations to compare each with: --others, or else the other files.
void join_others(const EvaluateArguments& arguments, Subjects& subjects, const Session& session);

// Joins a subject to its model, rows and pool where the arguments name them. An input error names what does not fit:
// numbers of rows, ids, names of players, targets, or an explained value that is not the model's own.
void join_rows(const EvaluateArguments& arguments, Subjects& subjects, Subject& subject, const Session& session);

}  // namespace assay::cli
