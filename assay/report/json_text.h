// Writes JSON directly as text: a report has a million numbers, too many for a tree of JSON values.
//
// Numbers have six significant digits unless said; those that are not finite are null. Strings are escaped so that they
// can neither end a <script> element nor be read as markup.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// In quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
std::string json_number(double value);
std::string json_numbers(std::span<const double> values, int digits = 6);
std::string json_numbers(std::span<const float> values, int digits = 6);
// Pixels as whole numbers of steps, less than half the text: {"step": size, "steps": [12, -500, ...]}. The largest has
// 500 steps, more than a picture has shades. A list of numbers if one is not finite.
std::string json_steps(std::span<const double> values);
// A list of parts that are JSON already.
std::string json_list(const std::vector<std::string>& parts);
using JsonMembers = std::vector<std::pair<std::string_view, std::string>>;
std::string json_object(const JsonMembers& members);
std::string json_texts(const std::vector<std::string>& texts);

// Makes JSON safe inside a <script> element: < > & and the line separators U+2028 and U+2029 become \uXXXX, which is
// the same string in JSON. Bytes that are not UTF-8 become U+FFFD. A second call changes nothing.
std::string script_safe_json(std::string_view json);

// The text with U+FFFD for bytes that are not UTF-8.
std::string valid_text(std::string_view text);

// Cut to at most `most` bytes, never within a character. After a cut, "..." is added.
std::string cut_text(std::string_view text, size_t most);
// Most bytes of a name in a report, without the "..." of a cut. Names in files may be of any length.
inline constexpr size_t kLongestName = 200;

}  // namespace assay
