// What arguments must be, said alike by all.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::python {

// An input error unless there are so many: "ids: expected 30 names, one for each row, found 29".
void expect_count(std::string_view argument, std::string_view what, size_t expected, size_t found);

}  // namespace assay::python
