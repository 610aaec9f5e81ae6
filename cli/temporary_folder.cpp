#include "cli/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <filesystem>

#include "assay/core/error.h"

namespace assay::cli {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& beside, const std::string& purpose) {
  const fs::path whole = fs::absolute(beside).lexically_normal();
  // "study/" has no last part of its own.
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  const auto make = [&](const fs::path& like) {
    path_ = fmt::format("{}.{}-XXXXXX", like.string(), purpose);
    return ::mkdtemp(path_.data()) != nullptr;
  };
  if (make(named)) return;
  const int problem = errno;
  if (!make(fs::temp_directory_path() / named.filename())) {
    fail_io(named.parent_path().string(), "create a folder in it", problem);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay::cli
