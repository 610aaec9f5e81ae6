#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <vector>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/descriptor.h"

namespace assay {
namespace {

constexpr size_t kMostWrittenAtOnce = size_t{1} << 20;  // between two looks whether to stop

// Through symbolic links the file behind them is replaced, not the link, whether or not that file exists yet.
std::string behind_links(const std::string& path) {
  std::filesystem::path target(path);
  std::error_code ignored;
  for (int hops = 0; hops < 40 && std::filesystem::is_symlink(target, ignored); ++hops) {
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  }
  return target.string();
}

}  // namespace

class AtomicFile::Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() {}
};

class AtomicFile::FileSink : public AtomicFile::Sink {
 public:
  FileSink(const std::string& path, const Context& context) : path_(path), context_(context) {
    struct stat status{};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (path == "-") {
      file_ = std::make_unique<Descriptor>(STDOUT_FILENO, path, context);
      return;
    }
    if (exists && S_ISDIR(status.st_mode)) fail_input(path, "the name of a file to write", "a folder");
    if (exists && !S_ISREG(status.st_mode)) {
      file_ = std::make_unique<Descriptor>(path, Descriptor::Use::write, context);
      return;
    }
    path_ = behind_links(path);
    open_temporary();
    if (exists) (void)::fchmod(file_->number(), status.st_mode & 07777);  // best effort: the old file's permissions
  }
  // A temporary name beside the file: short enough for any file system, and not one that a killed run left behind.
  void open_temporary() {
    static std::atomic<unsigned> serial{0};
    const std::filesystem::path target(path_);
    const std::string stem = (target.parent_path() / target.filename().string().substr(0, 200)).string();
    int made = -1;
    do {
      temporary_ = stem + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
      made = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (made < 0 && (errno == EEXIST || errno == EINTR));
    if (made < 0) {
      temporary_.clear();
      fail_io(path_, "write it", errno);
    }
    file_ = std::make_unique<Descriptor>(made, path_, context_, Descriptor::Close::yes);
  }
  ~FileSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::string_view bytes) override { file_->write(bytes); }
  void finish() override {
    if (temporary_.empty()) return;
    file_->finish();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_io(path_, "replace it", errno);
    temporary_.clear();
  }

 private:
  std::string path_;
  Context context_;
  std::string temporary_;  // empty when writing directly, or when done
  std::unique_ptr<Descriptor> file_;
};

class AtomicFile::GzipSink : public AtomicFile::Sink {
 public:
  explicit GzipSink(Sink& next) : next_(next), output_(kChunkBytes) {
    // No name and no time in the header: the same content gives the same bytes.
    constexpr int kGzipWrapper = 16 + MAX_WBITS;
    if (deflateInit2(&stream_, 6, Z_DEFLATED, kGzipWrapper, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSink() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, size_t{1} << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      drain(Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  void finish() override { drain(Z_FINISH); }

 private:
  void drain(int flush) {
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      deflate(&stream_, flush);
      next_.write({output_.data(), output_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  Sink& next_;
  std::vector<char> output_;
  z_stream stream_{};
};

class AtomicFile::XzSink : public AtomicFile::Sink {
 public:
  explicit XzSink(Sink& next) : next_(next), output_(kChunkBytes) {
    if (lzma_easy_encoder(&stream_, 6, LZMA_CHECK_CRC64) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzSink() override { lzma_end(&stream_); }

  void write(std::string_view bytes) override {
    stream_.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    while (stream_.avail_in > 0) code(LZMA_RUN);
  }
  void finish() override {
    while (code(LZMA_FINISH) != LZMA_STREAM_END) {
    }
  }

 private:
  lzma_ret code(lzma_action action) {
    stream_.next_out = reinterpret_cast<uint8_t*>(output_.data());
    stream_.avail_out = output_.size();
    const lzma_ret result = lzma_code(&stream_, action);
    if (result != LZMA_OK && result != LZMA_STREAM_END) throw std::bad_alloc();
    next_.write({output_.data(), output_.size() - stream_.avail_out});
    return result;
  }

  Sink& next_;
  std::vector<char> output_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

AtomicFile::AtomicFile(const std::string& path, const Context& context)
    : context_(context), file_(std::make_unique<FileSink>(path, context)) {
  if (packing_of(path) == Packing::gzip) filter_ = std::make_unique<GzipSink>(*file_);
  if (packing_of(path) == Packing::xz) filter_ = std::make_unique<XzSink>(*file_);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  Sink& sink = filter_ ? *filter_ : *file_;
  while (!bytes.empty()) {
    context_.check_cancelled();
    const auto part = bytes.substr(0, kMostWrittenAtOnce);
    sink.write(part);
    bytes.remove_prefix(part.size());
  }
}

void AtomicFile::commit() {
  context_.check_cancelled();
  if (filter_) filter_->finish();
  file_->finish();
}

}  // namespace assay
