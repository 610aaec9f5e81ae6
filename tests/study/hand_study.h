// Studies made by hand, for tests of what is concluded from them.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/evaluate/scores.h"
#include "assay/study/study.h"

namespace assay::testing {

// A study of no entries yet; criteria as the user writes them.
inline Study hand_study(size_t rows, const std::vector<std::pair<std::string, Direction>>& criteria) {
  Study study;
  study.facts.rows = rows;
  for (const auto& [spec, direction] : criteria) {
    study.criteria.push_back(spec);
    study.criterion_names.push_back(spec.substr(0, spec.find(':')));
    study.directions.push_back(direction);
  }
  return study;
}

// The paper's three aims, in the order of the table of criteria.
inline Study study_of_aims(size_t rows) {
  return hand_study(
      rows,
      {{"faithfulness", Direction::higher}, {"avg_sensitivity", Direction::lower}, {"complexity", Direction::lower}});
}

inline Scores hand_scores(std::vector<double> values) {
  Scores scores;
  scores.values = std::move(values);
  summarise(scores, {.draws = 0}, Context{});
  return scores;
}

// values: of each criterion, by row.
inline StudyEntry& add_entry(Study& study, std::string name, EntryKind kind, std::vector<std::vector<double>> values) {
  StudyEntry entry;
  entry.stem = name;
  entry.name = std::move(name);
  entry.kind = kind;
  for (auto& each : values) entry.scores.push_back(hand_scores(std::move(each)));
  study.entries.push_back(std::move(entry));
  return study.entries.back();
}

// Values with this mean and a spread that is another for each seed, so that pairs differ; the sum of the spread is 0.
inline std::vector<double> around(double mean, double spread, size_t rows, size_t seed) {
  std::vector<double> values(rows);
  for (size_t r = 0; r < rows; ++r) {
    const double angle =
        2 * 3.14159265358979323846 * static_cast<double>((r * (seed + 1)) % rows) / static_cast<double>(rows);
    values[r] = mean + spread * std::sin(angle);
  }
  return values;
}

}  // namespace assay::testing
