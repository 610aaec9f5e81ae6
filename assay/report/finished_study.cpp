#include "assay/report/finished_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "assay/report/study_files.h"
#include "assay/study/run.h"
#include "assay/study/store.h"

namespace assay {

size_t finished_parts(const StudyPlan& plan, const std::string& folder) {
  const StudyStore store(folder);
  return static_cast<size_t>(
      std::ranges::count_if(plan.entries, [&](const auto& entry) { return store.has(entry.stem, entry.kind); }));
}

FinishedStudy finish_study(const StudySubject& subject, const StudyPlan& plan, StudyFacts facts,
                           const std::string& folder, const StudySettings& settings, bool cells, const Context& context,
                           const std::string& recorded) {
  facts.settings.emplace_back("arguments", fmt::format("{}", fmt::join(settings.arguments, " ")));
  facts.settings.emplace_back("seed", fmt::format("{}", settings.seed));
  FinishedStudy made;
  std::optional<StudyStore> from;
  if (!recorded.empty()) from.emplace(recorded);
  made.study =
      run_study(subject, plan, std::move(facts), StudyStore(folder), made.times, context, from ? &*from : nullptr);
  made.times.machine = machine_words();
  made.assessment = assess(made.study);
  write_study_files(folder, made.study, made.assessment, made.times, subject, cells, context);
  return made;
}

}  // namespace assay
