// Names of files on the command line: lists of them, and names that mean one file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

// Splits what an option was given at its commas. A name that is left empty is a slip, which the parser would pass over.
// The name of a file that is there is never split.
void split_files(std::string_view option, std::vector<std::string>& files);
void split_names(std::string_view option, std::vector<std::string>& names);

// Whether both are names of one file, also of one that is not there yet.
bool same_file(const std::string& a, const std::string& b);

// An input error for a file that is given twice, by whatever names.
void check_once(std::string_view option, const std::vector<std::string>& files);

// An input error when both are names of one file, which the option would write over.
void refuse_same_file(std::string_view option, const std::string& path, const std::string& input);

// An input error when two results of `option` would go to one file, or one to a file of the other option.
void check_results_apart(std::string_view option, const std::vector<std::string>& paths,
                         std::string_view other_option = "", const std::vector<std::string>& others = {});

}  // namespace assay::cli
