// A study small enough to do by hand, whose names and cells are as hostile as files can be.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/report/report_data.h"

namespace assay::testing {

inline Matrix matrix_from(const std::vector<std::vector<float>>& rows) {
  Matrix made(rows.size(), rows.at(0).size());
  for (size_t r = 0; r < rows.size(); r++) std::copy(rows[r].begin(), rows[r].end(), made.row(r).begin());
  return made;
}

inline StudyEntry entry_of(const std::string& name, EntryKind kind, Matrix values) {
  StudyEntry made;
  made.name = name;
  made.kind = kind;
  made.explanations.base.assign(values.rows(), 0.5);
  made.explanations.output.assign(values.rows(), 0.75);
  made.explanations.values = std::move(values);
  return made;
}

inline Scores scores_of(std::vector<double> values, double mean, double error) {
  Scores made;
  made.values = std::move(values);
  made.mean = mean;
  made.mean_error = error;
  made.interval = {mean - 0.25, mean + 0.25};
  made.coverage = 1;
  return made;
}

// What a Subject refers to, kept together.
struct OwnedSubject {
  Dataset data;
  Dataset pool;
  std::unique_ptr<Model> model;
  Players players;
  Reference reference = {};
  Targets targets = {};
  Targets pool_targets = {};

  Subject get() const {
    return {.model = model.get(),
            .rows = &data,
            .players = &players,
            .targets = &targets,
            .reference = &reference,
            .pool = &pool,
            .pool_targets = &pool_targets};
  }
};

struct SmallReport {
  OwnedSubject subject;
  Study study;
  Assessment assessment;
  StudyTimes times;

  std::string json(const ReportOptions& options = {}) const {
    return report_data_json(study, assessment, times, subject.get(), options, {.threads = 1});
  }
};

inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {"<script>alert(1)</script>", "</script><!-- {{data}}",
                                                 "\"&'\xE2\x80\xAE\x01\xE2\x80\xA8{{script}}"};
  return names;
}

// Four rows of a number, a category and a one-hot category; the model goes by the category: level 0 is class 0.
inline OwnedSubject hostile_subject() {
  OwnedSubject made;
  const float nan = NAN;
  made.data.x = matrix_from({{1.5F, 0, 1, 0}, {2.5F, 1, 0, 1}, {nan, 1, 0, 0}, {4.5F, 0, 0, 1}});
  made.data.feature_names = {"c0", "c1", "c2", "c3"};
  made.data.groups = {
      {hostile_names()[0], 0, 1, ColumnKind::numeric},
      {hostile_names()[1], 1, 1, ColumnKind::categorical, {"plain", "SECRET-LEVEL</script>"}},
      {hostile_names()[2], 2, 2, ColumnKind::categorical, {"SECRET-HOT", "b"}},
  };
  made.data.class_names = {"yes", "<no>"};
  made.data.labels = {0, 1, NAN, 1};
  made.data.ids = {"id-1", "<i>id-2", "bad \xFF byte", "id-4"};
  made.pool = made.data;
  made.pool.x = matrix_from({{7654.25F, 1, 1, 0}, {8, 0, 0, 1}});
  made.players = group_players(made.data);
  ModelInfo info;
  info.name = "toy";
  info.feature_names = made.data.feature_names;
  info.output_names = info.class_names = made.data.class_names;
  info.unit = OutputUnit::probability;
  made.model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) {
      outputs(r, 0) = rows(r, 1) == 0 ? 0.75F : 0.25F;
      outputs(r, 1) = 1 - outputs(r, 0);
    }
  });
  made.targets.names = made.data.class_names;
  made.targets.of_row = {0, 1, 1, 0};
  made.pool_targets.names = made.targets.names;
  made.pool_targets.of_row = {1, 0};
  return made;
}

inline SmallReport hostile_report() {
  const float nan = NAN;
  SmallReport made{.subject = hostile_subject(), .study = {}, .assessment = {}, .times = {}};
  Study& study = made.study;
  study.facts.title = "toy </title><script>alert(2)</script> on {{data}}";
  study.facts.version = "0.1.0";
  study.facts.features = hostile_names();
  study.facts.rows = 4;
  study.facts.accuracy = NAN;
  study.facts.settings = {{"--rows", "4"}};
  study.facts.inputs = {{"data", "a&b.csv", "00ff"}};
  study.criteria = {"faithfulness:subset=2", "sparseness"};
  study.criterion_names = {"faithfulness", "sparseness"};
  study.directions = {Direction::higher, Direction::higher};
  study.left_out = {{"method", "deeplift", "it has no <gradient>"}};
  study.entries.push_back(
      entry_of("gradient", EntryKind::method, matrix_from({{1, -2, 3}, {0, 1, -1}, {-4, 0, 2}, {3, -3, 1}})));
  study.entries.push_back(entry_of("kernel_shap:samples=64", EntryKind::method,
                                   matrix_from({{2, 2, 1}, {nan, 0, 1}, {1, -1, 1}, {-6, 5, 0}})));
  study.entries.push_back(
      entry_of("ava", EntryKind::aggregate, matrix_from({{1, 1, 2}, {0, 2, 1}, {4, 1, 2}, {1.0F / 3, 0, 1}})));
  Explanations& sampled = study.entries[1].explanations;
  sampled.standard_error = matrix_from({{3, 0, 1}, {nan, 0, 0}, {1, 1, 1}, {0, 0, 0}});
  sampled.background_error = matrix_from({{4, 2, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}});
  Combination& ava = study.entries[2].explanations.combination;
  ava.relative = true;
  ava.members = {"gradient"};
  ava.weights = matrix_from({{0.25F, 0.75F}, {1, 0}, {0.5F, 0.5F}, {0.5F, 0.5F}});
  ava.antecedents = {0, 1, 1, -1, 0, 1, 1, 0};
  for (StudyEntry& entry : study.entries) {
    entry.scores = {scores_of({1, 0.5, NAN, 0.25}, 0.58333333, 0.125), scores_of({1, 2, 3, 4}, 2.5, 0.0625)};
    entry.evaluations = 123;
  }
  Scores& partly = study.entries[0].scores[0];
  partly.coverage = 0.75;
  partly.undefined = {{"no <neighbour>", 1}};
  Scores& never = study.entries[2].scores[1];
  never = {};
  never.undefined = {{"it cannot", 4}};
  study.entries[0].curves = {{"faithfulness", "subset", {1, 2}, {0.5, NAN}, {0.1, NAN}, {1, 0}}};
  made.assessment.rankings = {
      {0,
       {1, 0, 2},
       {Standing::worse, Standing::best, Standing::tied},
       {0.5, NAN, 0.125},
       {{0.25, 0.75}, {NAN, NAN}, {-0.125, 0.375}},
       true},
      {1, {}, {}, {}, {}, false},
  };
  made.assessment.dominated = {true, false, false};
  made.assessment.dominated_by = {1, 1, 2};
  made.assessment.verdict = {"use <it>"};
  made.times.entries = {{"gradient", 1.5, 0.25}, {"ava", NAN, 1}};
  made.times.threads = 2;
  return made;
}

// The advice that this entry is to be used, and nothing else.
inline void recommend(SmallReport& report, size_t entry) {
  Advice& advice = report.assessment.advice;
  advice.overall = Recommendation{};
  advice.overall->entry = entry;
  advice.entries.clear();
  for (size_t e = 0; e < report.study.entries.size(); e++) advice.entries.push_back({.alias_of = e});
  for (StudyEntry& each : report.study.entries) each.explanations.target = {0, 1, 1, 0};
}

}  // namespace assay::testing
