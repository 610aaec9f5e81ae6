// Pieces of JSON as text: a report's data are a million numbers, for which a tree of values would be wasteful.
//
// Numbers have six significant digits. JSON has no word for what is not finite: it is null. Texts hold nothing that
// could end a <script> element or be taken for markup, whatever is in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// In quotes; what is no UTF-8 is replaced by U+FFFD.
std::string json_text(std::string_view text);
std::string json_number(double value);
std::string json_numbers(std::span<const double> values);
std::string json_numbers(std::span<const float> values);
// Of parts that are JSON already.
std::string json_list(const std::vector<std::string>& parts);
using JsonMembers = std::vector<std::pair<std::string_view, std::string>>;
std::string json_object(const JsonMembers& members);
std::string json_texts(const std::vector<std::string>& texts);

// JSON as it can stand inside a <script> element: < > & and the line separators U+2028 and U+2029 are written as
// \uXXXX, which in JSON is the same text, and bytes that are no UTF-8 become U+FFFD. Changes nothing the second time.
std::string script_safe_json(std::string_view json);

// The text with U+FFFD for what is no UTF-8.
std::string valid_text(std::string_view text);

// At most so many bytes, never within a character; "..." where something is missing.
std::string cut_text(std::string_view text, size_t most);
// Of names in a report: files may have them of any length.
inline constexpr size_t kLongestName = 200;

}  // namespace assay
