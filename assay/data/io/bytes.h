// Reads the bytes of plain, .gz and .xz files, and writes files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/core/context.h"

namespace assay {

// The size of buffers for reading and writing.
inline constexpr size_t kChunkBytes = size_t{1} << 16;

// A stream of bytes read once, front to back.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills at most out.size() bytes and returns how many; 0 only at the end.
  virtual size_t read(std::span<char> out) = 0;
  // Bytes left, where that is known without reading them (plain files and memory).
  virtual std::optional<uint64_t> remaining() const { return std::nullopt; }
  // The file's name, for messages.
  const std::string& name() const { return name_; }

  // As many bytes as there are, up to out.size(): fewer only at the end.
  size_t read_fully(std::span<char> out);

 private:
  std::string name_;
};

// Opens a file; gzip and xz are recognised by their first bytes, not by the name, and unpacked while reading.
// Reading stops with Error(cancelled) when the context says so.
std::unique_ptr<ByteSource> open_bytes(const std::string& path, const Context& context = {});
// Bytes in memory (which must outlive the source), unpacked likewise.
std::unique_ptr<ByteSource> memory_bytes(std::string name, std::string_view bytes);

// Everything that is left. Memory grows with what arrives, never by what a header claims; more than `limit` bytes is
// an input error.
std::string read_all(ByteSource& source, uint64_t limit = UINT64_MAX);

// Something that can be opened again and again, as a reader of two passes needs.
using ByteOpener = std::function<std::unique_ptr<ByteSource>()>;
// For a path: opens the file anew each time; a pipe is read into memory once, at the first call here.
ByteOpener reopenable(const std::string& path, const Context& context = {});

// A file that appears whole or not at all: bytes go to a temporary file beside it, which replaces it on commit. Without
// commit (an exception, a kill) the old file stays as it was. Names that end in .gz or .xz are compressed. "-" and
// things that are not regular files (/dev/null, a pipe) are written directly. Writing stops when the context is
// cancelled.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, const Context& context = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  class Sink;
  class FileSink;
  class GzipSink;
  class XzSink;
  Context context_;
  std::unique_ptr<FileSink> file_;
  std::unique_ptr<Sink> filter_;
};

enum class Packing { none, gzip, xz };
// By what the name ends in, in upper or lower case.
Packing packing_of(const std::string& path);

// The extension in lower case, before .gz or .xz if there is one: "a/B.CSV.gz" gives ".csv".
std::string format_extension(const std::string& path);

}  // namespace assay
