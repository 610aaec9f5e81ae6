// The rows that a report shows one by one, as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/report/report_data.h"
#include "assay/report/row_cells.h"
#include "assay/study/study.h"

namespace assay {

struct ShownRows {
  std::vector<std::string> rows;  // JSON objects
  std::string words;              // "100 of 500 rows, stratified by target"
};

// As many rows as options say and as fit into so many bytes. Stratified by target, the same for the same seed. The
// model predicts the shown rows. image: null where rows are no images.
ShownRows shown_rows(const Study& study, const Subject& subject, const ReportOptions& options, const ImageShape* image,
                     size_t bytes, const Context& context);

// Rows of the study, ascending, in the shares of their targets.
std::vector<size_t> sample_of_rows(const Subject& subject, size_t count, uint64_t seed);

}  // namespace assay
