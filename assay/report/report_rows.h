// The rows that a report shows one by one, as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/row_cells.h"
#include "assay/explain/subject.h"
#include "assay/report/report_data.h"
#include "assay/study/study.h"

namespace assay {

// Most bytes of a text from a file. Such texts may be of any length, and a row has many.
inline constexpr size_t kLongestCell = 80;

struct ShownRows {
  std::vector<std::string> rows;  // JSON objects
  std::string words;              // "100 of 500 rows, stratified by target"
};

// As many rows as `options` asks for and as fit into `bytes`, stratified by target. The study's seed draws them.
// Runs the model on the shown rows. image: null if rows are not images.
ShownRows shown_rows(const Study& study, const Subject& subject, const ReportOptions& options, const ImageShape* image,
                     size_t bytes, const Context& context);

// Indices of `count` rows, or of all if there are fewer, ascending, stratified by target.
std::vector<size_t> sample_of_rows(const Subject& subject, size_t count, uint64_t seed);

}  // namespace assay
