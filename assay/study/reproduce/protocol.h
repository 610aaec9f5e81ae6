// What the reproduced tables share: the paper's networks on its data sets, run after run, and how runs are summarised
// and compared (Bhatt, Weller, Moura 2020, section 7 and the appendix "Experimental Setup").
//
// Each run has a seed of its own, drawn from the context's. By that seed it splits the rows, fits an encoder and trains
// a network on the training part, samples test rows to explain, and samples training rows as the pool for neighbours.
// Categories are label-encoded as in the paper. Their codes are then treated like numbers: standardised on the training
// part, averaged in the mean baseline, and compared by their difference. The explained value is the margin of the
// predicted class, or of the positive class if there are two.
//
// Cost: one training for each run, a second at most for the largest set.
// Deviation from the paper: it has one network for all experiments. We train one for each run, because a finding must
// hold for more than one network. The paper states neither scaling nor split, seeds or sample sizes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/data/table.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/subject.h"
#include "assay/model/train/train.h"
#include "assay/study/reproduce/reproduction.h"
#include "assay/study/reproduce/runs.h"

namespace assay {

// The columns of the paper's tables.
enum class PaperSet { adult, iris, mimic };

// How a data set is split into training and test rows.
enum class BenchSplit {
  own,         // the published split
  stratified,  // by class; every row on its own
  patients,    // all stays of a patient in the same part
};

struct BenchPlan {
  std::string dataset;  // for load_dataset
  std::string data;     // for Replication::data
  PaperSet paper = PaperSet::iris;
  BenchSplit split = BenchSplit::stratified;
  std::vector<int64_t> hidden = {};
  TrainOptions training = {};
  double test_share = 0.2;   // share of test rows in a stratified split
  size_t training_rows = 0;  // most rows to train on; 0: all
  size_t test_rows = 200;    // most rows to explain in a run
  size_t pool_rows = 5000;   // most training rows in the pool of a run
};

// The data sets whose files are found. Adds a note to `out` for each that is not.
std::vector<BenchPlan> bench_plans(const ReproduceOptions& options, Reproduction& out);
size_t bench_runs(const ReproduceOptions& options);
// The sentences on what was done that are the same for Tables 2, 3 and 4.
std::vector<std::string> shared_protocol(const ReproduceOptions& options);

// The methods of the paper, by the names of its tables.
struct PaperMethod {
  std::string name;  // SHAP, SS, ...
  Spec spec;
};
const std::vector<PaperMethod>& paper_methods();

// One run on one set. Do not move: the subjects it returns refer to it.
struct Bench {
  OwnedSubject subject;
  Reference zero;  // in raw units
  Reference mean;  // of all training rows
  double accuracy = NAN;
  double largest_class = NAN;  // share of the largest class in the test part: the accuracy of a constant answer
  uint64_t seed = 0;

  size_t features() const { return subject.players.size(); }
  // The context for this run: with its seed and without progress, which only counts runs.
  Context context(const Context& outer) const;
  // The subject with this reference for absent features.
  Subject against(const Reference& reference) const { return with_reference(subject.view(), reference); }
};

// A set, loaded once.
class BenchSource {
 public:
  BenchSource(BenchPlan plan, const ReproduceOptions& options, const Context& context);
  // Depends only on the context's seed and `run`.
  std::unique_ptr<Bench> make(size_t run, const Context& context) const;
  const BenchPlan& plan() const { return plan_; }

 private:
  std::vector<bool> held_out(uint64_t seed, const Context& context) const;

  BenchPlan plan_;
  std::vector<std::string> data_dirs_;
  Table table_;
  std::vector<bool> split_once_ = {};  // which rows are for testing, if all runs share one split; else empty
  size_t training_rows_ = 0;           // for BenchSplit::own: the first rows of table_, which are for training
};

// The results of all runs on one set.
struct SetResults {
  BenchPlan plan;
  size_t features = 0;
  RunTable table = {};
};

// Makes all runs on all sets. `measure` adds the numbers of one run to its SetResults.
std::vector<SetResults> run_benches(const ReproduceOptions& options, const Context& context, std::string_view task,
                                    Reproduction& out,
                                    const std::function<void(const Bench&, SetResults&, const Context&)>& measure);

// Scores with mean and coverage, without an interval.
Scores bench_scores(std::string_view spec, const EvaluateTask& task, const Context& context);

}  // namespace assay
