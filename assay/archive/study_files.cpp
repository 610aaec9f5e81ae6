#include "assay/archive/study_files.h"

#include <fmt/format.h>

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

std::string inside(const std::string& folder, std::string_view name) { return fmt::format("{}/{}", folder, name); }

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
  write_whole(inside(folder, "study.json"), study_json(study, finished.assessment), context);
  write_whole(inside(folder, "run.json"), run_json(study, finished.times), context);
  {
    AtomicFile file(inside(folder, "scores.csv"), context);
    write_scores_csv(study, [&](std::string_view text) { file.write(text); });
    file.commit();
  }
  write_whole(inside(folder, "report.html"), page(), context);

  std::vector<std::string> names;
  for (const std::string_view name : kStudyFiles) {
    if (name != "manifest.json" && is_there(inside(folder, name))) names.emplace_back(name);
  }
  for (const StudyEntry& entry : study.entries) {
    names.push_back(fmt::format("explanations/{}.npz", entry.stem));
    names.push_back(fmt::format("scores/{}.json", entry.stem));
    if (!entry.aggregate()) names.push_back(fmt::format("pool/{}.npz", entry.stem));
  }
  std::ranges::sort(names);
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const std::string& name : names) outputs.emplace_back(name, file_sha256(inside(folder, name), context));
  write_whole(inside(folder, "manifest.json"), manifest_json(study.facts.inputs, outputs), context);
}

}  // namespace assay
