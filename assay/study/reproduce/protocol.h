// What the reproduced tables share: the paper's networks on its data sets, run after run, and how runs are summarised
// and compared (Bhatt, Weller, Moura 2020, section 7 and the appendix "Experimental Setup").
//
// Each run has a seed of its own, drawn from the context's: a split of the rows, an encoder fitted on the training
// part, a network trained on it, a sample of test rows that are explained, and a pool of training rows that neighbours
// come from. Categories are label-encoded as in the paper, and from then on numbers like any other: standardised on the
// training part, averaged in the mean baseline, and compared by their difference. The explained value is the margin of
// the predicted class, of the positive class where there are two.
//
// Cost: a training a run, a second at most for the largest set.
// Deviation from the paper: it fixes one network for all experiments; we train one for each run, because a finding that
// holds for a single network is none. It does not state scaling, split, seeds or the size of its samples.
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

// How the rows of a set are parted.
enum class BenchSplit {
  own,         // as it is published
  stratified,  // every row is its own
  patients,    // all stays of one patient on one side
};

struct BenchPlan {
  std::string dataset;  // as load_dataset takes it
  std::string data;     // as Replication::data has it
  PaperSet paper = PaperSet::iris;
  BenchSplit split = BenchSplit::stratified;
  std::vector<int64_t> hidden = {};
  TrainOptions training = {};
  double test_share = 0.2;   // of a stratified split
  size_t training_rows = 0;  // at most so many are trained on; 0: all
  size_t test_rows = 200;    // at most so many are explained in a run
  size_t pool_rows = 5000;   // at most so many training rows are the pool of a run
};

// The sets of these options whose files are found; a note for each that is not.
std::vector<BenchPlan> bench_plans(const ReproduceOptions& options, Reproduction& out);
size_t bench_runs(const ReproduceOptions& options);
// The sentences that hold for all three tables.
std::vector<std::string> shared_protocol(const ReproduceOptions& options);

// The methods of the paper, by the names of its tables.
struct PaperMethod {
  std::string name;  // SHAP, SS, ...
  Spec spec;
};
const std::vector<PaperMethod>& paper_methods();

// One run on one set. Do not move it: what it makes refers to it.
struct Bench {
  OwnedSubject subject;
  Reference zero;  // in raw units
  Reference mean;  // of all training rows
  double accuracy = NAN;
  double largest_class = NAN;  // its share of the test part: the accuracy of always saying the same
  uint64_t seed = 0;

  size_t features() const { return subject.players.size(); }
  // The context of all computations of this run: its seed, and no progress, which is told in runs.
  Context context(const Context& outer) const;
  // The subject with this for absent features.
  Subject against(const Reference& reference) const { return with_reference(subject.view(), reference); }
};

// A set, loaded once.
class BenchSource {
 public:
  BenchSource(BenchPlan plan, const ReproduceOptions& options, const Context& context);
  // The same bench for the same context's seed and run.
  std::unique_ptr<Bench> make(size_t run, const Context& context) const;
  const BenchPlan& plan() const { return plan_; }

 private:
  std::vector<bool> held_out(uint64_t seed, const Context& context) const;

  BenchPlan plan_;
  std::vector<std::string> data_dirs_;
  Table table_;
  std::vector<bool> split_once_ = {};  // which rows are for testing, where all runs have the same
  size_t training_rows_ = 0;           // its first rows, where the split is its own
};

// What the runs of one set gave, and what the findings need to know of it.
struct SetResults {
  BenchPlan plan;
  size_t features = 0;
  RunTable table = {};
};

// All runs of all sets: `measure` adds the numbers of one run.
std::vector<SetResults> run_benches(const ReproduceOptions& options, const Context& context, std::string_view task,
                                    Reproduction& out,
                                    const std::function<void(const Bench&, SetResults&, const Context&)>& measure);

// The mean of a criterion, and its coverage.
Scores bench_scores(std::string_view spec, const EvaluateTask& task, const Context& context);

}  // namespace assay
