// The arguments of `assay study`, and how they are written to settings.json and read back.
#pragma once

#include <string>
#include <vector>

#include "assay/study/study_reference.h"
#include "cli/model_rows.h"

namespace assay::cli {

struct StudyArguments {
  std::string subject;  // a data set by name, in place of --data
  ModelRowsArguments rows;
  std::string target = "auto";
  std::string value;
  std::string methods;
  std::string criteria;
  std::string aggregators;
  std::string members;
  std::string encode;
  std::string sample = "auto";               // how many rows are studied
  std::string pool_sample = "auto";          // how many rows of the pool are used
  size_t background = kStudyBackgroundRows;  // rows of the reference, if the study chooses it; no option says it
  bool retrain = false;
  bool no_curves = false;
  bool no_variations = false;
  bool no_cells = false;
  std::string out;
  bool resume = false;
  bool overwrite = false;
  bool plan_only = false;
  bool seed_given = false;  // --seed is an option of the program, not of the command

  void add_to(CLI::App& command);
};

// The arguments that were given to the command, as words, without --out, --resume, --overwrite, --plan and --help.
std::vector<std::string> argument_words(const CLI::App& command);

// The arguments that these words mean.
StudyArguments parse_study_words(const std::string& where, const std::vector<std::string>& words);

}  // namespace assay::cli
