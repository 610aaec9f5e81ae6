#include "cli/file_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay::cli {

void split_list(std::string_view option, std::vector<std::string>& names, std::string_view what) {
  std::vector<std::string> found;
  for (const std::string& text : names) {
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
  names = std::move(found);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

void check_once(std::string_view option, const std::vector<std::string>& files) {
  for (size_t i = 0; i < files.size(); i++) {
    const auto is_same = [&](const std::string& other) { return other == files[i] || same_file(other, files[i]); };
    if (std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      fail_input(option, "each file once", fmt::format("{} twice", in_quotes(files[i])));
    }
  }
}

void refuse_same_file(std::string_view option, const std::string& path, const std::string& input) {
  if (!same_file(path, input)) return;
  fail_input(option, "a file of its own", fmt::format("{}, which is read", in_quotes(path)));
}

}  // namespace assay::cli
