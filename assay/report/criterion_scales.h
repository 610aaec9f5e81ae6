// What a criterion means, for people who do not know it, and what its numbers are to be held against.
//
// "Is 0.96 good?" has an answer only on the criterion's scale: what a random explanation would score, and where the
// scale ends. The best and the worst entry of the study are in the study itself.
//
//   faithfulness     random: 0. It is a correlation, and the mean of correlations with random signs is 0
//   simplicity       random: H_d - 1, H_d = 1 + 1/2 + ... + 1/d: the mean entropy of d shares that are drawn uniformly
//                    among all that add up to 1. Ends: 0 and ln d
//   stability        random: the mean distance of two random directions in d dimensions,
//                    2^(d-1) Gamma(d/2)^2 / (sqrt(pi) Gamma(d - 1/2)); only for the l2 distance at unit norm. Least: 0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/study/study.h"

namespace assay {

struct CriterionScale {
  std::string words = {};    // of the criterion: "average sensitivity"; its name if there are none
  std::string meaning = {};  // one or two sentences; empty if nothing better than its title is known
  double random = NAN;       // what a random explanation scores on average
  double perfect = NAN;      // the best that there can be
  double end = NAN;          // the other end of the scale
  bool alike = false;  // whether exp(score) is a number of features: as many as would score so if all weighed alike
};

// players: of the explanations.
CriterionScale criterion_scale(const Study& study, size_t criterion, size_t players);

// The parts, for tests.
double random_complexity(size_t players);
double random_distance(size_t players);

}  // namespace assay
