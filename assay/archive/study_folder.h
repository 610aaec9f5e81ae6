// The folder of a finished study, opened for reading: study.json at once, the scores of single rows when they are asked
// for. What `assay gate`, `assay diff` and `assay verify` start from.
//
// The files are hostile: sizes are limited before they are read, names of files come from checked stems, links are not
// followed, and what does not fit is an input error that names the file.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "assay/archive/io/study_json.h"
#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

struct StudyFolder {
  std::string path;
  StudySummary summary;
  std::string data;           // which rows, in words
  std::string vector_target;  // of the hot loops
  size_t rows_available = 0;  // rows that those studied were chosen from
  // What else study.json says of how it was made, as words in a fixed order: model, unit, reference, accuracy, ...
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // what the user said
};

// Reads study.json. A folder without one is no finished study, which the input error says.
StudyFolder open_study_folder(const std::string& path, const Context& context);

// Every score of every row of one entry (its index in the summary), from scores/STEM.json. An input error where the
// file is of another entry, or of other criteria or rows than study.json says.
StudyEntry read_study_entry(const StudyFolder& study, size_t entry, const Context& context);

struct RowIds {
  std::vector<std::string> ids = {};  // empty where rows have no names
  // Rows of a file without names are known by their numbers ("row") once they are chosen or sampled. Those of another
  // file have the same numbers, so they are no names. A column that is called "row" counts as numbers, too.
  bool numbers = false;
};

// From the entry's explanations.
RowIds read_row_ids(const StudyFolder& study, size_t entry);

// "name/inner", where the folder's name may end in a slash.
std::string path_within(const std::string& folder, const std::string& inner);

// What is there in place of a regular file of the folder itself: "a link", "a link at 'scores'", "a folder", "nothing",
// "something else" (a pipe, a device); empty where it is a regular file. Opens nothing. Links would lead out of the
// folder, and a pipe would be waited for without end. The folder may be a link: the user named it.
std::string instead_of_file(const std::string& folder, const std::string& inner);

// The path of a file that must be a regular one, and the text of such a file of at most 1 GiB.
std::string file_within(const std::string& folder, const std::string& inner);
std::string text_within(const std::string& folder, const std::string& inner, const Context& context);

}  // namespace assay
