// Whether a study that was run again came out the same: compares two folders file by file.
//
// With the same version of Assay and the same vector target, all bytes must be equal. Otherwise each part in the second
// folder was made from recorded parts (study/run.h), and must agree as follows:
//   explanations, pool   numbers within the tolerances of core/rounding.h, everything else equal
//   scores               made from the recorded attributions; the same, and evaluate/rounding.h says which may jump
//   study.json           made from the recorded scores: equal, computed numbers to 1e-9. With another version, its
//                        conclusions (order, standing, p, dominated, dominated_by, verdict, warnings) are not compared
//   scores.csv, model    equal
//   report.html          made from the recorded files and times: equal, but for the probabilities of rows, which the
//                        model gives again. Not compared with another version
// run.json (times), settings.json (what both started from) and manifest.json (hashes of the others) are never compared.
// Links are not followed: what is not a regular file is a difference, and is not opened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"

namespace assay {

struct FolderComparison {
  size_t files = 0;                         // how many were compared
  bool exact = true;                        // whether all bytes had to be equal
  std::string why_not_exact = {};           // one sentence
  std::vector<std::string> same = {};       // names of files that agree
  std::vector<std::string> different = {};  // a sentence each, starting with the file's name
};

// settings.json and study.json both name the version and the vector target that made the study. Returns one sentence if
// they differ, else nothing. They must agree, because they decide how the study is run again and compared.
std::vector<std::string> maker_problems(const std::string& folder, const Context& context);

// Both must be folders of finished studies. Cost: reads every file of both once, and files that differ twice.
FolderComparison compare_study_folders(const std::string& recorded, const std::string& again, const Context& context);

// How closely two files must agree: in all bytes, or but for what another vector target or version may change.
enum class HeldTo { exact, other_target, other_version };

// How two texts of study.json differ: the number of fields, and the first one with its path and values. Empty if they
// agree. The texts are not trusted: what is not JSON is an input error that starts with `where`.
std::string json_difference(std::string_view where, std::string_view recorded, std::string_view again, HeldTo by);

// The first line that differs between two tables; empty if they agree.
std::string lines_difference(std::string_view recorded, std::string_view again);

}  // namespace assay
