// Opens the folder of a finished study: reads study.json at once, and the scores of rows when they are asked for.
// `assay gate`, `assay diff` and `assay verify` use it.
//
// The files are not trusted. Sizes are limited, file names come from checked stems, links are not followed, and what is
// wrong is an input error that names the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/archive/io/study_json.h"
#include "assay/archive/study_names.h"
#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

struct StudyFolder {
  std::string path;
  StudySummary summary;
  std::string data;           // which rows, in words
  std::string vector_target;  // the vector instructions in use
  size_t rows_available = 0;  // rows from which the studied ones were chosen
  // More from study.json on how the study was made, as text in a fixed order: model, unit, reference, accuracy, ...
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // what the user asked for
  ReferenceFacts reference = {};                                   // older studies have none
};

// Reads study.json. Without one, throws an input error that the folder is no finished study.
StudyFolder open_study_folder(const std::string& path, const Context& context);

// Reads every score of every row of one entry, given by its index in the summary, from scores/STEM.json. Throws an
// input error if entry, criteria or rows are not those of study.json.
StudyEntry read_study_entry(const StudyFolder& study, size_t entry, const Context& context);

struct RowIds {
  std::vector<std::string> ids = {};  // empty if rows have no names
  // Whether the ids are only row numbers ("row"), which sampled rows without names get, or whole numbers of an index
  // without a name ("index"), which pandas gives every table. They do not identify rows:
  // another file has the same numbers. In studies of older versions, a column that is called "row" counts as numbers.
  bool numbers = false;
};

// Reads the row ids from the entry's explanations.
RowIds read_row_ids(const StudyFolder& study, size_t entry);

// Empty if `inner` is a regular file in the folder. Else what is there: "a link", "a link at 'scores'", "a folder",
// "nothing" or "something else" (a pipe, a device). Opens nothing: a link may lead out of the folder, and reading a
// pipe may never end. The folder itself may be a link, because the user named it.
std::string instead_of_file(const std::string& folder, std::string_view inner);

// The path and the text of a file in the folder. It must be a regular file; for the text, of at most 1 GiB.
std::string file_within(const std::string& folder, std::string_view inner);
std::string text_within(const std::string& folder, std::string_view inner, const Context& context);

}  // namespace assay
