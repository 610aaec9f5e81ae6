// Which rows a user means by "1,5,10-20".
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

// The rows, counted from 0, in the order they are written, which counts from 1; a row may come several times. An input
// error that starts with `where` for anything else, for rows beyond `rows`, and for lists of far more rows than there
// are, which a short text can ask for ("1-1000,1-1000,...").
std::vector<size_t> rows_from_ranges(std::string_view where, std::string_view text, size_t rows);

// The first part of the text that is no row or range of rows in any table ("x", "-1"); nothing where all are.
std::optional<std::string_view> no_row_range(std::string_view text);

}  // namespace assay
