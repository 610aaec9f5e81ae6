// What a report shows of a study, as one JSON object, which the page in html/ reads.
//
// Numbers have six significant digits, and null stands for what is undefined. The object stays below 10 MB whatever
// the study's size: rows are a stratified sample, as many as fit, and where there are very many targets or features the
// importance of the rarest targets is left out, which a note says.
//
// With cells = false no value of the files is in it: no cell, pixel, label or cell of a neighbour. Names of features,
// classes and rows (the column that the user chose with --id) stay, and so do attributions, from which values can be
// guessed where the model is simple.
#pragma once

#include <cstddef>
#include <string>

#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

struct ReportOptions {
  bool cells = true;
  size_t rows = 0;  // that are shown one by one, where they fit; 0: at most 200
};

// All entries have explanations of the subject's rows.
std::string report_data_json(const Study& study, const Assessment& assessment, const StudyTimes& times,
                             const Subject& subject, const ReportOptions& options, const Context& context = {});

}  // namespace assay
