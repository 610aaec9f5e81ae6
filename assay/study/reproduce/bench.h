// What Tables 2 to 4 share: the paper's networks on its data sets, run after run (Bhatt, Weller, Moura 2020, section 7
// and the appendix "Experimental Setup").
//
// Each run has a seed of its own, drawn from the context's. By that seed it splits the rows, fits an encoder and trains
// a network on the training part, samples test rows to explain, and samples training rows as the pool for neighbours.
// Categories are label-encoded as in the paper. Their codes are then treated like numbers: scaled on the training part,
// averaged in the mean baseline, and compared by their difference.
//
// Cost: one training for each run and scaling.
// Deviation from the paper: it has one network for all experiments. We train one for each run, because a finding must
// hold for more than one network; all tables of a run share it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"
#include "assay/explain/subject.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/train/train.h"
#include "assay/study/reproduce/reproduction.h"

namespace assay {

// How a data set is split into training and test rows.
enum class BenchSplit {
  own,         // the published split
  stratified,  // by class; every row on its own
  patients,    // all stays of a patient in the same part
};

struct BenchPlan {
  std::string dataset;  // for load_dataset
  std::string data;     // for CellKey::data
  bool clinical = false;
  BenchSplit split = BenchSplit::stratified;
  std::vector<int64_t> hidden = {};
  TrainOptions training = {};
  double test_share = 0.2;   // share of test rows in a stratified split
  size_t training_rows = 0;  // most rows to train on; 0: all
  size_t most_pool = 0;      // most rows of a pool; 0: as the set-up says
};

// The data sets whose files are found. Adds a note for each that is not.
std::vector<BenchPlan> bench_plans(const ReproduceOptions& options, std::vector<std::string>& notes);

// One network with its rows.
struct TrainedBench {
  BenchPlan plan;
  Encoder encoder;
  Dataset training;
  Dataset test;
  OnnxModel model;
  double accuracy = NAN;
  double largest_class = NAN;  // share of the largest class in the test part: the accuracy of a constant answer
  double auc = NAN;
  uint64_t seed = 0;

  // The context for this run: with its seed and without progress, which only counts runs.
  Context context(const Context& outer) const;
};

// A set, loaded once.
class BenchSource {
 public:
  BenchSource(BenchPlan plan, const ReproduceOptions& options, const Context& context);
  // scale: as Setup::scale. Depends only on the context's seed, `run` and `scale`.
  std::unique_ptr<TrainedBench> train(size_t run, const std::string& scale, const Context& context) const;
  const BenchPlan& plan() const { return plan_; }

 private:
  std::vector<bool> held_out(uint64_t seed, const Context& context) const;

  BenchPlan plan_;
  std::vector<std::string> data_dirs_;
  Table table_;
  std::vector<bool> split_once_ = {};  // which rows are for testing, if all runs share one split; else empty
  size_t training_rows_ = 0;           // for BenchSplit::own: the first rows of table_, which are for training
};

// What is measured under one set-up. Do not move: the subjects it returns refer to it.
struct Bench {
  const TrainedBench* trained = nullptr;
  OwnedSubject subject;
  Reference zero;  // in raw units
  Reference mean;  // of all training rows

  size_t features() const { return subject.players.size(); }
  // The subject with this reference for absent features.
  Subject against(const Reference& reference) const { return with_reference(subject.view(), reference); }
  // What explanations are made against. replaced: what replaces features, for Table 2; null for the others.
  const Reference& explained_against(const Setup& setup, const Reference* replaced) const;
};
std::unique_ptr<Bench> make_bench(const TrainedBench& trained, const Setup& setup, PaperTable table, size_t test_rows,
                                  const Context& context);

// Each adds the numbers of one run; `where` has the variant, the table and the set.
void measure_faithfulness(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                          const Context& context);
void measure_sensitivity(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                         const Context& context);
void measure_ava(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                 const Context& context);

}  // namespace assay
