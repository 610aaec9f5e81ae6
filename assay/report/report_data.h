// The data of a report as one JSON object, which the page in html/ reads.
//
// Numbers have six significant digits; undefined is null. Rows are a stratified sample, as many as fit into 3 MB. If
// all else is larger than that, no row is shown. With very many targets or features, the importance of the rarest
// targets is left out, and a note says so.
//
// With cells = false, no value from the files is in it: no cell, pixel or label, also not of neighbours. Names of
// features, classes and rows (the column chosen with --id) stay. So do predictions, scores and attributions, from which
// values can be guessed if the model is simple.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

struct ReportOptions {
  bool cells = true;
  size_t rows = 0;                    // most rows to show one by one, if they fit; 0: 200
  std::optional<size_t> opened = {};  // the entry that the page opens on; nothing: what is recommended
  bool summary = false;               // only the summary of two pages, without rows and plots
};

// All entries must have explanations of the subject's rows.
std::string report_data_json(const Study& study, const Assessment& assessment, const StudyTimes& times,
                             const Subject& subject, const ReportOptions& options, const Context& context = {});

}  // namespace assay
