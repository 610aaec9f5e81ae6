#include "assay/core/error.h"

#include <fmt/format.h>

#include <system_error>

namespace assay {

void refuse(const Refusal& refusal) { throw Error(ErrorKind::unsupported, refusal.reason, refusal.need); }

void fail_input(std::string_view where, std::string_view expected, std::string_view found) {
  throw Error(ErrorKind::input, fmt::format("{}: expected {}, found {}", where, expected, found));
}

void fail_input(std::string message) { throw Error(ErrorKind::input, std::move(message)); }

void fail_missing(std::string message, Need need) { throw Error(ErrorKind::input, std::move(message), need); }

void fail_argument(std::string argument, std::string_view rest) {
  std::string message = fmt::format("{}{}", argument, rest);
  throw Error(ErrorKind::input, std::move(message), Need::none, std::move(argument));
}

void fail_unknown(std::string_view where, const std::vector<std::string>& known, std::string_view found) {
  fail_input(where, joined(known, "or"), fmt::format("{}{}", in_quotes(found), suggestion(found, known)));
}

void fail_io(std::string_view path, std::string_view action, int error_number) {
  throw Error(ErrorKind::io,
              fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(error_number)));
}

}  // namespace assay
