// JSON from outside may be nested so deep that walking it overflows the stack. The JSON library can limit depth while
// it parses, but then takes time quadratic in the number of objects in a list.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

// An input error that starts with `where` when brackets outside of strings are more than `most` deep. The text need not
// be JSON.
void limit_json_depth(std::string_view where, std::string_view text, size_t most);

}  // namespace assay
