#include "cli/file_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay::cli {
namespace {

// Where the file is or would be made. Follows links, also those that lead to nothing.
std::filesystem::path resolved(const std::string& name) {
  constexpr int kMostLinks = 40;
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(name, ignored);
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, ignored); i++) {
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);  // an absolute link replaces the folder
  }
  return std::filesystem::weakly_canonical(path.parent_path(), ignored) / path.filename();
}

bool exists(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

// At commas. Throws an input error for an empty name.
void split(std::string_view option, const std::string& text, std::string_view what, std::vector<std::string>& found) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (begin == end) {
      fail_input(option, fmt::format("{}, joined by commas", what),
                 text.empty() ? "nothing" : fmt::format("an empty name in {}", in_quotes(text)));
    }
    found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void split_files(std::string_view option, std::vector<std::string>& files) {
  std::vector<std::string> found;
  for (const std::string& text : files) {
    if (exists(text)) {
      found.push_back(text);
    } else {
      split(option, text, "names of files", found);
    }
  }
  files = std::move(found);
}

void split_names(std::string_view option, std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& text : names) split(option, text, "names", found);
  names = std::move(found);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) || resolved(a) == resolved(b);
}

void check_once(std::string_view option, const std::vector<std::string>& files) {
  for (size_t i = 0; i < files.size(); i++) {
    const auto is_same = [&](const std::string& other) { return same_file(other, files[i]); };
    if (std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      fail_input(option, "each file once", fmt::format("{} twice", in_quotes(files[i])));
    }
  }
}

void refuse_same_file(std::string_view option, const std::string& path, const std::string& input) {
  const bool is_standard_output = path == "-";
  if (is_standard_output || !same_file(path, input)) return;
  fail_input(option, "a file of its own", fmt::format("{}, which is read", in_quotes(path)));
}

void check_results_apart(std::string_view option, const std::vector<std::string>& paths, std::string_view other_option,
                         const std::vector<std::string>& others) {
  for (size_t i = 0; i < paths.size(); i++) {
    for (const std::string& other : others) {
      if (!same_file(paths[i], other)) continue;
      fail_input(
          option, fmt::format("another file than {}", other_option),
          paths[i] == other ? in_quotes(other) : fmt::format("{}, which is {}", in_quotes(paths[i]), in_quotes(other)));
    }
    for (size_t k = 0; k < i; k++) {
      if (!same_file(paths[i], paths[k])) continue;
      fail_input(option, "a file for each result",
                 fmt::format("{}, which is {} too", in_quotes(paths[i]), in_quotes(paths[k])));
    }
  }
}

}  // namespace assay::cli
