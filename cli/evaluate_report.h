// The output of `assay evaluate`.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "assay/data/table.h"
#include "assay/evaluate/scores.h"
#include "cli/evaluate_subject.h"

namespace assay::cli {

struct FileScores {
  const EvaluatedFile* subject = nullptr;
  std::string criterion;  // as asked for, with the options that were written
  Scores scores = {};
};

// Prints for each file a line for each criterion. With `remarks`, also tables, notes, and why rows are undefined.
void print_evaluations(const std::vector<FileScores>& evaluations, bool remarks, FILE* to);

// {"explanations": [...], "scores": [...], "notes": [...]}; NaN is null, infinities are the strings "Infinity" and
// "-Infinity".
std::string evaluations_json(const std::vector<FileScores>& evaluations, const std::vector<std::string>& notes);

// A row for each explained row. A column for each criterion that scores rows, and one for its standard errors if it has
// any. All files must have the same number of rows.
Table evaluations_table(const std::vector<FileScores>& evaluations);

}  // namespace assay::cli
