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
  path_ = fmt::format("{}.{}-XXXXXX", named.string(), purpose);
  if (::mkdtemp(path_.data()) == nullptr) fail_io(named.parent_path().string(), "create a folder in it", errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay::cli
