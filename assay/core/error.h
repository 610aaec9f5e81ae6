// What went wrong, in one sentence a user can act on.
//
// Bad input is an Error whose message names the thing (file, line, column, option, operator), what was expected
// and what was found. Asserts are for our own bugs. The library never prints, exits or aborts.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/refusal.h"
#include "assay/core/text.h"

namespace assay {

enum class ErrorKind {
  input,        // a file or value from outside is not what it must be
  io,           // the operating system refused to read or write
  unsupported,  // well formed, but nothing here can do it
  cancelled,    // the caller asked to stop
  internal,     // our own bug
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, Need need = Need::none)
      : kind_(kind), message_(std::move(message)), need_(need) {}

  ErrorKind kind() const noexcept { return kind_; }
  // What would help, where something is missing that can be given.
  Need need() const noexcept { return need_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
  Need need_;
};

// Throws an unsupported error that carries what would help.
[[noreturn]] void refuse(const Refusal& refusal);

// Throws an input error that reads "<where>: expected <expected>, found <found>".
[[noreturn]] void fail_input(std::string_view where, std::string_view expected, std::string_view found);

// Throws an input error with this sentence.
[[noreturn]] void fail_input(std::string message);

// Throws the input error of a name that is none of the known ones: "<where>: expected mean or median, found 'men' (did
// you mean 'mean'?)".
[[noreturn]] void fail_unknown(std::string_view where, const std::vector<std::string>& known, std::string_view found);

// The entry of a table whose member `name` is this one; the error above when there is none.
template <class Entry>
const Entry& find_by_name(std::string_view where, std::span<const Entry> table, std::string_view name) {
  std::vector<std::string> known;
  for (const Entry& entry : table) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail_unknown(where, known, name);
}

// Throws an io error that reads "<path>: cannot <action>: <the system's reason for error_number>".
[[noreturn]] void fail_io(std::string_view path, std::string_view action, int error_number);

}  // namespace assay
