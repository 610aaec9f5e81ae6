// What `assay evaluate` shows and writes of its results.
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

// Of each file a line for each criterion, then (remarks) tables, what was chosen, and why rows are undefined.
void print_evaluations(const std::vector<FileScores>& evaluations, bool remarks, FILE* to);

// {"explanations": [...], "scores": [...], "notes": [...]}; NaN is null, infinities are the strings "Infinity" and
// "-Infinity".
std::string evaluations_json(const std::vector<FileScores>& evaluations, const std::vector<std::string>& notes);

// A row for each row that was explained, a column for each criterion that scores rows, and for its standard errors
// where it has them. The files must have as many rows as each other.
Table evaluations_table(const std::vector<FileScores>& evaluations);

}  // namespace assay::cli
