// What ROAR and KAR share: models are trained again on rows in which players are replaced, and compared with the
// labels.
//
// For each seed and each k of a grid, players are replaced by the reference in the training rows and in the test rows
// (each row by its own order of players), a fresh model is trained on the former and judged on the latter:
//   drop(seed, k) = quality(original model, test rows) - quality(retrained model, changed test rows),
// quality being accuracy, or R^2 of a regression (known_rows.h). The value of a seed is the mean drop over the grid.
//
// Controls, with the same seeds: a random order of players for each row and seed, at every k, and a model retrained on
// unmodified rows. A drop means something only in comparison: retraining alone changes the quality, and replacing any
// players lowers it.
//
// Rows without a label, or whose attributions are not all numbers, are left out everywhere, also for the original
// model; notes count them. The reference is one row: the mean of a background.
//
// Cost for a grid of n values of k: seeds * n trainings; with controls seeds * (2 n + 1). Memory: a copy of the
// training rows for each training that runs. Results do not depend on how many trainings run at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/retraining/changed_rows.h"

namespace assay {

struct RetrainingOptions {
  std::vector<double> k = {0.1, 0.3, 0.5, 0.7, 0.9};
  int64_t seeds = 5;
  bool control = true;

  void describe(OptionVisitor& visit) {
    visit.reals("k", k, "shares of the players, rounded to whole players: at least one and, below 1, not all", "", 0,
                1);
    visit.integer("seeds", seeds, "trainings from fresh weights at each k; the score has a value for each", "", 1,
                  10000);
    visit.flag("control", control, "whether a random ranking and unmodified rows are trained on as well");
  }
};

// Why nothing can be retrained here, as the end of a sentence; nothing when it can. The task must meet
// retraining_needs().
std::optional<Refusal> retraining_refusal(const EvaluateTask& task);
Needs retraining_needs();

// Fills all of the scores. `name` is for progress and errors. `concurrent`: task.subject.trainer may be called from
// several threads at once; then trainings run side by side with few threads each, else one by one with all threads.
void score_by_retraining(std::string_view name, Replaced replaced, const RetrainingOptions& options, bool concurrent,
                         const EvaluateTask& task, Scores& scores, const Context& context);

// ROAR or KAR, by which players are replaced.
template <Replaced replaced>
class RetrainingCriterion final : public Criterion {
 public:
  using Options = RetrainingOptions;

  explicit RetrainingCriterion(Options options) : options_(std::move(options)) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override { return retraining_refusal(task); }
  bool scores_rows() const override { return false; }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_by_retraining(replaced == Replaced::first ? "roar" : "kar", replaced, options_,
                        task.subject.trainer_concurrent, task, scores, context);
  }

 private:
  Options options_;
};

}  // namespace assay
