// What the runs on MNIST measured, and what that says of the paper's findings (Bhatt, Weller, Moura 2020, Table 1).
//
// Findings compare two series image by image, by Student's paired t-test with Holm's correction for all comparisons.
// Assumes that images are independent; those of one run share its network and, for SHAP and SS, its draws.
// Deviation from the paper: it has one image, and no test.
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
  std::vector<double> cosine = {};  // to the mean of the members; of aggregates
};

// Their places among the aggregates.
enum MnistAggregate : size_t { kMnistConvex, kMnistWalks, kMnistFixedWalks, kMnistShrinking, kMnistBoth, kMnistLeast };

// Everything that was measured.
struct MnistResults {
  MnistPlan plan;
  std::vector<MnistSeries> members;
  std::vector<MnistSeries> aggregates;
  std::vector<double> simplest = {};         // complexity of the simplest member of each image
  std::vector<double> best = {};             // of the member whose mean over the image's run is least
  std::vector<double> bound = {};            // no mixture of the members is below it
  std::vector<double> accuracy = {};         // of each run's network, in per cent
  std::vector<std::string> best_names = {};  // of each run
};

// Means of the runs, each over its images that are defined.
std::vector<double> mnist_run_means(const std::vector<double>& values, size_t images);

// DeepLift is the last of the members.
std::vector<Finding> mnist_findings(const MnistResults& results);

}  // namespace assay
