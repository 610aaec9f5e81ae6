// Scores of rows with some players at the reference: the loop of all criteria that remove players or add them.
//
// The players of a row are put in an order; a cut removes or adds consecutive players of it. The model runs once on
// every row and on every reference row, and once for each other (row, reference row, cut). Memory is that of one block
// of rows, however many rows there are. Results do not depend on blocks or threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/class_score.h"

namespace assay {

// kept = false: the players at places begin .. end - 1 of the order are at the reference, all others as in the row.
// kept = true: these players are as in the row, all others at the reference.
struct Cut {
  size_t begin = 0;
  size_t end = 0;
  bool kept = false;
};

// What is asked of one row.
struct RowPlan {
  std::vector<uint32_t> order;  // of all players
  std::vector<Cut> cuts;
};

// The rows whose attributions order the players: all numbers, and not all 0. Counts the reasons of the others.
std::vector<size_t> rows_with_order(const Explanations& explanations, UndefinedCounts& undefined);

class Removal {
 public:
  // The score of a changed copy of row `row`, from the model's outputs for it.
  using Score = std::function<double(size_t row, std::span<const float> outputs)>;
  using Plan = std::function<RowPlan(size_t row)>;
  // values: reference rows x cuts.
  using Finish = std::function<void(size_t row, const RowPlan& plan, MatrixView<const double> values)>;

  // Runs the model on these rows, and on the reference rows. The task must outlive this.
  Removal(const EvaluateTask& task, std::vector<size_t> rows, ScoredClass which, ScoreUnit unit,
          const Context& context);

  const std::vector<size_t>& rows() const { return rows_; }
  size_t references() const { return reference_outputs_.rows(); }
  size_t players() const { return task_->subject.players->size(); }
  uint64_t evaluations() const { return evaluations_; }

  // Whose outputs are scored.
  const Model& model() const { return *model_; }
  // The class that is scored for a row; and the score of that class in any outputs of the model.
  size_t scored_class_of(size_t row) const { return classes_[row]; }
  double score(size_t row, std::span<const float> outputs) const {
    return class_score(model_->info(), unit_, outputs, classes_[row]);
  }
  // Whether the row's explained class is its predicted one; always true if there is no class to choose.
  bool explains_predicted(size_t row) const { return other_class_[row] == 0; }
  // Adds a note with the number of rows explained for another class: their scores cannot be compared with published
  // ones.
  void note_unpredicted(Scores& scores) const;
  double at_row(size_t row) const { return at_row_[row]; }
  double at_reference(size_t row, size_t reference) const { return score(row, reference_outputs_.row(reference)); }

  // Scores all cuts of all rows. plan and score may be called from several threads at once; finish is called on this
  // thread, in the order of the rows. No plan may have more cuts than most_cuts.
  void run(size_t most_cuts, const Plan& plan, const Score& score, const Finish& finish, const Context& context,
           std::string_view name);

 private:
  const EvaluateTask* task_;
  const Model* model_;
  std::vector<size_t> rows_;
  ScoreUnit unit_;
  std::vector<size_t> classes_;  // of all rows of the task, meaningful for rows_
  std::vector<uint8_t> other_class_;
  std::vector<double> at_row_;
  Matrix reference_outputs_;
  uint64_t evaluations_ = 0;
};

}  // namespace assay
