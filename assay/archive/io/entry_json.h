// One entry of a study without its explanations, as JSON: every score of every row, curves and variations. The files
// scores/STEM.json of a study's folder; --resume and `assay diff` read them back. docs/study-format.md describes them.
//
// Numbers are in the shortest form that reads back equal; undefined is null (json_parts.h). What is read back equals
// what was written, to the bit and in its order, but for text that is no UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

std::string entry_json(const StudyEntry& entry);
// explanations of the result are empty. The text is hostile: everything in it is checked, and what does not fit is an
// input error that starts with `where`. All scores of rows are of the same number of rows; whether they are those of
// the study is for the caller to check.
StudyEntry entry_from_json(std::string_view where, std::string_view text);

// Whether a stem is safe as the name of a file: 1 to 200 letters of ASCII, digits, _ and -.
bool valid_stem(std::string_view stem);

}  // namespace assay
