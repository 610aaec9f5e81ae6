// Writes the files of a study's folder that are made at the end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "assay/archive/finished_study.h"
#include "assay/archive/study_names.h"
#include "assay/core/context.h"

namespace assay {

bool is_there(const std::string& path);
// The file appears whole or not at all.
void write_whole(const std::string& path, std::string_view text, const Context& context);

// Writes study.json, run.json, scores.csv, report.html and last manifest.json. page: makes the text of report.html.
void write_study_files(const std::string& folder, const FinishedStudy& finished,
                       const std::function<std::string()>& page, const Context& context);

}  // namespace assay
