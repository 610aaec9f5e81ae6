#include "assay/archive/study_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "assay/archive/io/run_json.h"
#include "assay/archive/io/scores_csv.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/manifest.h"
#include "assay/core/sha256.h"
#include "assay/data/io/bytes.h"

namespace assay {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void write_whole(const std::string& path, std::string_view text, const Context& context) {
  AtomicFile file(path, context);
  file.write(text);
  file.commit();
}

void write_study_files(const std::string& folder, const FinishedStudy& finished,
                       const std::function<std::string()>& page, const Context& context) {
  const Study& study = finished.study;
  write_whole(path_within(folder, kStudyJson), study_json(study, finished.assessment), context);
  write_whole(path_within(folder, kRunJson), run_json(study, finished.times), context);
  {
    AtomicFile file(path_within(folder, kScoresCsv), context);
    write_scores_csv(study, [&](std::string_view text) { file.write(text); });
    file.commit();
  }
  write_whole(path_within(folder, kReportHtml), page(), context);

  std::vector<std::string> names;
  for (const std::string_view name : kStudyFiles) {
    if (name != kManifestJson && is_there(path_within(folder, name))) names.emplace_back(name);
  }
  for (const StudyEntry& entry : study.entries) {
    names.push_back(kExplanationsFolder.file(entry.stem));
    names.push_back(kScoresFolder.file(entry.stem));
    if (!entry.aggregate()) names.push_back(kPoolFolder.file(entry.stem));
  }
  std::ranges::sort(names);
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const std::string& name : names) outputs.emplace_back(name, file_sha256(path_within(folder, name), context));
  write_whole(path_within(folder, kManifestJson), manifest_json(study.facts.inputs, outputs), context);
}

}  // namespace assay
