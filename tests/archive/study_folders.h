// Folders of studies as small as can be, for tests of what compares them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "assay/archive/diff.h"
#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/scores_csv.h"
#include "assay/archive/io/study_json.h"
#include "assay/explain/explanations.h"

namespace assay {

namespace fs = std::filesystem;

using Values = std::vector<double>;

class Folders : public ::testing::Test {
 protected:
  Folders() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / (std::string("assay_diff_") + test->name() + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Folders() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  std::string get(const std::string& name) const {
    std::ifstream file(root_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = get(name);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    put(name, text.replace(at, from.size(), to));
  }

  // Writes the files of a study that diff and verify read.
  void write(const std::string& name, const Study& study) const {
    put(name + "/study.json", study_json(study, {}));
    put(name + "/scores.csv", scores_csv(study));
    fs::create_directories(root_ / name / "explanations");
    for (const StudyEntry& entry : study.entries) {
      put(name + "/scores/" + entry.stem + ".json", entry_json(entry));
      write_explanations(entry.explanations, path(name + "/explanations/" + entry.stem + ".npz"), {});
    }
  }

  StudyFolder opened(const std::string& name) const { return open_study_folder(path(name), {}); }

  StudyDiff diff(const Study& before, const Study& after) const {
    write("before", before);
    write("after", after);
    return diff_studies(open_study_folder(path("before"), {}), open_study_folder(path("after"), {}), {});
  }

 private:
  fs::path root_;
};

inline Scores scores_of(const std::string& criterion, Direction direction, const Values& values) {
  Scores scores;
  scores.criterion = criterion;
  scores.direction = direction;
  scores.values = values;
  summarise(scores, {.draws = 0}, {});
  return scores;
}

inline StudyEntry entry_of(const std::string& name, const Study& study, const std::vector<Values>& values,
                           const std::vector<std::string>& ids = {}) {
  StudyEntry entry;
  entry.name = name;
  entry.stem = name;
  const size_t rows = values[0].size();
  Explanations& made = entry.explanations;
  made.values = Matrix(rows, 2);
  for (size_t r = 0; r < rows; r++) made.values(r, 0) = static_cast<float>(values[0][r]);
  made.features = {"a", "b"};
  made.base.assign(rows, 0);
  made.output.assign(rows, 1);
  made.gap.assign(rows, 0);
  made.target.assign(rows, 0);
  made.target_names = {"yes"};
  made.ids = ids;
  made.id_name = ids.empty() ? "" : "id";
  for (size_t c = 0; c < values.size(); c++) {
    entry.scores.push_back(scores_of(study.criterion_names[c], study.directions[c], values[c]));
  }
  return entry;
}

// By faithfulness (higher is better), complexity (lower) and sparseness (here without direction).
inline Study study_of(const std::vector<std::vector<Values>>& entries, const std::vector<std::string>& ids = {}) {
  Study study;
  study.facts.title = "m.onnx on rows.csv";
  study.facts.data = "all rows of rows.csv";
  study.facts.rows = study.facts.rows_available = entries[0][0].size();
  study.facts.version = "1.0";
  study.facts.vector_target = "AVX2";
  study.facts.inputs = {{"data", "rows.csv", std::string(64, 'a')}};
  study.facts.settings = {{"arguments", "--data rows.csv"}};
  study.criteria = study.criterion_names = {"faithfulness", "complexity", "sparseness"};
  study.directions = {Direction::higher, Direction::lower, Direction::neither};
  for (const auto& values : entries) {
    study.entries.push_back(
        entry_of(std::string(1, static_cast<char>('k' + study.entries.size())), study, values, ids));
  }
  return study;
}

inline const Values& old_values() {
  static const Values values = {1, 2, 3, 4};
  return values;
}
inline const Values& new_values() {
  static const Values values = {2, 4, 4, 6};
  return values;
}

}  // namespace assay
