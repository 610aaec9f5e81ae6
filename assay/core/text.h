// Words for messages: text from outside made safe, lists, suggestions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Whether the bytes are valid UTF-8 (no overlong forms, no surrogates).
bool valid_utf8(std::string_view text);

// ASCII letters in lower case, whatever the locale.
std::string lower_case(std::string text);

// One line of valid UTF-8 whatever the text holds: control characters and stray bytes become \xNN.
std::string one_line(std::string_view text);

// Text from outside for a message: in quotes, on one line, long text cut.
std::string in_quotes(std::string_view text);

// " (did you mean 'x'?)" when a known name is close to the unknown one, else nothing.
std::string suggestion(std::string_view unknown, const std::vector<std::string>& known);

// The parts between these characters: one more than there are of them.
std::vector<std::string_view> split_at(std::string_view text, char at);

// "a, b and c", for sentences that list what is allowed.
std::string joined(const std::vector<std::string>& words, std::string_view last = "and");

}  // namespace assay
