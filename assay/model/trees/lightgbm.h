// LightGBM's model files: text, as Booster.save_model writes them.
#pragma once

#include <string_view>

#include "assay/core/context.h"
#include "assay/model/trees/booster.h"

namespace assay {

// Whether bytes may be such a file; never throws, looks at the beginning alone.
bool looks_like_lightgbm(std::string_view bytes);

// An input error names the file and what in it is not as expected. The bytes are hostile.
Booster read_lightgbm(std::string_view name, std::string_view bytes, const Context& context = {});

}  // namespace assay
