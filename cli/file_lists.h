// Names of files on the command line: lists of names, and different names of the same file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

// Split the values of an option at commas. Throw an input error for an empty name, which the parser would ignore.
// split_files does not split the name of a file that exists.
void split_files(std::string_view option, std::vector<std::string>& files);
void split_names(std::string_view option, std::vector<std::string>& names);

// Whether both name the same file, which need not exist yet.
bool same_file(const std::string& a, const std::string& b);

// Throws an input error if a file is given twice, also by different names.
void check_once(std::string_view option, const std::vector<std::string>& files);

// Throws an input error if both name the same file: the option would overwrite an input.
void refuse_same_file(std::string_view option, const std::string& path, const std::string& input);

// Throws an input error if two results of `option` go to the same file, or one to a file of the other option.
void check_results_apart(std::string_view option, const std::vector<std::string>& paths,
                         std::string_view other_option = "", const std::vector<std::string>& others = {});

}  // namespace assay::cli
