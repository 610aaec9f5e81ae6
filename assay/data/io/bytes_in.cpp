#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/descriptor.h"
#include "assay/data/io/unpacking.h"

namespace assay {
namespace {

constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);

class FileSource : public ByteSource {
 public:
  FileSource(const std::string& path, const Context& context)
      : ByteSource(path), file_(path, Descriptor::Use::read, context) {
    struct stat status{};
    if (::fstat(file_.number(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) fail_input(path, "a file", "a folder");
    if (S_ISREG(status.st_mode)) remaining_ = static_cast<uint64_t>(status.st_size);
  }

  size_t read(std::span<char> out) override {
    const size_t count = file_.read(out);
    if (remaining_) *remaining_ -= std::min<uint64_t>(*remaining_, count);
    return count;
  }
  std::optional<uint64_t> remaining() const override { return remaining_; }

 private:
  Descriptor file_;
  std::optional<uint64_t> remaining_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes, const Context& context)
      : ByteSource(std::move(name)), bytes_(bytes), context_(context) {}

  size_t read(std::span<char> out) override {
    context_.check_cancelled();
    const size_t count = std::min(out.size(), bytes_.size());
    std::memcpy(out.data(), bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }
  std::optional<uint64_t> remaining() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  Context context_;
};

// Gives back the first bytes, which were read to recognise the compression, before the rest.
class PeekedSource : public ByteSource {
 public:
  PeekedSource(std::string head, std::unique_ptr<ByteSource> rest)
      : ByteSource(rest->name()), head_(std::move(head)), rest_(std::move(rest)) {}

  size_t read(std::span<char> out) override {
    if (position_ == head_.size()) return rest_->read(out);
    const size_t count = std::min(out.size(), head_.size() - position_);
    std::memcpy(out.data(), head_.data() + position_, count);
    position_ += count;
    return count;
  }
  std::optional<uint64_t> remaining() const override {
    auto left = rest_->remaining();
    if (left) *left += head_.size() - position_;
    return left;
  }

 private:
  std::string head_;
  size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// The packed bytes, a chunk at a time, and what they may unpack to.
class PackedInput {
 public:
  explicit PackedInput(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), size_(packed_->remaining()), chunk_(kChunkBytes) {
    limit_.add_packed(size_.value_or(0));
  }

  // Empty at the end.
  std::span<char> next() {
    const size_t count = packed_->read(chunk_);
    if (!size_) limit_.add_packed(count);
    return std::span(chunk_).first(count);
  }
  void account(size_t unpacked) { limit_.add_unpacked(packed_->name(), unpacked); }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::optional<uint64_t> size_;
  std::vector<char> chunk_;
  UnpackingLimit limit_;
};

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, const Context& context)
      : ByteSource(packed->name()), packed_(std::move(packed)), context_(context) {
    constexpr int kGzipWrapper = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipWrapper) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  size_t read(std::span<char> out) override {
    if (out.empty()) return 0;
    out = out.first(std::min(out.size(), kMostReadAtOnce));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out == out.size()) {
      context_.check_cancelled();
      if (stream_.avail_in == 0 && !fill()) {
        if (inside_member_) fail_input(name(), "a whole gzip file", "one that ends in the middle");
        return 0;
      }
      // A gzip file may be several members, one after another.
      if (!inside_member_) {
        inflateReset(&stream_);
        inside_member_ = true;
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        inside_member_ = false;
      } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        fail_input(name(), "a valid gzip file", "damaged compressed data");
      }
    }
    const size_t count = out.size() - stream_.avail_out;
    packed_.account(count);
    return count;
  }

 private:
  bool fill() {
    const auto input = packed_.next();
    stream_.next_in = reinterpret_cast<Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    return !input.empty();
  }

  PackedInput packed_;
  Context context_;
  z_stream stream_{};
  bool inside_member_ = true;
};

class XzSource : public ByteSource {
 public:
  XzSource(std::unique_ptr<ByteSource> packed, const Context& context)
      : ByteSource(packed->name()), packed_(std::move(packed)), context_(context) {
    // `xz -9` needs 65 MiB to unpack; a file that asks for far more is hostile.
    constexpr uint64_t kMemoryLimit = uint64_t{256} << 20;
    if (lzma_stream_decoder(&stream_, kMemoryLimit, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzSource() override { lzma_end(&stream_); }

  size_t read(std::span<char> out) override {
    if (out.empty()) return 0;
    out = out.first(std::min(out.size(), kMostReadAtOnce));
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !finished_) {
      context_.check_cancelled();
      if (stream_.avail_in == 0) {
        const auto input = packed_.next();
        stream_.next_in = reinterpret_cast<const uint8_t*>(input.data());
        stream_.avail_in = input.size();
        if (stream_.avail_in == 0) action_ = LZMA_FINISH;
      }
      switch (lzma_code(&stream_, action_)) {
        case LZMA_OK: break;
        case LZMA_STREAM_END: finished_ = true; break;
        case LZMA_MEM_ERROR: throw std::bad_alloc();
        case LZMA_MEMLIMIT_ERROR:
          fail_input(name(), "an xz file that unpacks within 256 MiB of memory", "one that needs more");
        case LZMA_BUF_ERROR: fail_input(name(), "a whole xz file", "one that ends in the middle");
        default: fail_input(name(), "a valid xz file", "damaged compressed data");
      }
    }
    const size_t count = out.size() - stream_.avail_out;
    packed_.account(count);
    return count;
  }

 private:
  PackedInput packed_;
  Context context_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_action action_ = LZMA_RUN;
  bool finished_ = false;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source, const Context& context) {
  std::string head(kXzMagic.size(), '\0');
  head.resize(source->read_fully(head));
  const std::string_view start = head;
  const bool gzip = start.starts_with(kGzipMagic);
  const bool xz = start == kXzMagic;
  auto whole = std::make_unique<PeekedSource>(std::move(head), std::move(source));
  if (gzip) return std::make_unique<GzipSource>(std::move(whole), context);
  if (xz) return std::make_unique<XzSource>(std::move(whole), context);
  return whole;
}

}  // namespace

size_t ByteSource::read_fully(std::span<char> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const size_t count = read(out.subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path, const Context& context) {
  return unpacked(std::make_unique<FileSource>(path, context), context);
}

std::unique_ptr<ByteSource> memory_bytes(std::string name, std::string_view bytes) {
  return unpacked(std::make_unique<MemorySource>(std::move(name), bytes, Context{}), {});
}

std::string read_all(ByteSource& source, uint64_t limit) {
  std::string out;
  for (;;) {
    const size_t old_size = out.size();
    // A known size is taken at once; an unknown one doubles what has really arrived.
    const uint64_t step = source.remaining().value_or(std::max<size_t>(kChunkBytes, old_size));
    const uint64_t allowed = limit - old_size;
    out.resize(old_size + std::min(step, allowed));
    out.resize(old_size + source.read_fully(std::span(out).subspan(old_size)));
    if (out.size() > old_size && out.size() < limit && !source.remaining()) continue;
    // One byte more, in a place of its own: growing a large string by it would copy it all.
    char beyond = 0;
    if (source.read_fully(std::span(&beyond, 1)) == 0) return out;
    if (out.size() == limit) fail_input(source.name(), fmt::format("at most {} bytes", limit), "more");
    out += beyond;
  }
}

ByteOpener reopenable(const std::string& path, const Context& context) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    auto bytes = std::make_shared<std::string>(read_all(*open_bytes(path, context)));
    return [path, bytes, context] { return unpacked(std::make_unique<MemorySource>(path, *bytes, context), context); };
  }
  return [path, context] { return open_bytes(path, context); };
}

Packing packing_of(const std::string& path) {
  const std::string lower = lower_case(path);
  if (lower.ends_with(".gz")) return Packing::gzip;
  return lower.ends_with(".xz") ? Packing::xz : Packing::none;
}

std::string format_extension(const std::string& path) {
  std::string name = lower_case(path.substr(path.find_last_of('/') + 1));
  if (packing_of(name) != Packing::none) name.resize(name.size() - 3);
  const size_t dot = name.find_last_of('.');
  return dot == std::string::npos ? "" : name.substr(dot);
}

}  // namespace assay
