// Open files of the system that do not keep a cancelled caller waiting.
//
// A pipe without a writer, or with a reader that has stopped, keeps open(), read() and write() waiting for ever, and a
// signal ends the wait only where it comes to the waiting thread, after the call began. So nothing here waits inside of
// those calls: files are opened not to block, and the wait for bytes or room is cut into short ones, with a look at the
// context between them. Regular files never make a call wait in this sense.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "assay/core/context.h"

namespace assay {

class Descriptor {
 public:
  // Opens an existing file; for writing, waits for the reader of a pipe. Failures are io errors that name the path.
  enum class Use { read, write };
  Descriptor(const std::string& path, Use use, const Context& context);
  // One that is open already. What is not to be closed belongs to others too (standard output): it may block.
  enum class Close { no, yes };
  Descriptor(int file, std::string path, const Context& context, Close close = Close::no);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return file_; }
  // At most out.size() bytes; 0 at the end.
  size_t read(std::span<char> out) const;
  // All of them.
  void write(std::string_view bytes) const;
  // Closes it once everything is on the disk: a name must not point at bytes that a power cut would lose.
  void finish();

 private:
  void look_at_kind();
  void wait_for(short events) const;

  std::string path_;
  Context context_;
  int file_ = -1;
  bool owned_ = true;      // and so closed in the end
  bool may_wait_ = false;  // it is no regular file
};

}  // namespace assay
