// Messages of the library in the words of the package: it names options as the command line has them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "assay/core/refusal.h"

namespace assay::python {

// As the package has it in its table of arguments; "" where nothing helps.
inline const char* need_name(Need need) {
  switch (need) {
    case Need::none: return "";
    case Need::model: return "model";
    case Need::reference: return "reference";
    case Need::pool: return "pool";
    case Need::pool_explanations: return "pool_explanations";
    case Need::pool_members: return "pool_members";
    case Need::labels: return "labels";
    case Need::pool_labels: return "pool_labels";
    case Need::others: return "others";
    case Need::members: return "members";
  }
  return "";
}

// Whether it is inside of 'quotes', which hold what users wrote: they open after a space and close before one.
inline bool in_user_text(const std::string& message, size_t at) {
  bool inside = false;
  for (size_t i = 0; i < at; i++) {
    if (message[i] != '\'') continue;
    const bool opens = i == 0 || message[i - 1] == ' ' || message[i - 1] == '(';
    const bool closes =
        i + 1 == message.size() || std::string_view(" :;,.)").find(message[i + 1]) != std::string_view::npos;
    inside = inside ? !closes : opens;
  }
  return inside;
}

// "give --pool" as "give pool=", and "--pool: expected" as "pool: expected". Only what the library itself says, at the
// beginning of a word: text of users is in quotes and may hold anything.
inline std::string in_python_words(std::string message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {{{"--data-dir", "folders"},
                                                                                    {"--target", "target"},
                                                                                    {"--pool", "pool"},
                                                                                    {"--baseline", "baseline"},
                                                                                    {"--background", "background"},
                                                                                    {"--members", "members"},
                                                                                    {"--methods", "methods"},
                                                                                    {"--criteria", "criteria"},
                                                                                    {"--aggregators", "aggregators"}}};
  for (const auto& [option, argument] : kWords) {
    for (size_t at = message.find(option); at != std::string::npos; at = message.find(option, at + 1)) {
      const bool begins = at == 0 || message[at - 1] == ' ' || message[at - 1] == '(';
      const size_t end = at + option.size();
      const bool ends =
          end == message.size() || std::string_view(" :;,.)").find(message[end]) != std::string_view::npos;
      if (!begins || !ends || in_user_text(message, at)) continue;
      const bool subject = end < message.size() && message[end] == ':';  // "target: expected ...", and "give target="
      message.replace(at, option.size(), std::string(argument) + (subject ? "" : "="));
    }
  }
  return message;
}

}  // namespace assay::python
