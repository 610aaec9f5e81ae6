// The paper's experiments, run again: its number beside ours, and whether its findings hold.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/statistics.h"

namespace assay {

// One number of the paper's tables, and ours.
struct Replication {
  std::string data;                // "iris", "adult", "mimic3 (demo)", "cinc2019 (stand-in for MIMIC-III)"
  std::string row;                 // the method, or "AVA"
  std::string column;              // "faithfulness, zero baseline, |S| = 2"
  double paper = NAN;              // NaN: the paper has no such number
  double paper_spread = NAN;       // what the paper prints after +-
  double ours = NAN;               // mean over runs
  double deviation = NAN;          // standard deviation over runs
  Interval interval = {NAN, NAN};  // 95 % interval of our mean
  size_t runs = 0;
  double coverage = 1;
};

enum class FindingStatus { replicates, does_not_replicate, cannot_be_tested };

struct Finding {
  std::string claim;  // what the paper says, in our words
  FindingStatus status = FindingStatus::cannot_be_tested;
  std::string evidence;  // numbers, one or two sentences
};

struct Reproduction {
  std::string name;                   // faithfulness, sensitivity, ava or mnist
  std::string title;                  // "Table 2: faithfulness"
  std::vector<std::string> protocol;  // what was done and where it differs from the paper, one sentence each
  std::vector<Replication> replications;
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // what was left out and why, for example a data set that was not found
};

struct ReproduceOptions {
  bool quick = false;  // few runs, and small samples of all sets but iris: only tests that the protocol works
  std::vector<std::string> data_dirs = {};
  std::string sepsis = "explicit";  // the MIMIC-III label: explicit, martin or angus
};

// Each uses the context's seed. Data sets that are not found are left out, with a note.
Reproduction reproduce_faithfulness(const ReproduceOptions& options, const Context& context);
Reproduction reproduce_sensitivity(const ReproduceOptions& options, const Context& context);
Reproduction reproduce_ava(const ReproduceOptions& options, const Context& context);
Reproduction reproduce_mnist(const ReproduceOptions& options, const Context& context);

}  // namespace assay
