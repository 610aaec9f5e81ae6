// What the parts of a study cost, measured on a few rows.
//
// Every part is run with one row, with a few, and where that takes little time with an eighth of the rows. Two sizes
// tell what a part costs whatever the rows (building an index, drawing samples, starting threads) from what it costs
// for each row. The model is timed first. What would take too long even for one row is not run: its evaluations of the
// model are counted instead, where they are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"
#include "assay/study/budget.h"
#include "assay/study/plan.h"
#include "assay/study/remembered_model.h"

namespace assay {

// Evaluations of the model beside the seconds, by row.
struct StudyEvaluations {
  std::vector<double> methods = {};
  std::vector<double> aggregates = {};
  double scoring = 0;  // one entry without curves
  double pool = 0;     // one entry, whatever the number of rows: criteria that compare with the rows of the pool
  double curves = 0;   // of one entry
};

// The method with its samples divided, but not by so much that they are no use. The method as it is if it samples
// nothing, or the user said how much.
Spec with_fewer_samples(const Spec& method, size_t divisor, size_t players);

class StudyPilot {
 public:
  // allowed: seconds that all trials may take together, about. What the subject refers to must outlive this.
  StudyPilot(const Subject& subject, double allowed, const Context& context);

  double seconds_of_evaluation() const { return evaluation_; }
  // The criteria of a plan, which is the first thing to try: they are computed for every entry. Criteria that train
  // models are not counted.
  void try_criteria(const StudyPlan& plan);
  // The next method. named: see MethodCost.
  void try_method(const Spec& method, bool named);
  // The aggregates of a plan, whose methods must be those that were tried.
  void try_aggregates(const StudyPlan& plan);

  double spent() const { return spent_; }  // seconds so far
  void set_chooses_members(bool chooses) { costs_.chooses_members = chooses; }
  const StudyCosts& costs() const { return costs_; }
  const StudyEvaluations& evaluations() const { return evaluations_; }

 private:
  struct FirstRows;
  struct Fit;
  template <class Trial>
  std::vector<Fit> measure(size_t wanted, const Trial& trial);

  void time_model();
  bool has_fast_games() const;
  double seconds_in_batches(double evaluations) const;
  void count_pool(const StudyPlan& plan, PoolExplanations& counted);
  void try_scoring(const StudyPlan& plan);
  void try_variation(const StudyPlan& plan);
  double left() const;       // seconds for trials
  double one_trial() const;  // seconds that one of them may take
  Explanations any_explanations(size_t rows) const;
  Explanations member(size_t method, size_t rows) const;
  PoolExplanations made_up_pool(const Explanations& like) const;

  Context context_;
  RememberedModel model_;
  Subject subject_;
  double allowed_;
  double spent_ = 0;
  double evaluation_ = 0;                                       // seconds for one row of a batch
  bool slow_pool_ = false;                                      // too many rows to predict them all here
  std::vector<std::map<size_t, Explanations>> explained_ = {};  // by method and number of rows
  StudyCosts costs_ = {};
  StudyEvaluations evaluations_ = {};
};

}  // namespace assay
