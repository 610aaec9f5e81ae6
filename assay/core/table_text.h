// Numbers and tables as people read them in a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Rows of cells in aligned columns; the first row is the header. Columns whose index is in `left` are flush left,
// others right.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& left);

// A name from a file, for headings and tables: on one line, and cut if it is long.
std::string short_name(std::string_view name);

// 48842 as "48,842".
std::string with_commas(uint64_t number);

// Four significant digits (thousands as whole numbers), or "-" for NaN.
std::string short_number(double value);

// As short_number; infinities are "inf" and "-inf".
std::string number_text(double value);

// "1 row", "2,000 rows".
std::string plural(uint64_t count, std::string_view what);

// A time left to wait: "12 s", "3 min", "1.5 h". Seconds and minutes are rounded up.
std::string time_text(double seconds);

}  // namespace assay
