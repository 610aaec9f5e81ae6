// The table of explanation functions. The command line's help, Python's signatures, the documentation and the contract
// tests all read it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "assay/core/options.h"
#include "assay/explain/explainer.h"

namespace assay {

std::span<const MethodInfo> methods();
// Adds a method at the end. Call it before anything is looked up in the table.
void add_method(MethodInfo info);
// An input error lists the methods when there is none of that name.
const MethodInfo& find_method(std::string_view name);

}  // namespace assay
