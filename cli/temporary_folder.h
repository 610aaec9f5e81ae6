// A folder that is gone with this, whatever happens.
#pragma once

#include <string>

namespace assay::cli {

class TemporaryFolder {
 public:
  // Beside this path, by a name that begins like it and that nobody could have made before.
  TemporaryFolder(const std::string& beside, const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace assay::cli
