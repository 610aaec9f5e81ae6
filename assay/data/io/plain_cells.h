// Cells of a table as float32, a row of them at once: for short decimals such as -0.73645407 or 42, by vector
// instructions. Same results as parse_number; see plain_number.h for why.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

// Reads cells up to the first that is no decimal of at most 16 characters below 2^24, and gives how many.
// kPlainCellReads bytes from the start of each cell must be readable.
size_t read_plain_cells(const std::string_view* cells, size_t count, float* out);

inline constexpr size_t kPlainCellReads = 17;

}  // namespace assay
