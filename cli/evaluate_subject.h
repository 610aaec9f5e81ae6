// What `assay evaluate` scores: files of explanations, joined to their model and rows, and others to compare with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/explain/explanations.h"
#include "cli/joined_explanations.h"

namespace assay::cli {

struct EvaluateArguments : JoinArguments {
  std::vector<std::string> explanations;
  std::vector<std::string> pool_explanations;  // none, or one for each file of explanations
  std::vector<std::string> others;
  std::string criteria;
  std::string out;
};

struct EvaluatedFile : JoinedExplanations {
  std::vector<const Explanations*> others = {};
  std::vector<std::string> other_names = {};

  EvaluateTask task();
};

// Everything that criteria may look at. Subjects point into `others` and `opened`.
struct Subjects {
  std::vector<std::unique_ptr<EvaluatedFile>> all;
  std::vector<Explanations> others;
  RowsOfUnits opened;
};

// Reads only the files of explanations.
Subjects read_subjects(const EvaluateArguments& arguments, const Session& session);

// Sets what each file is compared with: --others, or else the other files.
void join_others(const EvaluateArguments& arguments, Subjects& subjects, const Session& session);

}  // namespace assay::cli
