// The results of the runs on MNIST, and whether the paper's findings hold (Bhatt, Weller, Moura 2020, Table 1).
//
// Findings compare two series image by image, by Student's paired t-test with Holm's correction for all comparisons.
// Assumes that images are independent, although those of one run share its network and, for SHAP and SS, its draws.
// Deviation from the paper: it has one image and no test.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "assay/core/options.h"
#include "assay/study/reproduce/reproduction.h"

namespace assay {

struct MnistPlan {
  size_t runs;
  size_t images;    // explained in each run
  size_t training;  // images that a run's network is trained on
  std::string shap_samples;
};

// One line of the table: values of all images, run after run.
struct MnistSeries {
  std::string name;
  Spec spec;
  double paper = NAN;
  std::vector<double> complexity = {};
  std::vector<double> cosine = {};  // aggregates only: to the mean of the members
};

// Indices into MnistResults::aggregates.
enum MnistAggregate : size_t { kMnistConvex, kMnistWalks, kMnistFixedWalks, kMnistShrinking, kMnistBoth, kMnistLeast };

// Everything that was measured.
struct MnistResults {
  MnistPlan plan;
  std::vector<MnistSeries> members;
  std::vector<MnistSeries> aggregates;
  // Complexities, one for each image:
  std::vector<double> simplest = {};         // of the member that is simplest for this image
  std::vector<double> best = {};             // of the member that is simplest on average in this image's run
  std::vector<double> bound = {};            // no mixture of the members is simpler
  std::vector<double> accuracy = {};         // one for each run: its network's, in per cent
  std::vector<std::string> best_names = {};  // one for each run: the member of `best`
};

// The mean of each run over its defined values. images: values in each run.
std::vector<double> mnist_run_means(const std::vector<double>& values, size_t images);

// The last member must be DeepLift.
std::vector<Finding> mnist_findings(const MnistResults& results);

}  // namespace assay
