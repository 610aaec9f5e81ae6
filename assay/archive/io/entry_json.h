// scores/STEM.json: one entry of a study without its explanations: every score of every row, curves and variations.
// Every run, `assay diff` and `assay verify` read these files back. docs/study-format.md describes them.
//
// Numbers have the shortest form that reads back equal; undefined is null (json_parts.h). What is read back equals what
// was written, to the bit and in the same order. Only text that is not UTF-8 is changed.
#pragma once

#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

std::string entry_json(const StudyEntry& entry);
// The result has no explanations. The text is not trusted: everything is checked, and what is wrong is an input error
// that starts with `where`. All criteria that score rows have the same number of rows. The caller must check that it is
// the study's number.
StudyEntry entry_from_json(std::string_view where, std::string_view text);

// Whether a stem is safe as the name of a file: 1 to 200 letters of ASCII, digits, _ and -.
bool valid_stem(std::string_view stem);

}  // namespace assay
