// The tolerances for comparing a result with the same result of another vector target or version of Assay.
// docs/continuous-integration.md has the table for users.
//
// Vector targets add in different orders, and some round a product before they add it. So a float32 sum may differ by a
// small multiple of 6e-8 times the size of its terms. The terms may be far larger than the sum: a completeness gap is
// what is left when outputs, base and attributions cancel. So each tolerance is a factor times a scale, and the scale
// is the size of the terms. It is never a fixed number, because units of models are arbitrary. The contract tests
// compare all methods, criteria and aggregators on all targets of the machine. The largest differences there were 0.4
// of the tolerance for attributions (occlusion), 0.02 for smooth scores and 0.8 for quotients.
// The constants below are the factors. Each comment says which numbers it is for, and their scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Outputs of rows and of the reference. Scale: the largest of them in all rows, because networks add up large
// activations to small outputs in every row.
inline constexpr double kOutputRounding = 1e-5;
// Attributions and their standard errors. Scale: |output| + |base| + sum of |attributions| of the row, plus a tenth of
// the largest such sum of all rows.
inline constexpr double kAttributionRounding = 1e-5;
// The completeness gap, output - base - sum of attributions. Scale: as for attributions.
inline constexpr double kGapRounding = 1e-5;
// Weights of members (scale 1), and measures of aggregates (scale: the largest of the same name in all rows).
inline constexpr double kWeightRounding = 1e-4;
// Scores. Scale: the largest score of the criterion in all rows, but at least the size of what one score is made of.
inline constexpr double kScoreRounding = 1e-4;
// Scores that are divided by single attributions, which may be near 0. Scale: the score itself.
inline constexpr double kQuotientRounding = 1e-2;

// Whether two sentences say the same. Whole numbers in them are counts and must be equal; others are printed with a few
// digits and may be 1 % apart.
bool same_sentence(std::string_view recorded, std::string_view found);

// Compares recorded with found values. Keeps the first difference that is too large.
class RoundingCheck {
 public:
  // Whether two numbers agree: both NaN, the same infinity, or not more than tolerance apart.
  static bool agree(double recorded, double found, double tolerance) {
    if (std::isnan(recorded) || std::isnan(found)) return std::isnan(recorded) && std::isnan(found);
    if (std::isinf(recorded) || std::isinf(found)) return recorded == found;
    return std::fabs(recorded - found) <= tolerance;
  }

  // Words that must be equal.
  void words(const std::string& what, const std::string& recorded, const std::string& found);
  // Lists of notes, compared by same_sentence.
  void sentences(const std::string& what, const std::vector<std::string>& recorded,
                 const std::vector<std::string>& found);
  // what: names the number, and its row if it has one. False if the two do not agree.
  bool numbers(const std::string& what, double recorded, double found, double tolerance);
  void fail(std::string difference);

  bool passed() const { return difference_.empty(); }
  // The first difference, as one sentence; empty where there is none.
  const std::string& difference() const { return difference_; }
  // The largest |recorded - found| / tolerance of all numbers that agreed.
  double most() const { return most_; }

 private:
  std::string difference_;
  double most_ = 0;
};

}  // namespace assay
