// The names of the files in a study's folder, and writing those that are made at the end.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "assay/archive/finished_study.h"
#include "assay/core/context.h"

namespace assay {

// Everything that a study puts into its folder.
inline constexpr std::array<std::string_view, 7> kStudyFiles = {
    "study.json", "run.json", "settings.json", "scores.csv", "model.onnx", "manifest.json", "report.html"};
inline constexpr std::array<std::string_view, 3> kStudyFolders = {"scores", "explanations", "pool"};

std::string inside(const std::string& folder, std::string_view name);
bool is_there(const std::string& path);
// The file appears whole or not at all.
void write_whole(const std::string& path, std::string_view text, const Context& context);

// Writes study.json, run.json, scores.csv, report.html and last manifest.json. page: makes the text of report.html.
void write_study_files(const std::string& folder, const FinishedStudy& finished,
                       const std::function<std::string()>& page, const Context& context);

}  // namespace assay
