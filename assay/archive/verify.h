// Whether a study that was run again came out the same: file against file.
//
// What was made by the same version of Assay with the same vector target has the same bytes. Otherwise the second
// folder holds what was made again part by part, each from the recorded parts that it follows from (study/run.h):
//   explanations, pool   made again: numbers within the tolerances of core/rounding.h, everything else equal
//   scores               of the recorded attributions, likewise; evaluate/rounding.h says which scores may jump
//   study.json           from the recorded scores: equal, to 1e-9 where numbers were computed. By another version, what
//                        it concludes (order, standing, p, dominated, dominated_by, verdict, warnings) is not compared
//   scores.csv, model    equal
//   report.html          the second folder has the page that follows from the recorded files, times included, so it is
//                        equal; not compared where another version made it
// run.json (times), settings.json (what both started from) and manifest.json (hashes of the others) are never compared.
// Links are not followed: what is no regular file is a difference, and is not
// opened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"

namespace assay {

struct FolderComparison {
  size_t files = 0;                         // that were compared
  bool exact = true;                        // bit for bit
  std::string why_not_exact = {};           // one sentence
  std::vector<std::string> same = {};       // names of files that are
  std::vector<std::string> different = {};  // a sentence each, starting with the file's name
};

// Which version and vector target made the study is said twice. How the study is run again and how the two are compared
// follow from it, so that it must be the same: one sentence where it is not, none where it is.
std::vector<std::string> maker_problems(const std::string& folder, const Context& context);

// Both are folders of finished studies. Cost: reads every file of both once, those that differ twice.
FolderComparison compare_study_folders(const std::string& recorded, const std::string& again, const Context& context);

// What two files are held to: the same bytes, or what another vector target or version of Assay may change.
enum class HeldTo { exact, other_target, other_version };

// How two texts of study.json differ: how many fields, and the first of them by its path and values; empty where they
// say the same. Texts are hostile: what is no JSON is an input error that starts with `where`.
std::string json_difference(std::string_view where, std::string_view recorded, std::string_view again, HeldTo by);

// The first line of two tables that differs, likewise.
std::string lines_difference(std::string_view recorded, std::string_view again);

}  // namespace assay
