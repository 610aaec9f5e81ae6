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
  Error(ErrorKind kind, std::string message, Need need = Need::none, std::string argument = {})
      : kind_(kind), message_(std::move(message)), need_(need), argument_(std::move(argument)) {}

  ErrorKind kind() const noexcept { return kind_; }
  // What the caller could give to make it work.
  Need need() const noexcept { return need_; }
  // The argument that the sentence begins with ("target: expected ..."), or "". Front ends spell it: --target.
  const std::string& argument() const noexcept { return argument_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
  Need need_;
  std::string argument_;
};

// Throws an unsupported error with the refusal's reason and need.
[[noreturn]] void refuse(const Refusal& refusal);

// Throws an input error that reads "<where>: expected <expected>, found <found>".
[[noreturn]] void fail_input(std::string_view where, std::string_view expected, std::string_view found);

// Throws an input error with this sentence.
[[noreturn]] void fail_input(std::string message);

// Throws an input error that is about something that was not given.
[[noreturn]] void fail_missing(std::string message, Need need);

// Throws an input error about an argument; the sentence is its name and the rest: "target" and ": expected ...".
[[noreturn]] void fail_argument(std::string argument, std::string_view rest);

// Throws the input error for an unknown name: "<where>: expected mean or median, found 'men' (did you mean 'mean'?)".
[[noreturn]] void fail_unknown(std::string_view where, const std::vector<std::string>& known, std::string_view found);

// The entry of the table with this name; the error of fail_unknown if there is none.
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
