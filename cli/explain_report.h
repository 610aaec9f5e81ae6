// The output of `assay explain`.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "assay/explain/explanations.h"

namespace assay::cli {

// Prints what is explained, the first `rows` rows with their strongest players, evaluations, gap, errors and notes.
void print_explanations(const Explanations& explanations, size_t rows, FILE* to);

// The players of largest attribution in a row, with their values and errors.
std::string strongest_players(const Explanations& explanations, size_t row);

// A JSON object on a result that was written to a file.
std::string summary_json(const Explanations& explanations, const std::string& path);

}  // namespace assay::cli
