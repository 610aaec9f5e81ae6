#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "assay/core/error.h"
#include "assay/model/graph/onnx_parts.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Some writers give every tensor a file of its own: a model may have more of them than a process may open.
constexpr size_t kMostOpen = 64;

[[noreturn]] void refuse(std::string_view where, const std::string& location, std::string_view found) {
  fail_input(where, fmt::format("its external data in the file {}", in_quotes(location)), found);
}

[[noreturn]] void refuse(std::string_view where, const std::string& location, const std::error_code& error) {
  refuse(where, location, error == std::errc::no_such_file_or_directory ? "no such file" : error.message());
}

}  // namespace

class OnnxExternalFiles::File {
 public:
  File(std::string_view where, const std::string& location, const std::string& path) : path_(path) {
    // The path has no links left, so one that appears now is not followed; a pipe must not block.
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file_ < 0) refuse(where, location, std::error_code(errno, std::generic_category()));
    struct stat status{};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(file_);
      refuse(where, location, "something that is not a regular file");
    }
    size_ = static_cast<uint64_t>(status.st_size);
  }
  ~File() { ::close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  std::string read(uint64_t offset, uint64_t size) const {
    std::string out(size, '\0');
    size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::pread(file_, out.data() + filled, out.size() - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno != EINTR) fail_io(path_, "read it", errno);
      if (got == 0) fail_input(path_, fmt::format("{} bytes", size_), "fewer: the file changed while it was read");
      if (got > 0) filled += static_cast<size_t>(got);
    }
    return out;
  }

 private:
  std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
};

OnnxExternalFiles::File& OnnxExternalFiles::open(std::string_view where, const std::string& location) {
  if (folder_.empty()) refuse(where, location, "a model that is not in a folder");
  if (location.empty() || location.find('\0') != std::string::npos) refuse(where, location, "no name of a file");
  const fs::path relative = location;
  if (relative.is_absolute() || std::ranges::find(relative, "..") != relative.end()) {
    fail_input(where, "external data in the model's folder", in_quotes(location));
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error) refuse(where, location, error);
  const fs::path path = fs::canonical(folder / relative, error);
  if (error) refuse(where, location, error);
  if (std::ranges::mismatch(folder, path).in1 != folder.end()) {
    fail_input(where, "external data in the model's folder",
               fmt::format("{}, a link to {}", in_quotes(location), in_quotes(path.string())));
  }
  auto found = open_.find(path.string());
  if (found == open_.end()) {
    if (open_.size() >= kMostOpen) open_.clear();
    found = open_.emplace(path.string(), std::make_shared<File>(where, location, path.string())).first;
  }
  return *found->second;
}

std::string OnnxExternalFiles::read(std::string_view where, const std::string& location, uint64_t offset,
                                    uint64_t size) {
  // Small files are left alone: many scalars may share one.
  constexpr uint64_t kAlwaysAllowed = uint64_t{16} << 20;
  const File& file = open(where, location);
  if (offset > file.size() || size > file.size() - offset) {
    fail_input(where, fmt::format("{} bytes at offset {} of {}", size, offset, in_quotes(location)),
               fmt::format("a file of {} bytes", file.size()));
  }
  uint64_t& taken = taken_[file.path()];
  taken += size;
  if (taken > kAlwaysAllowed && taken / 4 > file.size()) {
    fail_input(where, fmt::format("tensors that share little of {}", in_quotes(location)),
               fmt::format("more than four times its {} bytes asked for", file.size()));
  }
  return file.read(offset, size);
}

}  // namespace assay
