// The table of criteria. The command line's help, Python's signatures, the documentation and the contract tests all
// read it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/evaluate/criterion.h"

namespace assay {

std::span<const CriterionInfo> criteria();
// Adds a criterion at the end. Call it before anything is looked up in the table.
void add_criterion(CriterionInfo info);
// An input error lists the criteria when there is none of that name.
const CriterionInfo& find_criterion(std::string_view name);

// The names of the criteria that have a role, in the order of the table; and the role of a criterion, none if there is
// no such criterion.
std::vector<std::string> main_criteria();
CriterionRole role_of(std::string_view criterion);

// CriterionInfo::scale_dependent of a criterion by its name, for options that need not be complete: what is missing has
// its default. False if there is no such criterion.
bool scale_dependent(const Spec& spec);

// In the words of the documentation: "model", "pool".
std::vector<std::string> needs_in_words(const Needs& needs);

}  // namespace assay
