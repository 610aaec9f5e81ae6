// File descriptors whose waiting can be cancelled.
//
// On a pipe, open(), read() and write() may wait for ever, if nobody opens the other end or the reader has stopped. A
// signal ends the wait only if it reaches the waiting thread after the call began. So nothing here waits inside those
// calls: files are opened so as not to block, and the wait for bytes or room is cut into short waits, with a look at
// the context between them. Regular files never make a call wait in this sense.
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
  // Takes a file that is open already. With Close::no it is shared with others (standard output) and may block.
  enum class Close { no, yes };
  Descriptor(int file, std::string path, const Context& context, Close close = Close::no);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return file_; }
  // At most out.size() bytes; 0 at the end.
  size_t read(std::span<char> out) const;
  // Writes all bytes.
  void write(std::string_view bytes) const;
  // Closes it once everything is on the disk: a name must not point at bytes that a power cut would lose.
  void finish();

 private:
  void look_at_kind();
  void wait_for(short events) const;

  std::string path_;
  Context context_;
  int file_ = -1;
  bool owned_ = true;      // the destructor closes it
  bool may_wait_ = false;  // not a regular file or folder
};

}  // namespace assay
