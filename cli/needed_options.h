// Which options of the command line answer which need.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "assay/core/refusal.h"
#include "cli/model_rows.h"

namespace assay::cli {

// The options that meet these needs and are not given. Nothing for needs that no option of `given` meets.
std::vector<std::string> missing_options(std::initializer_list<Need> needs, const ModelRowsArguments& given = {});

// The refusal as a sentence, with the options that would help if they are missing.
std::string with_advice(const Refusal& refusal, const ModelRowsArguments& given);

}  // namespace assay::cli
