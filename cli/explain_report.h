// What `assay explain` shows of its results.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "assay/explain/explanations.h"

namespace assay::cli {

// What is explained, the first rows with their strongest players, then evaluations, gap, errors and notes.
void print_explanations(const Explanations& explanations, size_t rows, FILE* to);

// The players of largest attribution in a row, with their values and errors.
std::string strongest_players(const Explanations& explanations, size_t row);

// A result that went to a file, as a JSON object.
std::string summary_json(const Explanations& explanations, const std::string& path);

}  // namespace assay::cli
