// A folder that is removed, with all in it, by the destructor.
#pragma once

#include <string>

namespace assay::cli {

class TemporaryFolder {
 public:
  // Makes a new folder beside this path, or among the system's temporary files if nothing can be made there (a medium
  // that is only read). Its name begins with the last part of the path and is not in use.
  TemporaryFolder(const std::string& beside, const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace assay::cli
