#include "assay/data/io/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <thread>
#include <utility>

#include "assay/core/error.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kTick(50);     // between two looks whether to stop
constexpr size_t kLargestRead = size_t{1} << 24;   // likewise
constexpr size_t kLargestWrite = size_t{1} << 22;  // likewise

int try_open(const std::string& path, Descriptor::Use use) {
  const int access = use == Descriptor::Use::read ? O_RDONLY : O_WRONLY;
  return ::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

// Why a call has to be made again after a while: it was interrupted, somebody holds a lease on the file, or nobody
// reads the pipe yet.
bool passing(int error, const std::string& path) {
  if (error == EINTR || error == EAGAIN) return true;
  struct stat status{};
  return error == ENXIO && ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

Descriptor::Descriptor(const std::string& path, Use use, const Context& context) : path_(path), context_(context) {
  for (;;) {
    context_.check_cancelled();
    file_ = try_open(path_, use);
    if (file_ >= 0) break;
    const int error = errno;
    if (!passing(error, path_)) fail_io(path_, use == Use::read ? "open it" : "write it", error);
    if (error != EINTR) std::this_thread::sleep_for(kTick);
  }
  look_at_kind();
}

Descriptor::Descriptor(int file, std::string path, const Context& context, Close close)
    : path_(std::move(path)), context_(context), file_(file), owned_(close == Close::yes) {
  look_at_kind();
}

Descriptor::~Descriptor() {
  if (owned_ && file_ >= 0) ::close(file_);
}

void Descriptor::finish() {
  while (::fsync(file_) != 0) {
    if (errno != EINTR) fail_io(path_, "write it", errno);
    context_.check_cancelled();
  }
  const int closed = ::close(std::exchange(file_, -1));
  // The system has closed it even where it was interrupted.
  if (closed != 0 && errno != EINTR) fail_io(path_, "write it", errno);
}

void Descriptor::look_at_kind() {
  struct stat status{};
  may_wait_ = ::fstat(file_, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void Descriptor::wait_for(short events) const {
  for (;;) {
    context_.check_cancelled();
    pollfd state{file_, events, 0};
    // Errors and ends are events too: the call that follows says what they are.
    if (::poll(&state, 1, static_cast<int>(kTick.count())) > 0) return;
  }
}

size_t Descriptor::read(std::span<char> out) const {
  out = out.first(std::min(out.size(), kLargestRead));
  for (;;) {
    context_.check_cancelled();
    if (may_wait_) wait_for(POLLIN);
    const ssize_t count = ::read(file_, out.data(), out.size());
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR && errno != EAGAIN) fail_io(path_, "read it", errno);
  }
}

void Descriptor::write(std::string_view bytes) const {
  // Standard output belongs to others too and may block: a pipe that has room has room for this many bytes.
  const size_t most = may_wait_ && !owned_ ? size_t{PIPE_BUF} : kLargestWrite;
  while (!bytes.empty()) {
    context_.check_cancelled();
    if (may_wait_) wait_for(POLLOUT);
    const ssize_t count = ::write(file_, bytes.data(), std::min(bytes.size(), most));
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      fail_io(path_, "write it", errno);
    }
  }
}

}  // namespace assay
