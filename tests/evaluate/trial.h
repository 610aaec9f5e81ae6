// What an EvaluateTask refers to, kept together, for tests of criteria.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/evaluate/criteria.h"
#include "assay/evaluate/criterion.h"
#include "tests/explain/run_method.h"
#include "tests/explain/toys.h"

namespace assay::testing {

inline Explanations explanations_of(Matrix values) {
  Explanations made;
  for (size_t p = 0; p < values.cols(); p++) made.features.push_back(fmt::format("p{}", p));
  made.base.assign(values.rows(), NAN);
  made.output.assign(values.rows(), NAN);
  made.gap.assign(values.rows(), NAN);
  made.values = std::move(values);
  return made;
}

// A row of numbers for each row, each column a numeric feature of its own.
inline Dataset dataset_of(Matrix x, std::vector<float> labels = {}, std::vector<std::string> class_names = {}) {
  Dataset made;
  made.source = "test rows";
  for (size_t c = 0; c < x.cols(); c++) {
    made.feature_names.push_back(fmt::format("x{}", c));
    made.groups.push_back({.name = made.feature_names.back(), .first = c});
  }
  made.x = std::move(x);
  made.labels = std::move(labels);
  if (!made.labels.empty()) made.label_name = "y";
  made.class_names = std::move(class_names);
  return made;
}

// Only what a test sets is there.
struct Trial {
  Explanations explanations;
  std::optional<Dataset> data = {};
  std::optional<Setting> setting = {};  // model, targets, players, reference
  std::optional<Dataset> pool = {};
  std::optional<PoolExplanations> pool_explanations = {};
  std::optional<Spec> method = {};
  Trainer trainer = {};
  std::vector<const Explanations*> others = {};
  std::vector<std::string> other_names = {};

  EvaluateTask task() {
    EvaluateTask made{explanations};
    if (data) made.subject.rows = &*data;
    if (setting) {
      made.subject.model = setting->model.get();
      made.subject.players = &setting->players;
      made.subject.targets = &setting->targets;
      made.subject.reference = &setting->reference;
    }
    if (pool) made.subject.pool = &*pool;
    if (pool_explanations) made.pool_explanations = &*pool_explanations;
    if (method) made.method = &*method;
    made.subject.trainer = trainer;
    made.others = others;
    made.other_names = other_names;
    return made;
  }
};

// Bare attributions: nothing else is known.
inline Trial bare_trial(const std::vector<std::vector<float>>& values) { return {explanations_of(matrix_of(values))}; }

// Attributions of the rows of a setting.
inline Trial trial_of(Setting setting, Matrix values) {
  Trial made{explanations_of(std::move(values))};
  Matrix copy = setting.rows;
  made.data = dataset_of(std::move(copy));
  made.setting = std::move(setting);
  return made;
}

// Explained by this method.
inline Trial explained_trial(Setting setting, const std::string& method, const Context& context = {}) {
  const Spec spec = parse_spec("method", method);
  Explanations made = explain(spec, setting.task(), context);
  Trial trial = trial_of(std::move(setting), Matrix(1, 1));
  trial.explanations = std::move(made);
  trial.method = spec;
  return trial;
}

// Straight from the criterion, without evaluate() around it: checks nothing of the task beforehand.
inline Scores scored(const std::string& name, const std::string& options, Trial& trial, const Context& context = {}) {
  const Spec spec = parse_spec("criterion", name + options);
  const EvaluateTask task = trial.task();
  const std::unique_ptr<Criterion> criterion = find_criterion(name).make(spec);
  EXPECT_EQ(criterion->refuses(task), std::nullopt);
  Scores scores;
  scores.of_rows = criterion->scores_rows();
  scores.values.assign(task.rows(), NAN);
  criterion->score(task, scores, context);
  summarise(scores, {.draws = 100}, context);
  return scores;
}

// Why the criterion cannot do this task; empty when it can.
inline std::string refusal_of(const std::string& name, const std::string& options, Trial& trial) {
  return find_criterion(name).make(parse_spec("criterion", name + options))->refuses(trial.task()).value_or("").reason;
}

// Scores must have the same bits on any number of threads.
inline void expect_same_scores_on_threads(const std::string& name, const std::string& options, Trial& trial) {
  const Scores one = scored(name, options, trial, on_threads(1, 5));
  for (const unsigned threads : {2U, 7U}) {
    const Scores other = scored(name, options, trial, on_threads(threads, 5));
    ASSERT_EQ(one.values.size(), other.values.size());
    EXPECT_EQ(std::memcmp(one.values.data(), other.values.data(), one.values.size() * sizeof(double)), 0)
        << name << options << " on " << threads << " threads";
    EXPECT_EQ(one.shared_error, other.shared_error);
    ASSERT_EQ(one.standard_error.size(), other.standard_error.size());
    if (one.standard_error.empty()) continue;
    EXPECT_EQ(std::memcmp(one.standard_error.data(), other.standard_error.data(), one.values.size() * sizeof(double)),
              0);
  }
}

}  // namespace assay::testing
