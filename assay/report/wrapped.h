// Sentences in lines for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

// Columns that a text takes, if every character is one wide.
size_t code_points(std::string_view text);

// A sentence in lines of at most `width` columns, unless one word is longer. The first line begins with `start`, others
// with `indent`. A number stays with its error and its percent sign.
inline constexpr size_t kTextWidth = 100;
inline constexpr size_t kScreenWidth = 118;  // as wide as tables
std::string wrapped(std::string_view sentence, std::string_view start, std::string_view indent,
                    size_t width = kTextWidth);

}  // namespace assay
