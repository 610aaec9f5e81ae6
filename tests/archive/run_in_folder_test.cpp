// A study in its folder: neither threads nor interruptions show in its files, and a failure leaves nothing behind.
#include "assay/archive/run_in_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <thread>

#include "assay/archive/folder_store.h"
#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/manifest.h"
#include "assay/archive/read_study.h"
#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/evaluate/complexity.h"
#include "assay/study/run.h"
#include "tests/message.h"
#include "tests/study/studied.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::few;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::Studied;

// Gone when the test ends.
class Folder {
 public:
  Folder() {
    static std::atomic<int> count = 0;
    path_ = fs::temp_directory_path() / fmt::format("assay-study-test-{}-{}", ::getpid(), count++);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

struct Made {
  Study study;
  StudyTimes times;
};

Made run_in(const std::string& folder, const Studied& studied, const StudyOptions& options,
            const Context& context = {}) {
  const Subject subject = studied.subject();
  const StudyPlan plan = plan_study(subject, options, context);
  FolderStore store(folder);
  Made made;
  made.study = run_study(subject, plan, {}, store, made.times, context);
  return made;
}

std::string file_text(const std::string& path) { return read_all(*open_bytes(path)); }

// Every file of the folder, by name.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.is_regular_file()) files[fs::relative(item.path(), folder).string()] = file_text(item.path().string());
  }
  return files;
}

TEST(StudyInFolder, GivesTheSameFilesOnAnyNumberOfThreads) {
  const Studied studied(testing::additive_toy());
  std::vector<std::map<std::string, std::string>> files;
  for (const unsigned threads : {1U, 2U, 7U}) {
    const Folder folder;
    Context context;
    context.threads = threads;
    run_in(folder.path(), studied, few(), context);
    files.push_back(files_of(folder.path()));
  }
  EXPECT_EQ(files[0].size(), 6U * 2 + 3);  // explanations and scores of all, the pool of methods
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

// Cancels after so many looks at whether it is cancelled: some moment within the work.
TEST(StudyInFolder, GoesOnToTheSameFilesWhereverItWasStopped) {
  const Studied studied(testing::product_toy());
  const Folder whole;
  run_in(whole.path(), studied, few());
  const auto expected = files_of(whole.path());

  class StopLater final : public Progress {
   public:
    StopLater(std::atomic<bool>& stop, int steps) : stop_(stop), left_(steps) {}
    void begin(std::string_view, uint64_t) noexcept override {}
    void rename(std::string_view) noexcept override {
      if (--left_ <= 0) stop_ = true;
    }
    void advance(uint64_t) noexcept override {}
    void end() noexcept override {}

   private:
    std::atomic<bool>& stop_;
    int left_;
  };
  size_t stopped = 0;
  for (int steps = 1; steps <= 6; steps++) {
    const Folder folder;
    std::atomic<bool> stop = false;
    StopLater progress(stop, steps);
    Context context;
    context.progress = &progress;
    context.cancelled = &stop;
    try {
      run_in(folder.path(), studied, few(), context);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cancelled);
      stopped++;
    }
    EXPECT_LT(files_of(folder.path()).size(), expected.size());
    const Made resumed = run_in(folder.path(), studied, few());
    EXPECT_EQ(files_of(folder.path()), expected) << "stopped in step " << steps;
    // What was there was not made again: it has no time.
    const auto old =
        std::ranges::count_if(resumed.times.entries, [](const EntryTimes& t) { return std::isnan(t.scoring); });
    EXPECT_EQ(old, steps - 1);
  }
  EXPECT_EQ(stopped, 6U);
}

// Another machine rounds differently. Its attributions are made anew, and what follows from attributions is made from
// the recorded ones, so that it can be held against what was recorded.
TEST(StudyInFolder, ChecksEachPartFromTheRecordedOnesThatItFollowsFrom) {
  const Studied studied(testing::linear_toy());
  const Folder recorded;
  run_in(recorded.path(), studied, few());
  const auto before = files_of(recorded.path());
  const std::string path = recorded.path() + "/explanations/occlusion.npz";
  const Explanations made = read_explanations(path, {});
  const auto checked = [&](float amount, const std::string& into) {
    Explanations other = made;
    other.values(0, 0) += amount;
    write_explanations(other, path, {});
    const Subject subject = studied.subject();
    const FolderStore from(recorded.path(), true);
    FolderStore store(into);
    StudyTimes times;
    return run_study(subject, plan_study(subject, few(), {}), {}, store, times, {}, &from);
  };

  const Folder near;
  const float amount = 1e-5F * std::abs(made.values(0, 0));  // the tolerance is 1e-5 of this and of more
  const Study study = checked(amount, near.path());
  auto files = files_of(near.path());
  EXPECT_EQ(files["explanations/occlusion.npz"], before.at("explanations/occlusion.npz"));
  EXPECT_EQ(files["pool/occlusion.npz"], before.at("pool/occlusion.npz"));
  EXPECT_EQ(files["scores/kernel_shap-samples-64.json"], before.at("scores/kernel_shap-samples-64.json"));
  const Explanations& used = study.entries[2].explanations;
  EXPECT_NE(used.values(0, 0), made.values(0, 0));
  const StudyEntry scored = entry_from_json("occlusion", files["scores/occlusion.json"]);
  EXPECT_EQ(scored.scores[3].values[0], complexity(used.values.row(0))) << "of the recorded attributions";
  EXPECT_NE(scored.scores[3].values[0], complexity(made.values.row(0)));
  EXPECT_NE(files["explanations/mean.npz"], before.at("explanations/mean.npz")) << "of the recorded members";
  EXPECT_EQ(study.entries[2].scores[3].values[0], complexity(made.values.row(0))) << "the study is the recorded one";

  // What is not the same but for rounding is not made anything from.
  const Folder far;
  checked(1, far.path());
  EXPECT_EQ(files_of(far.path()), before);
}

TEST(StudyInFolder, RefusesPartsOfAnotherStudy) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  run_in(folder.path(), studied, few());
  StudyOptions other = few();
  other.criteria.pop_back();
  try {
    run_in(folder.path(), studied, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith(folder.path() + "/scores/gradient_x_input.json: expected 3 criteria"));
    EXPECT_THAT(error.what(), HasSubstr("found 4"));
  }
}

// What a front end does, as little as it can be.
StudySteps steps_of(const Studied& studied) {
  StudySteps steps;
  steps.inputs = [] { return std::vector<StudyInput>{{"data", "rows.csv", std::string(64, 'a')}}; };
  steps.open = [&](const StudyChoices&) -> OpenedSubject {
    StudyFacts facts;
    facts.title = "toy";
    facts.inputs = {{"data", "rows.csv", std::string(64, 'a')}, {"pool", "pool.csv", std::string(64, 'b')}};
    return {studied.subject(), facts, {"a note on the rows"}};
  };
  steps.page = [](const FinishedStudy& finished, const Subject&) { return "page of " + finished.study.facts.title; };
  return steps;
}

TEST(StudyInFolder, TheDriverWritesEverythingAndTheManifestLast) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  StudySteps steps = steps_of(studied);
  size_t told = 0;
  steps.planned = [&](const OpenedSubject& opened, const StudyPlan& plan, size_t finished) {
    EXPECT_EQ(opened.facts.title, "toy");
    EXPECT_EQ(plan.notes.at(0), "a note on the rows");
    EXPECT_EQ(finished, told == 0 ? 0U : plan.entries.size());
    told++;
  };
  const StudySettings settings{.arguments = {"--data", "rows.csv"}, .seed = 0};
  std::map<std::string, std::string> before;
  for (const bool resume : {false, true}) {
    ClaimedFolder claimed(folder.path(), settings, resume, false, {});
    const FinishedStudy made = run_study_in_folder(claimed, few(), steps, {});
    auto files = files_of(folder.path());
    EXPECT_EQ(files.size(), 6U * 2 + 3 + 6);  // entries; settings, study, run, scores, report, manifest
    EXPECT_EQ(files.at("study.json"), study_json(made.study, made.assessment));
    EXPECT_EQ(files.at("report.html"), "page of toy");
    const Manifest manifest = manifest_from_json("manifest.json", files.at("manifest.json"));
    EXPECT_EQ(manifest.inputs.size(), 2U);
    EXPECT_THAT(manifest_problems(folder.path(), manifest, {}), ::testing::IsEmpty());
    const FinishedStudy read = read_study(folder.path(), {});
    EXPECT_EQ(study_json(read.study, read.assessment), files.at("study.json"));
    EXPECT_EQ(made.study.facts.settings[0].second, "--data rows.csv");
    // Times differ from run to run, and with them the hash of run.json.
    for (const char* name : {"run.json", "manifest.json"}) files.erase(name);
    if (resume) {
      EXPECT_EQ(files, before);
    }
    before = files;
  }
  EXPECT_EQ(told, 2U);
}

TEST(StudyInFolder, OfAnOlderVersionHasNoFactsAboutItsReference) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  const StudySettings settings{.arguments = {"--data", "rows.csv"}, .seed = 0};
  {
    ClaimedFolder claimed(folder.path(), settings, false, false, {});
    run_study_in_folder(claimed, few(), steps_of(studied), {});
  }
  EXPECT_EQ(read_study(folder.path(), {}).study.facts.reference_facts.rows, 1U);
  std::string text = files_of(folder.path()).at("study.json");
  const size_t begin = text.find("\"reference_facts\"");
  const size_t end = text.find("\"players\"", begin);
  ASSERT_LT(begin, end);
  ASSERT_NE(end, std::string::npos);
  std::ofstream(folder.path() + "/study.json", std::ios::binary) << text.erase(begin, end - begin);
  const ReferenceFacts facts = read_study(folder.path(), {}).study.facts.reference_facts;
  EXPECT_EQ(facts.rows, 0U);
  EXPECT_TRUE(std::isnan(facts.value) && std::isnan(facts.pool_probability));
}

// The rows that were chosen, of the 60 that there are.
TEST(StudyInFolder, WhatWasChosenForTheTimeIsRecordedAndReplayed) {
  const Folder folder;
  testing::Toy toy = testing::product_toy();
  ModelInfo info;
  info.feature_names = toy.model->info().feature_names;
  info.output_names = {"y"};
  toy.model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    std::this_thread::sleep_for(std::chrono::microseconds(100) * rows.rows());
    for (size_t r = 0; r < rows.rows(); r++) outputs.row(r)[0] = rows.row(r)[0] * rows.row(r)[1];
  });
  std::vector<size_t> opened;
  std::unique_ptr<Studied> studied;
  StudySteps steps;
  steps.inputs = [] { return std::vector<StudyInput>(); };
  steps.open = [&](const StudyChoices& choices) -> OpenedSubject {
    const std::string* rows = choices.find(kRowsChoice);
    studied = std::make_unique<Studied>(toy, rows == nullptr ? 60 : std::stoul(*rows), 20);
    opened.push_back(studied->data.rows());
    return {studied->subject(), {}, {}};
  };
  steps.page = [](const FinishedStudy&, const Subject&) { return "page"; };
  StudyOptions options = few();
  options.methods[0] = {"lime"};  // a function has no gradient
  options.seconds = 0.5;
  options.rows_named = false;
  std::map<std::string, std::string> before;
  for (const bool resume : {false, true, true}) {
    ClaimedFolder claimed(folder.path(), {.arguments = {"x"}}, resume, false, {});
    opened.clear();
    const FinishedStudy made = run_study_in_folder(claimed, options, steps, {});
    const StudyChoices choices = read_settings(folder.path(), {}).choices;
    ASSERT_NE(choices.find(kRowsChoice), nullptr);
    EXPECT_EQ(*choices.find(kRowsChoice), fmt::format("{}", made.study.facts.rows));
    EXPECT_LT(made.study.facts.rows, 60U);
    EXPECT_EQ(*choices.find(kTimeChoice), "0.5s");
    // After the seed: study.json has them, and `diff` names those that differ.
    const auto& settings = made.study.facts.settings;
    EXPECT_TRUE(std::ranges::equal(choices.made, std::span(settings).subspan(2)));
    const std::vector<size_t> once = {made.study.facts.rows};
    const std::vector<size_t> twice = {60, made.study.facts.rows};
    EXPECT_EQ(opened, resume ? once : twice);
    auto files = files_of(folder.path());
    for (const char* name : {"run.json", "manifest.json"}) files.erase(name);
    if (resume) {
      EXPECT_EQ(files, before);
    }
    before = files;
    // Now an hour would be enough for all rows, and a moment for none.
    options.seconds = resume ? 1e-6 : 3600;
    options.seconds_named = true;
    fs::remove(folder.path() + "/scores/occlusion.json");
  }
}

TEST(StudyInFolder, AFailureLeavesNothingAndACancelledStudyCanBeGoneOnWith) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  std::atomic<bool> stop = false;
  Context context;
  context.cancelled = &stop;
  StudySteps steps = steps_of(studied);
  steps.planned = [](const OpenedSubject&, const StudyPlan&, size_t) { fail_input("no room"); };
  const auto run = [&](bool resume) {
    return message_of([&] {
      ClaimedFolder claimed(folder.path(), {.arguments = {"x"}}, resume, false, context);
      run_study_in_folder(claimed, few(), steps, context);
    });
  };
  EXPECT_THAT(run(false), HasSubstr("no room"));
  EXPECT_FALSE(fs::exists(folder.path()));
  steps.planned = [&](const OpenedSubject&, const StudyPlan&, size_t) { stop = true; };
  EXPECT_NE(run(false), "no error");
  EXPECT_TRUE(fs::exists(folder.path() + "/settings.json"));
  stop = false;
  steps.planned = {};
  EXPECT_EQ(run(true), "no error");
}

TEST(StudyInFolder, NoOtherStudyClaimsTheFolderMeanwhile) {
  const Folder folder;
  ClaimedFolder claimed(folder.path(), {.arguments = {"x"}}, false, false, {});
  EXPECT_THAT(sentence([&] { ClaimedFolder second(folder.path(), {.arguments = {"x"}}, true, false, {}); }),
              HasSubstr("another study that is running in it"));
}

}  // namespace
}  // namespace assay
