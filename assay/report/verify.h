// Whether a study that was run again came out the same: file against file.
//
// What was made by the same version of Assay with the same vector target has the same bytes. Where version or target
// differ, sums are rounded differently: then numbers may differ by 1e-4 of their size (arrays: of the largest in their
// row) and 1e-6, and words must be equal. What study.json concludes from its numbers is then not compared: order,
// standing, p, dominated, dominated_by, verdict and warnings. Methods that agree to the seventh digit may change
// places, and all of these with them. The hash of a model that the study trained is not, either. run.json (times),
// settings.json (what both started from), manifest.json (hashes of the others) and report.html (shows what the others
// hold) are never compared. Links are not followed: what is no regular file is a difference, and is not opened.
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

// Both are folders of finished studies. Cost: reads every file of both once, those that differ twice.
FolderComparison compare_study_folders(const std::string& recorded, const std::string& again, const Context& context);

// How two texts of JSON differ: how many fields, and the first of them by its path and values; empty where they say the
// same. near: by the tolerance above. Texts are hostile: what is no JSON is an input error that starts with `where`.
std::string json_difference(std::string_view where, std::string_view recorded, std::string_view again, bool near);

// The first line of two tables that differs, likewise.
std::string lines_difference(std::string_view recorded, std::string_view again, bool near);

// Whether two numbers are equal by the tolerance above, of size at most `scale`.
bool nearly_equal(double a, double b, double scale = 0);

}  // namespace assay
