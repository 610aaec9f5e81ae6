// The arguments of `assay study`, and how they are written to settings.json and read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/study/choices.h"
#include "assay/study/study.h"
#include "assay/study/study_reference.h"
#include "cli/model_rows.h"

namespace assay::cli {

struct StudyArguments {
  std::string subject;  // a data set by name, in place of --data
  ModelRowsArguments rows;
  std::string target = "auto";
  std::string classes;  // as said; class_names() reads it
  std::string value;
  std::string methods;
  std::string criteria;
  std::string aggregators;
  std::string members;
  std::string encode;
  std::string sample = "auto";       // how many rows are studied
  std::string pool_sample = "auto";  // how many rows of the pool are used
  size_t background =
      kStudyBackgroundRows;               // rows of the reference that the study chooses by itself; no option says it
  std::string time;                       // that the study may take; empty: the default
  std::vector<std::string> cohorts = {};  // columns that rows are grouped by
  bool retrain = false;
  bool no_curves = false;
  bool no_variations = false;
  bool no_cells = false;
  double margin = AdviceOptions().margin;
  double tie = AdviceOptions().tie;
  bool all = false;  // print everything
  std::string out;
  bool resume = false;
  bool overwrite = false;
  bool plan_only = false;
  bool seed_given = false;  // --seed is an option of the program, not of the command

  void add_to(CLI::App& command);
  // The names that --classes says, in the model's order. An input error if a quote is not closed.
  std::vector<std::string> class_names() const;
};

// The names in the value of --classes. An input error if a quote is not closed.
std::vector<std::string> class_names_from(std::string_view text);

// Throws an input error that names an option of the command that was given without a value.
void refuse_empty_values(const CLI::App& command);

// The arguments that were given to the command, as words, without --out, --resume, --overwrite, --plan and --help.
std::vector<std::string> argument_words(const CLI::App& command);

// The command with these words, as it is typed, which says by itself what the plan of a study chose. Empty if something
// was chosen that no option can say.
std::string pinned_command(const std::vector<std::string>& words, const StudyChoices& choices);
// What only an opened study knows, for the command that explains its rows.
struct ExplainWords {
  std::string model = {};  // a file
  std::string method = {};
  std::string target = {};  // as the model itself calls it, where the study has other names for classes; else empty
  std::string id = {};      // the column that the study took for ids by itself
  size_t pool_sample = 0;   // rows of the pool that the study took; 0: all
};

// The command that explains all rows of the study by one of its methods, against the study's reference. words: those
// of the study; arguments: with the defaults filled in.
std::string explain_command(const std::vector<std::string>& words, const StudyArguments& arguments,
                            const StudyChoices& choices, const ExplainWords& explained);
// The command with these words and another --time.
std::string command_in_time(const std::vector<std::string>& words, const std::string& time);

// The arguments with the choices of rows.
StudyArguments with_choices(StudyArguments arguments, const StudyChoices& choices);

// The arguments that these words mean.
StudyArguments parse_study_words(const std::string& where, const std::vector<std::string>& words);

}  // namespace assay::cli
