#include "assay/archive/run_in_folder.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <thread>

#include "assay/archive/folder_store.h"
#include "assay/archive/study_files.h"
#include "assay/core/text.h"
#include "assay/study/run.h"

namespace assay {
namespace {

// Processor and system, in words.
std::string machine_words() {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    processor = one_line(line.substr(colon + 2));
    break;
  }
  utsname system{};
  const bool known = ::uname(&system) == 0;
  return fmt::format("{}, {} threads, {}", processor, std::thread::hardware_concurrency(),
                     known ? fmt::format("{} {}", system.sysname, system.machine) : "unknown system");
}

size_t finished_parts(const StudyPlan& plan, const StudyStore& store) {
  return static_cast<size_t>(
      std::ranges::count_if(plan.entries, [&](const auto& entry) { return store.has(entry.stem, entry.kind); }));
}

FinishedStudy run_steps(const ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                        const Context& context, const std::string& recorded) {
  record_inputs(folder.path(), steps.inputs(), context);
  const OpenedSubject opened = steps.open();
  record_inputs(folder.path(), opened.facts.inputs, context);
  const StudyPlan plan = plan_study(opened.subject, options, context, opened.notes);
  FolderStore store(folder.path());
  if (steps.planned) steps.planned(opened, plan, finished_parts(plan, store));

  StudyFacts facts = opened.facts;
  facts.settings.emplace_back("arguments", fmt::format("{}", fmt::join(folder.settings().arguments, " ")));
  facts.settings.emplace_back("seed", fmt::format("{}", folder.settings().seed));
  std::optional<FolderStore> from;
  if (!recorded.empty()) from.emplace(recorded, true);
  FinishedStudy made;
  made.study = run_study(opened.subject, plan, std::move(facts), store, made.times, context, from ? &*from : nullptr);
  made.times.machine = machine_words();
  made.assessment = assess(made.study, context);
  write_study_files(folder.path(), made, [&] { return steps.page(made, opened.subject); }, context);
  return made;
}

}  // namespace

FinishedStudy run_study_in_folder(const ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                                  const Context& context, const std::string& recorded) {
  try {
    return run_steps(folder, options, steps, context, recorded);
  } catch (...) {
    const bool cancelled = context.cancelled != nullptr && context.cancelled->load();
    if (!cancelled) abandon_folder(folder.path());
    throw;
  }
}

}  // namespace assay
