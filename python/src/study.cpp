// _core.StudyResult, _core.plan_study and _core.run_study.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/archive/folder_claim.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/read_study.h"
#include "assay/archive/run_in_folder.h"
#include "assay/archive/study_settings.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/dataset.h"
#include "assay/data/row_column.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/explain/spread_background.h"
#include "assay/report/cohorts_text.h"
#include "assay/report/first_screen.h"
#include "assay/report/plan_text.h"
#include "assay/report/report_html.h"
#include "assay/report/terminal.h"
#include "assay/study/early_checks.h"
#include "assay/study/plan.h"
#include "assay/study/reason_choice.h"
#include "assay/study/sampling.h"
#include "assay/study/study_reference.h"
#include "python/src/explained.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/specs.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using Specs = std::vector<SpecPair>;
using Texts = std::vector<std::string>;
using Inputs = std::vector<std::tuple<std::string, std::string, std::string>>;  // role, name, SHA-256
// Name, then numbers and nothing, or indices of levels and the levels.
using CohortValues = std::tuple<std::string, std::vector<double>, std::optional<Texts>>;
using Entry = std::tuple<std::string, std::string, std::shared_ptr<Explained>, std::vector<Scores>>;

struct StudyResult {
  std::string folder;
  std::string json;
  std::string screen;
  std::string table;
  std::string conclusions;
  std::string groups;
  std::vector<Entry> entries;
  // The entry that reasons are taken from, and why; or no entry, and why not.
  std::pair<std::string, std::string> for_reasons;
  Texts faithful_methods;  // whose agreement counts
};

// What is studied, and its names.
struct StudyWords {
  std::string sample = "auto";
  std::string pool_sample = "auto";
  std::string title = {};
  std::string data = {};
  std::string pool = {};
  std::string players = {};
  bool reference_said = false;               // whether the user gave a baseline or a background
  size_t background = kStudyBackgroundRows;  // rows of the reference that is spread over scores
};

// A sample of a subject, with all that a study of it needs.
struct SampledSubject {
  std::shared_ptr<SubjectHandle> handle = {};
  OwnedSubject whole = {};  // what is sampled
  CohortWish whole_cohorts = {};
  CohortWish cohorts = {};  // of the sampled rows
  StudyFacts facts = {};
};

StudyOptions study_options(const Specs& methods, const Specs& criteria, const Specs& aggregators, bool no_aggregates,
                           Texts members, bool retrain, bool curves, bool variations, bool reference_said,
                           size_t background, const AdviceOptions& advice, const std::string& time,
                           const std::string& sample) {
  const bool paper = members == Texts{"paper"};
  if (paper) members.clear();
  StudyOptions options{.methods = specs_of(methods),
                       .criteria = specs_of(criteria),
                       .aggregators = specs_of(aggregators),
                       .no_aggregates = no_aggregates,
                       .members = std::move(members),
                       .paper_members = paper,
                       .retrain = retrain,
                       .curves = curves,
                       .variations = variations,
                       .advice = advice,
                       .seconds = time.empty() ? kDefaultStudySeconds : study_seconds(time),
                       .seconds_named = !time.empty(),
                       .rows_named = sample != "auto",
                       .background_named = reference_said || background > 0};
  check_study_options(options);
  check_members(options);
  return options;
}

void check_studied(const SubjectHandle& handle) {
  const OwnedSubject& subject = handle.subject;
  if (subject.pool == nullptr) fail_input("pool", "training rows, which neighbours and references come from", "none");
  if (subject.targets.information) fail_input("value", "margin, probability or log_odds for a study", "information");
  if (handle.choice) return;
  fail_input("target", "one class or output for all rows, or the predicted class: the pool's rows are explained alike",
             "a list of others");
}

// Needs the GIL, because the owner is a Python object. sample_into() does the rest without it.
SampledSubject unsampled(const SubjectHandle& from) {
  SampledSubject made;
  made.handle = labelled_subject(from, {}, {});
  made.whole = made.handle->subject;
  return made;
}

// May be called again, with other choices.
void sample_into(SampledSubject& made, StudyWords words, const StudyChoices& choices, bool variations,
                 const Context& context) {
  if (const std::string* rows = choices.find(kRowsChoice); rows != nullptr) words.sample = *rows;
  if (const std::string* rows = choices.find(kBackgroundChoice); rows != nullptr)
    words.background = spread_count(*rows);
  OwnedSubject& subject = made.handle->subject;
  subject = made.whole;  // the pool's sample is the same each time, and so are its targets
  const std::shared_ptr<const Dataset> data = subject.rows;
  const std::shared_ptr<const Dataset> pool = subject.pool;
  const size_t players = subject.players.size();
  const std::vector<size_t> rows = sample_rows({"sample", words.sample}, players, *data, context.seed);
  const std::vector<size_t> pool_rows =
      sample_pool_rows({"pool_sample", words.pool_sample}, players, *pool, context.seed);
  made.cohorts = made.whole_cohorts;
  for (RowColumn& column : made.cohorts.columns) column = select_rows(column, rows);
  subject.in_pool = sampled_in_pool(subject.in_pool, rows, pool_rows, pool->rows());
  if (rows.size() < data->rows()) {
    std::vector<size_t> numbers(data->rows());
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    subject.rows = std::make_shared<Dataset>(numbered_rows(*data, rows, numbers));
    subject.targets = select_targets(subject.targets, rows);
  }
  if (pool_rows.size() < pool->rows()) subject.pool = std::make_shared<Dataset>(select_rows(*pool, pool_rows));
  made.facts.reference_facts = choose_study_reference(subject, *made.handle->pool_targets(context),
                                                      {.said = words.reference_said,
                                                       .variations = variations,
                                                       .background = words.background,
                                                       .encoder = made.handle->encoder(),
                                                       .whole_pool = pool->rows()},
                                                      context);
  subject.words = {.rows = sampled_in_words(*subject.rows, data->rows(), words.data),
                   .pool = sampled_in_words(*subject.pool, pool->rows(), words.pool),
                   .players = words.players};
  made.facts.title = words.title;
  made.facts.data = subject.words.rows;
  made.facts.pool = subject.words.pool;
  made.facts.players = words.players;
  made.facts.rows_available = data->rows();
  made.facts.pool_rows_available = pool->rows();
}

CohortWish cohort_wish(bool named, const Texts& words, std::vector<CohortValues> columns, const Subject& subject) {
  CohortWish wish{.named = named};
  wish.prediction = std::ranges::find(words, kPredictionCohorts) != words.end();
  wish.label = std::ranges::find(words, kLabelCohorts) != words.end();
  for (auto& [name, values, levels] : columns) {
    RowColumn column{.name = std::move(name), .values = std::move(values)};
    if (column.rows() != subject.rows->rows()) {
      fail_input("cohort", fmt::format("{} values", subject.rows->rows()), fmt::format("{}", column.rows()));
    }
    if (levels) {
      column.kind = ColumnKind::categorical;
      column.levels = std::move(*levels);
      const auto fits = [&](double value) {
        return std::isnan(value) || (value >= 0 && value < static_cast<double>(column.levels.size()));
      };
      if (!std::ranges::all_of(column.values, fits)) fail_input("cohort", "indices of levels", "others");
    }
    wish.columns.push_back(std::move(column));
  }
  check_cohort_wish("cohort", wish, subject);
  return wish;
}

std::vector<std::string> notes_of(const SubjectHandle& handle) {
  std::vector<std::string> notes = handle.notes;
  std::ranges::move(notes_on_unknown(handle), std::back_inserter(notes));
  const std::string zero = note_on_zero(handle.subject.reference, *handle.subject.rows);
  if (!zero.empty()) notes.push_back(zero);
  return notes;
}

// Words that are empty are taken from the subject.
StudyWords completed(StudyWords words, const OwnedSubject& subject) {
  const auto fill = [](std::string& word, const std::string& from) {
    if (word.empty()) word = from;
  };
  fill(words.data, subject.words.rows);
  fill(words.pool, subject.words.pool);
  fill(words.players, subject.words.players);
  fill(words.title, fmt::format("{} on {}", subject.model->info().name, words.data));
  return words;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<StudyInput> inputs_of(const Inputs& given) {
  std::vector<StudyInput> inputs;
  for (const auto& [role, name, sha256] : given) {
    if (!sha256.empty() && !is_sha256(sha256)) {
      fail_input(fmt::format("the SHA-256 of {}", in_quotes(name)), "64 hexadecimal digits", in_quotes(sha256));
    }
    inputs.push_back({role, name, sha256});
  }
  return inputs;
}

std::pair<std::string, std::string> entry_for_reasons(const FinishedStudy& finished) {
  try {
    const ReasonChoice choice = choose_for_reasons(finished.study, finished.assessment.advice, "");
    return {finished.study.entries[choice.entry].name, choice.why};
  } catch (const Error& problem) {
    return {"", problem.what()};
  }
}

Texts names_of_faithful(const FinishedStudy& finished) {
  const std::vector<const Explanations*> found = faithful_methods(finished.study, finished.assessment.advice);
  Texts names;
  for (const StudyEntry& entry : finished.study.entries) {
    if (std::ranges::find(found, &entry.explanations) != found.end()) names.push_back(entry.name);
  }
  return names;
}

StudyResult texts_of(const FinishedStudy& finished, const std::string& folder) {
  return {.folder = folder,
          .json = study_json(finished.study, finished.assessment),
          .screen = first_screen(finished.study, finished.assessment),
          .table = study_table(finished.study, finished.assessment, finished.times),
          .conclusions = study_conclusions(finished.study, finished.assessment),
          .groups = cohorts_text(finished.study, finished.assessment.advice),
          .entries = {},
          .for_reasons = entry_for_reasons(finished),
          .faithful_methods = names_of_faithful(finished)};
}

StudyResult result_of(FinishedStudy finished, const StudyPlan& plan, const SampledSubject& sampled,
                      const std::string& folder) {
  StudyResult made = texts_of(finished, folder);
  for (size_t e = 0; e < finished.study.entries.size(); e++) {
    StudyEntry& entry = finished.study.entries[e];
    auto explained = std::make_shared<Explained>();
    explained->explanations = std::move(entry.explanations);
    explained->subject = sampled.handle;
    if (!entry.aggregate()) explained->method = plan.entries[e].spec;
    made.entries.emplace_back(std::move(entry.name), entry_kind_name(entry.kind), std::move(explained),
                              std::move(entry.scores));
  }
  return made;
}

std::tuple<std::string, uint64_t, double> plan_of(const std::shared_ptr<SubjectHandle>& subject, const Run& run,
                                                  const Specs& methods, const Specs& criteria, const Specs& aggregators,
                                                  bool no_aggregates, Texts members, bool retrain, bool curves,
                                                  bool variations, std::string sample, std::string pool_sample,
                                                  bool reference_said, size_t background, double margin, double tie,
                                                  const std::string& time, std::string title) {
  check_studied(*subject);
  const StudyOptions options =
      study_options(methods, criteria, aggregators, no_aggregates, std::move(members), retrain, curves, variations,
                    reference_said, background, {margin, tie}, time, sample);
  const StudyWords words = completed({.sample = std::move(sample),
                                      .pool_sample = std::move(pool_sample),
                                      .title = std::move(title),
                                      .reference_said = reference_said,
                                      .background = background > 0 ? background : kStudyBackgroundRows},
                                     subject->subject);
  SampledSubject sampled = unsampled(*subject);
  return run_engine(run, [&](const Context& context) {
    const auto open = [&](const StudyChoices& choices) -> OpenedSubject {
      sample_into(sampled, words, choices, variations, context);
      return {sampled.handle->view_with_pool(context), sampled.facts, notes_of(*sampled.handle)};
    };
    const auto [opened, plan] = open_and_plan(open, options, context);
    const PlanWords spelled{.time = "time", .fuller = fmt::format("time=\"{}\"", fuller_time(plan.full_seconds))};
    return std::tuple(plan_text(plan, opened.facts, opened.subject, 0, spelled) + plan_costs(plan), plan.evaluations,
                      plan.seconds);
  });
}

std::shared_ptr<StudyResult> run_in_folder(
    const std::shared_ptr<SubjectHandle>& subject, const Run& run, const Specs& methods, const Specs& criteria,
    const Specs& aggregators, bool no_aggregates, Texts members, bool retrain, bool curves, bool variations, bool cells,
    bool cohort_named, const Texts& cohort_words, std::vector<CohortValues> cohort_columns, std::string sample,
    std::string pool_sample, bool reference_said, size_t background, double margin, double tie, const std::string& time,
    const std::string& folder, bool resume, bool overwrite, std::string title, std::string data_words,
    std::string pool_words, std::string players_words, Texts said, const Inputs& inputs) {
  if (folder.empty()) fail_input("out", "the name of a folder", "nothing");
  if (resume && overwrite) fail_input("resume", "no overwrite beside it", "both");
  check_studied(*subject);
  const StudyOptions options =
      study_options(methods, criteria, aggregators, no_aggregates, std::move(members), retrain, curves, variations,
                    reference_said, background, {margin, tie}, time, sample);
  const StudySettings settings{.arguments = std::move(said), .seed = run.seed, .program = std::string(kStudyFunction)};
  const StudyWords words = completed({.sample = std::move(sample),
                                      .pool_sample = std::move(pool_sample),
                                      .title = std::move(title),
                                      .data = std::move(data_words),
                                      .pool = std::move(pool_words),
                                      .players = std::move(players_words),
                                      .reference_said = reference_said,
                                      .background = background > 0 ? background : kStudyBackgroundRows},
                                     subject->subject);
  SampledSubject sampled = unsampled(*subject);
  sampled.facts.inputs = inputs_of(inputs);
  sampled.whole_cohorts =
      cohort_wish(cohort_named, cohort_words, std::move(cohort_columns), sampled.handle->subject.view());
  auto made = std::make_shared<StudyResult>();
  run_engine(run, [&](const Context& context) {
    ClaimedFolder claimed(folder, settings, resume, overwrite, context);
    StudyPlan plan;
    StudySteps steps;
    steps.inputs = [&] { return sampled.facts.inputs; };
    steps.open = [&](const StudyChoices& choices) -> OpenedSubject {
      sample_into(sampled, words, choices, variations, context);
      return {sampled.handle->view_with_pool(context), sampled.facts, notes_of(*sampled.handle), sampled.cohorts};
    };
    steps.planned = [&](const OpenedSubject&, const StudyPlan& planned, size_t) { plan = planned; };
    steps.page = [&](const FinishedStudy& finished, const Subject& studied) {
      return report_page(finished, studied, {.cells = cells}, context);
    };
    *made = result_of(run_study_in_folder(claimed, options, steps, context), plan, sampled, folder);
  });
  return made;
}

std::shared_ptr<StudyResult> read_folder(const std::string& folder) {
  auto made = std::make_shared<StudyResult>();
  run_engine(Run{}, [&](const Context& context) {
    FinishedStudy read = read_study(folder, context);
    *made = texts_of(read, folder);
    for (StudyEntry& entry : read.study.entries) {
      auto explained = std::make_shared<Explained>();
      explained->explanations = std::move(entry.explanations);
      explained->method = method_behind(explained->explanations);
      made->entries.emplace_back(std::move(entry.name), entry_kind_name(entry.kind), std::move(explained),
                                 std::move(entry.scores));
    }
  });
  return made;
}

}  // namespace

void bind_study(nb::module_& m) {
  nb::class_<StudyResult>(m, "StudyResult")
      .def_prop_ro("folder", [](const StudyResult& self) { return self.folder; })
      .def_prop_ro("json", [](const StudyResult& self) { return self.json; })
      .def_prop_ro("screen", [](const StudyResult& self) { return self.screen; })
      .def_prop_ro("table", [](const StudyResult& self) { return self.table; })
      .def_prop_ro("conclusions", [](const StudyResult& self) { return self.conclusions; })
      .def_prop_ro("groups", [](const StudyResult& self) { return self.groups; })
      .def_prop_ro("entries", [](const StudyResult& self) { return self.entries; })
      .def_prop_ro("for_reasons", [](const StudyResult& self) { return self.for_reasons; })
      .def_prop_ro("faithful_methods", [](const StudyResult& self) { return self.faithful_methods; });
  m.def("plan_study", &plan_of, nb::arg("subject"), nb::arg("run"), nb::arg("methods"), nb::arg("criteria"),
        nb::arg("aggregators"), nb::arg("no_aggregates"), nb::arg("members"), nb::arg("retrain"), nb::arg("curves"),
        nb::arg("variations"), nb::arg("sample") = "auto", nb::arg("pool_sample") = "auto",
        nb::arg("reference_said") = false, nb::arg("background") = 0, nb::arg("margin") = AdviceOptions().margin,
        nb::arg("tie") = AdviceOptions().tie, nb::arg("time") = "", nb::arg("title") = "");
  m.def("check_time", [](const std::string& word) { study_seconds(word); }, nb::arg("word"));
  m.def("spread_count", [](const std::string& word) { return spread_count(word); }, nb::arg("word"));
  m.def("read_study", &read_folder, nb::arg("folder"));
  m.def("run_study", &run_in_folder, nb::arg("subject"), nb::arg("run"), nb::kw_only(), nb::arg("methods"),
        nb::arg("criteria"), nb::arg("aggregators"), nb::arg("no_aggregates"), nb::arg("members"), nb::arg("retrain"),
        nb::arg("curves"), nb::arg("variations"), nb::arg("cells"), nb::arg("cohort_named"), nb::arg("cohort_words"),
        nb::arg("cohort_columns"), nb::arg("sample"), nb::arg("pool_sample"), nb::arg("reference_said"),
        nb::arg("background"), nb::arg("margin"), nb::arg("tie"), nb::arg("time"), nb::arg("folder"), nb::arg("resume"),
        nb::arg("overwrite"), nb::arg("title"), nb::arg("data_words"), nb::arg("pool_words"), nb::arg("players_words"),
        nb::arg("settings"), nb::arg("inputs"));
}

}  // namespace assay::python
