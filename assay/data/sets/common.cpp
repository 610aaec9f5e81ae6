#include "assay/data/sets/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "assay/core/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// $ASSAY_DATA may list several folders, as PATH does.
std::vector<std::string> search_path(const std::vector<std::string>& data_dirs) {
  std::vector<std::string> out = data_dirs;
  if (const char* listed = std::getenv("ASSAY_DATA")) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) out.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    out.push_back(std::string(cache) + "/assay");
  } else if (const char* home = std::getenv("HOME")) {
    out.push_back(std::string(home) + "/.cache/assay");
  }
  return out;
}

}  // namespace

DataFiles::DataFiles(const DatasetInfo& info, const std::vector<std::string>& data_dirs, const Context& context,
                     KeptDoubles* doubles)
    : info_(info), context_(context), doubles_(doubles) {
  for (const auto& dir : search_path(data_dirs)) {
    for (const auto& folder : info.folders) looked_in_.push_back(dir + "/" + folder);
  }
  for (const auto& folder : looked_in_) {
    std::error_code ignored;
    // Copies of one data set differ in the case of their file names. In the order of their names, so that which of two
    // forms is taken does not depend on the file system.
    std::map<std::string, std::string> here;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.is_regular_file(ignored)) here.emplace(lower_case(entry.path().filename()), entry.path());
    }
    for (const auto& file : info.files) {
      for (const char* packing : {"", ".gz", ".xz"}) {
        const auto found = here.find(lower_case(file.name) + packing);
        if (found != here.end()) found_.try_emplace(file.name, found->second);
      }
    }
  }
}

bool DataFiles::all_found() const { return found_.size() == info_.files.size(); }

const std::string& DataFiles::path(std::string_view file) const {
  if (const auto found = found_.find(file); found != found_.end()) return found->second;
  const auto wanted = std::ranges::find(info_.files, file, &DataFile::name);
  if (wanted == info_.files.end()) {
    throw Error(ErrorKind::internal, fmt::format("data set {} has no file {}", info_.name, file));
  }
  const std::string& hashed = wanted->hashed.empty() ? wanted->name : wanted->hashed;
  const std::string sum =
      wanted->sha256.empty() ? "no sha256 is known" : fmt::format("sha256 of {}: {}", hashed, wanted->sha256);
  fail_missing(fmt::format("data set {}: {} was not found in {}; get it from {} ({})", info_.name, wanted->name,
                           looked_in_.empty() ? "any folder" : joined(looked_in_, "or"), info_.address, sum),
               Need::data_folder);
}

}  // namespace assay
