// Checks of arguments with the same messages everywhere.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::python {

// Throws an input error if the counts differ: "ids: expected 30 names, one for each row, found 29".
void expect_count(std::string_view argument, std::string_view what, size_t expected, size_t found);

}  // namespace assay::python
