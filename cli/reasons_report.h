// What `assay reasons` prints.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "assay/explain/reasons/reasons.h"

namespace assay::cli {

// The reasons of the first rows, how many rows are not certain, and the notes. heading: one line. level: of certainty.
void print_reasons(const Reasons& reasons, const std::string& heading, size_t rows, double level, FILE* to);

// Of a result that went to a file.
std::string reasons_summary_json(const Reasons& reasons, double level, const std::string& path);

}  // namespace assay::cli
