// Explanations as JSON:
//
//   {"meta": {explanations_meta.h}, "features": [...], "target_names": [...],
//    "rows": [{"id", "target": name, "output", "base", "gap", "values": [...], "stderr": [...],
//              "background_stderr": [...]}, ...]}
//
// What is undefined or infinite is null; id, stderr and background_stderr are there where the explanations have them.
// Numbers are in the shortest form that reads back equal.
#pragma once

#include <string>
#include <string_view>

#include "assay/explain/explanations.h"

namespace assay {

// An input error that starts with `where` when a text is not UTF-8.
std::string explanations_json(std::string_view where, const Explanations& explanations);
// The text is hostile: everything in it is checked.
Explanations explanations_from_json(std::string_view where, std::string_view text);

}  // namespace assay
