// What the user says to `assay study`, and how a study's folder remembers it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/study/study.h"
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
  std::string sample = "auto";       // rows that are studied: a number
  std::string pool_sample = "auto";  // rows of the pool
  bool retrain = false;
  bool no_curves = false;
  bool no_variations = false;
  bool no_cells = false;
  std::string out;
  bool resume = false;
  bool overwrite = false;
  bool plan_only = false;
  bool seed_given = false;  // to the program, not to the command

  void add_to(CLI::App& command);
};

// What settings.json holds: the arguments as words, without where the study goes; they are read back by the same
// parser.
struct StudySettings {
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  // What makes the parts: those of others are not mixed with ours.
  std::string version = kVersion;
  std::string vector_target = assay::vector_target();
  std::vector<StudyInput> inputs = {};  // as they were when the study began; none before they are read
};

// The words of what was said to the command.
std::vector<std::string> argument_words(const CLI::App& command);

std::string settings_json(const StudySettings& settings);
// The text is hostile: what does not fit is an input error that starts with `where`.
StudySettings settings_from_json(const std::string& where, const std::string& text);

// The arguments that these words mean.
StudyArguments parse_study_words(const std::string& where, const std::vector<std::string>& words);

}  // namespace assay::cli
