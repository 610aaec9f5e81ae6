#include "assay/archive/run_in_folder.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "assay/archive/folder_store.h"
#include "assay/archive/study_files.h"
#include "assay/core/text.h"
#include "assay/study/run.h"

namespace assay {
namespace {

// Of the time, as far as planning is concerned: training a model may take all of it, and then one method on ten rows
// would be studied. With half of it for the study, both end in one and a half times the limit.
constexpr double kMostSpent = 0.5;

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

FinishedStudy run_steps(ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                        const Context& context, const std::string& recorded) {
  folder.record_inputs(steps.inputs(), context);
  StudyOptions chosen = options;
  chosen.choices = folder.choices(context);
  const auto open = [&](const StudyChoices& choices) {
    OpenedSubject made = steps.open(choices);
    folder.record_inputs(made.facts.inputs, context);
    return made;
  };
  const auto [opened, plan] = open_and_plan(open, std::move(chosen), context);
  folder.begin(plan.choices, context);
  FolderStore store(folder.path());
  if (steps.planned) steps.planned(opened, plan, finished_parts(plan, store));

  StudyFacts facts = opened.facts;
  facts.settings.emplace_back("arguments", fmt::format("{}", fmt::join(folder.settings().arguments, " ")));
  facts.settings.emplace_back("seed", fmt::format("{}", folder.settings().seed));
  for (const auto& choice : plan.choices.made) facts.settings.push_back(choice);
  std::optional<FolderStore> from;
  if (!recorded.empty()) from.emplace(recorded, true);
  FinishedStudy made;
  made.study = run_study(opened.subject, plan, std::move(facts), store, made.times, context, from ? &*from : nullptr);
  made.times.machine = machine_words();
  made.assessment = assess(made.study, context);
  made.study.cohorts = find_cohorts(made.study, made.assessment.advice, opened.subject, opened.cohorts, context);
  write_study_files(folder.path(), made, [&] { return steps.page(made, opened.subject); }, context);
  return made;
}

}  // namespace

PlannedSubject open_and_plan(const std::function<OpenedSubject(const StudyChoices& choices)>& open,
                             StudyOptions options, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start;
    // Something must be left to plan with, however long it took to read the rows or to train a model.
    return std::min(so_far.count(), kMostSpent * options.seconds);
  };
  PlannedSubject made{open(options.choices), {}};
  options.seconds_spent = spent();
  made.plan = plan_study(made.opened.subject, options, context, made.opened.notes);
  while (made.plan.open_again) {
    const StudyPlan before = std::move(made.plan);
    options.choices = before.choices;
    made.opened = open(options.choices);
    options.seconds_spent = spent();
    made.plan = plan_study(made.opened.subject, options, context, made.opened.notes, &before);
  }
  return made;
}

FinishedStudy run_study_in_folder(ClaimedFolder& folder, const StudyOptions& options, const StudySteps& steps,
                                  const Context& context, const std::string& recorded) {
  try {
    return run_steps(folder, options, steps, context, recorded);
  } catch (...) {
    const bool cancelled = context.cancelled != nullptr && context.cancelled->load();
    if (!cancelled && !folder.holds_older()) abandon_folder(folder.path());
    throw;
  }
}

}  // namespace assay
