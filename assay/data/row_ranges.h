// Which rows a user means by "1,5,10-20".
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

// The rows in the order in which they are written. The text counts from 1, the result from 0; a row may come several
// times. An input error that starts with `where` for anything else, for rows beyond `rows`, and for lists far longer
// than `rows`, which a short text can ask for ("1-1000,1-1000,...").
std::vector<size_t> rows_from_ranges(std::string_view where, std::string_view text, size_t rows);

// The first item that does not have the form of a row or a range, such as "x" or "-1"; nothing if all have it.
std::optional<std::string_view> no_row_range(std::string_view text);

}  // namespace assay
