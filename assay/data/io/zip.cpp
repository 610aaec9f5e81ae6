#include "assay/data/io/zip.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/io/unpacking.h"

namespace assay {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kCentralMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kLocator64Size = 20;
constexpr uint64_t kMaxDirectory = uint64_t{64} << 20;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

// Takes little-endian numbers off the front of bytes whose length was checked.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }
  std::string_view take(size_t count) {
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(out.size());
    return out;
  }
  uint64_t number(size_t width) {
    uint64_t value = 0;
    int shift = 0;
    for (const char c : take(width)) {
      value |= uint64_t{static_cast<unsigned char>(c)} << shift;
      shift += 8;
    }
    return value;
  }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }

 private:
  std::string_view bytes_;
};

uint32_t crc_of(uint32_t crc, std::string_view bytes) {
  // zlib takes a null pointer as a wish to start again.
  if (bytes.empty()) return crc;
  return static_cast<uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

class ZipReader::Storage {
 public:
  explicit Storage(const Context& context) : context_(context) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;
  virtual uint64_t size() const = 0;
  // Fills out, fewer bytes only at the end.
  virtual size_t read_at(uint64_t offset, std::span<char> out) const = 0;
  void check_cancelled() const { context_.check_cancelled(); }

 private:
  Context context_;
};

namespace {

class FileStorage : public ZipReader::Storage {
 public:
  FileStorage(const std::string& path, const Context& context) : Storage(context), path_(path) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail_io(path, "open it", errno);
    struct stat status{};
    if (::fstat(file_, &status) == 0) size_ = static_cast<uint64_t>(status.st_size);
  }
  ~FileStorage() override { ::close(file_); }
  uint64_t size() const override { return size_; }
  size_t read_at(uint64_t offset, std::span<char> out) const override {
    size_t filled = 0;
    while (filled < out.size()) {
      check_cancelled();
      const size_t step = std::min(out.size() - filled, kMostReadAtOnce);
      const ssize_t count = ::pread(file_, out.data() + filled, step, static_cast<off_t>(offset + filled));
      if (count == 0) break;
      if (count > 0) {
        filled += static_cast<size_t>(count);
      } else if (errno != EINTR) {
        fail_io(path_, "read it", errno);
      }
    }
    return filled;
  }

 private:
  std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
};

class MemoryStorage : public ZipReader::Storage {
 public:
  MemoryStorage(std::string bytes, const Context& context) : Storage(context), bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  size_t read_at(uint64_t offset, std::span<char> out) const override {
    if (offset >= bytes_.size()) return 0;
    const size_t count = std::min(out.size(), bytes_.size() - offset);
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
};

std::string read_part(const ZipReader::Storage& storage, const std::string& where, uint64_t offset, size_t count) {
  std::string out(count, '\0');
  if (storage.read_at(offset, out) < count) fail_input(where, "a whole ZIP archive", "one that ends in the middle");
  return out;
}

// The bytes of an entry as they are in the archive.
class PackedBytes {
 public:
  PackedBytes(std::shared_ptr<const ZipReader::Storage> storage, uint64_t offset, uint64_t size)
      : storage_(std::move(storage)), offset_(offset), left_(size) {}

  uint64_t left() const { return left_; }
  void check_cancelled() const { storage_->check_cancelled(); }
  size_t read(const std::string& where, std::span<char> out) {
    const auto part = out.first(static_cast<size_t>(std::min<uint64_t>(out.size(), left_)));
    const size_t count = storage_->read_at(offset_, part);
    if (count < part.size()) fail_input(where, "a whole ZIP archive", "one that ends in the middle");
    offset_ += count;
    left_ -= count;
    return count;
  }

 private:
  std::shared_ptr<const ZipReader::Storage> storage_;
  uint64_t offset_;
  uint64_t left_;
};

class EntrySource : public ByteSource {
 public:
  EntrySource(std::string name, const ZipEntry& entry, PackedBytes packed)
      : ByteSource(std::move(name)), packed_(std::move(packed)), size_(entry.size), expected_crc_(entry.crc) {}

 protected:
  // Everything given out passes here, and so does the end.
  void account(std::string_view bytes, bool at_end) {
    packed_.check_cancelled();
    given_ += bytes.size();
    crc_ = crc_of(crc_, bytes);
    if (given_ > size_ || (at_end && given_ < size_)) {
      fail_input(this->name(), fmt::format("{} bytes", size_), given_ > size_ ? "more" : fmt::format("{}", given_));
    }
    if (at_end && crc_ != expected_crc_) {
      fail_input(this->name(), fmt::format("data with CRC {:08x}", expected_crc_),
                 fmt::format("{:08x}; the file is damaged", crc_));
    }
  }
  PackedBytes packed_;

 private:
  uint64_t size_;
  uint64_t given_ = 0;
  uint32_t expected_crc_;
  uint32_t crc_ = 0;
};

class StoredEntry : public EntrySource {
 public:
  using EntrySource::EntrySource;
  size_t read(std::span<char> out) override {
    out = out.first(std::min(out.size(), kMostReadAtOnce));
    const size_t count = packed_.read(name(), out);
    account({out.data(), count}, packed_.left() == 0);
    return count;
  }
  // The directory's claim was compared with the archive's real size.
  std::optional<uint64_t> remaining() const override { return packed_.left(); }
};

class DeflatedEntry : public EntrySource {
 public:
  DeflatedEntry(std::string name, const ZipEntry& entry, PackedBytes packed)
      : EntrySource(std::move(name), entry, std::move(packed)), input_(kChunkBytes) {
    limit_.add_packed(entry.packed_size);
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~DeflatedEntry() override { inflateEnd(&stream_); }

  size_t read(std::span<char> out) override {
    if (out.empty() || finished_) return 0;
    out = out.first(std::min(out.size(), kMostReadAtOnce));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out == out.size() && !finished_) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(packed_.read(name(), input_));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        finished_ = true;
      } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (result == Z_BUF_ERROR ||
                 (result == Z_OK && stream_.avail_in == 0 && packed_.left() == 0 && stream_.avail_out == out.size())) {
        fail_input(name(), "whole compressed data", "data that ends in the middle");
      } else if (result != Z_OK) {
        fail_input(name(), "valid compressed data", "damaged data");
      }
    }
    if (finished_ && stream_.avail_in + packed_.left() > 0) {
      fail_input(name(), "nothing after the compressed data",
                 fmt::format("{} more bytes", stream_.avail_in + packed_.left()));
    }
    const size_t count = out.size() - stream_.avail_out;
    limit_.add_unpacked(name(), count);
    account({out.data(), count}, finished_);
    return count;
  }

 private:
  UnpackingLimit limit_;
  std::vector<char> input_;
  z_stream stream_{};
  bool finished_ = false;
};

struct Directory {
  uint64_t offset;
  uint64_t size;
  uint64_t count;
};

[[noreturn]] void fail_disks(const std::string& where) {
  fail_input(where, "a ZIP archive in one file", "a part of one that spans several");
}

Directory find_directory(const ZipReader::Storage& storage, const std::string& where) {
  constexpr size_t kMaxComment = 0xffff;
  const auto tail_size = static_cast<size_t>(std::min<uint64_t>(storage.size(), kEndSize + kMaxComment));
  const uint64_t tail_start = storage.size() - tail_size;
  const std::string tail = read_part(storage, where, tail_start, tail_size);
  for (size_t at = tail_size < kEndSize ? 0 : tail_size - kEndSize + 1; at-- > 0;) {
    Fields end(std::string_view(tail).substr(at));
    if (end.u32() != kEndMagic) continue;
    const uint16_t disk = end.u16(), directory_disk = end.u16(), count_here = end.u16(), count = end.u16();
    const uint32_t size = end.u32(), offset = end.u32();
    // The record's mark may occur inside a comment by chance; the real one's comment ends where the file ends.
    if (const uint16_t comment = end.u16(); comment != end.size()) continue;
    Directory directory{offset, size, count};
    uint64_t end_at = tail_start + at;
    const bool sentinel = count == UINT16_MAX || size == UINT32_MAX || offset == UINT32_MAX;
    if (sentinel && end_at >= kLocator64Size) {
      const std::string locator_bytes = read_part(storage, where, end_at - kLocator64Size, kLocator64Size);
      Fields locator(locator_bytes);
      if (locator.u32() == kLocator64Magic) {
        const uint32_t end64_disk = locator.u32();
        const uint64_t end64_at = locator.u64();
        if (end64_disk != 0 || locator.u32() > 1) fail_disks(where);
        end_at -= kLocator64Size;
        if (end_at < kEnd64Size || end64_at > end_at - kEnd64Size) {
          fail_input(where, "a zip64 directory inside the file", fmt::format("one at byte {}", end64_at));
        }
        const std::string end64_bytes = read_part(storage, where, end64_at, kEnd64Size);
        Fields end64(end64_bytes);
        if (end64.u32() != kEnd64Magic) fail_input(where, "a zip64 end record", "other bytes");
        end64.take(12);
        const uint32_t disk64 = end64.u32(), directory_disk64 = end64.u32();
        const uint64_t count_here64 = end64.u64(), count64 = end64.u64();
        if (disk64 != 0 || directory_disk64 != 0 || count_here64 != count64) fail_disks(where);
        directory.count = count64;
        directory.size = end64.u64();
        directory.offset = end64.u64();
        end_at = end64_at;
      }
    } else if (disk != 0 || directory_disk != 0 || count_here != count) {
      fail_disks(where);
    }
    if (directory.offset > end_at || directory.size > end_at - directory.offset) {
      fail_input(where, fmt::format("a ZIP directory before byte {}", end_at),
                 fmt::format("one of {} bytes at byte {}", directory.size, directory.offset));
    }
    if (directory.size > kMaxDirectory) {
      fail_input(where, fmt::format("a ZIP directory of at most {} bytes", kMaxDirectory),
                 fmt::format("{}", directory.size));
    }
    return directory;
  }
  fail_input(where, "a ZIP archive", "no end of its directory; the file is cut short or not a ZIP archive");
}

// Sizes and offset that do not fit in 32 bits stand in an extra field, in this order, each only where needed.
void apply_zip64(const std::string& where, std::string_view extra, ZipEntry& entry) {
  uint64_t* values[] = {&entry.size, &entry.packed_size, &entry.offset};
  if (std::ranges::none_of(values, [](const uint64_t* value) { return *value == UINT32_MAX; })) return;
  for (Fields fields(extra); fields.size() >= 4;) {
    const uint16_t id = fields.u16(), length = fields.u16();
    Fields body(fields.take(length));
    if (id != kZip64Field) continue;
    for (uint64_t* value : values) {
      if (*value != UINT32_MAX) continue;
      if (body.size() < 8) fail_input(where, "whole zip64 sizes", "too few bytes");
      *value = body.u64();
    }
    return;
  }
}

std::string entry_where(const std::string& archive, std::string_view entry) {
  return fmt::format("{}, entry {}", archive, in_quotes(entry));
}

}  // namespace

ZipReader::ZipReader(const std::string& path, const Context& context) : name_(path) {
  const auto source = open_bytes(path, context);
  // Only what is neither compressed nor a pipe knows its size.
  if (source->remaining()) {
    storage_ = std::make_shared<FileStorage>(path, context);
  } else {
    storage_ = std::make_shared<MemoryStorage>(read_all(*source), context);
  }
  read_directory();
}

ZipReader::ZipReader(std::string name, std::string_view bytes) : name_(std::move(name)) {
  storage_ = std::make_shared<MemoryStorage>(read_all(*memory_bytes(name_, bytes)), Context{});
  read_directory();
}

void ZipReader::read_directory() {
  const Directory directory = find_directory(*storage_, name_);
  const std::string bytes = read_part(*storage_, name_, directory.offset, static_cast<size_t>(directory.size));
  std::unordered_set<std::string> names;
  for (Fields fields(bytes); fields.size() > 0;) {
    if (fields.size() < kCentralSize || fields.u32() != kCentralMagic) {
      fail_input(name_, fmt::format("a ZIP directory of {} entries", directory.count),
                 fmt::format("other bytes after {}", entries_.size()));
    }
    fields.take(4);
    const uint16_t flags = fields.u16(), method = fields.u16();
    fields.take(4);
    ZipEntry entry;
    entry.crc = fields.u32();
    entry.packed_size = fields.u32();
    entry.size = fields.u32();
    const uint16_t name_size = fields.u16(), extra_size = fields.u16(), comment_size = fields.u16();
    const uint16_t disk = fields.u16();
    fields.take(6);
    entry.offset = fields.u32();
    if (size_t{name_size} + extra_size + comment_size > fields.size()) {
      fail_input(name_, "a whole ZIP directory", "one that ends in the middle");
    }
    entry.name = fields.take(name_size);
    const std::string where = entry_where(name_, entry.name);
    apply_zip64(where, fields.take(extra_size), entry);
    fields.take(comment_size);

    constexpr uint16_t kEncryptedBits = 0x0001 | 0x0040 | 0x2000;
    constexpr uint16_t kPatchBit = 0x0020;
    if ((flags & kEncryptedBits) != 0) fail_input(where, "no encryption", "an encrypted entry");
    if (disk != 0) fail_disks(where);
    if ((method != kStored && method != kDeflated) || (flags & kPatchBit) != 0) {
      fail_input(where, "an entry that is stored or deflated", fmt::format("compression method {}", method));
    }
    entry.deflated = method == kDeflated;
    if (!entry.deflated && entry.size != entry.packed_size) {
      fail_input(where, fmt::format("{} bytes, its size", entry.size), fmt::format("{}", entry.packed_size));
    }
    if (!names.insert(entry.name).second) fail_input(where, "each name once", "it twice");
    entries_.push_back(std::move(entry));
  }
  if (entries_.size() != directory.count) {
    fail_input(name_, fmt::format("a ZIP directory of {} entries", directory.count),
               fmt::format("{}", entries_.size()));
  }

  std::vector<ZipEntry*> in_file;
  for (auto& entry : entries_) in_file.push_back(&entry);
  std::ranges::sort(in_file, {}, [](const ZipEntry* entry) { return entry->offset; });
  for (size_t i = 0; i < in_file.size(); ++i) {
    ZipEntry& entry = *in_file[i];
    entry.limit = i + 1 < in_file.size() ? std::min(in_file[i + 1]->offset, directory.offset) : directory.offset;
    const uint64_t header = kLocalSize + entry.name.size();
    if (entry.offset > entry.limit || header > entry.limit - entry.offset ||
        entry.packed_size > entry.limit - entry.offset - header) {
      fail_input(entry_where(name_, entry.name), fmt::format("data that ends before byte {}", entry.limit),
                 fmt::format("{} bytes at byte {}", entry.packed_size, entry.offset));
    }
  }
}

std::unique_ptr<ByteSource> ZipReader::open(const ZipEntry& entry) const {
  std::string where = entry_where(name_, entry.name);
  const std::string header = read_part(*storage_, where, entry.offset, kLocalSize);
  Fields fields(header);
  if (fields.u32() != kLocalMagic) fail_input(where, "a ZIP entry where the directory says it is", "other bytes");
  fields.take(4);
  if (fields.u16() != (entry.deflated ? kDeflated : kStored)) {
    fail_input(where, "the compression method that the directory says", "another");
  }
  fields.take(16);
  const uint16_t name_size = fields.u16(), extra_size = fields.u16();
  const uint64_t data = entry.offset + kLocalSize + name_size + extra_size;
  if (data > entry.limit || entry.packed_size > entry.limit - data) {
    fail_input(where, fmt::format("data that ends before byte {}", entry.limit),
               fmt::format("{} bytes at byte {}", entry.packed_size, data));
  }
  if (read_part(*storage_, where, entry.offset + kLocalSize, name_size) != entry.name) {
    fail_input(where, "the name that the directory says", "another");
  }
  PackedBytes packed(storage_, data, entry.packed_size);
  if (entry.deflated) return std::make_unique<DeflatedEntry>(std::move(where), entry, std::move(packed));
  return std::make_unique<StoredEntry>(std::move(where), entry, std::move(packed));
}

}  // namespace assay
