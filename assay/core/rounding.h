// How near a result must be to the same result of another vector target or version of Assay: the one place that says
// it. docs/continuous-integration.md has the table for users.
//
// Vector targets round sums in another order, and some round a product before they add it. So a number of float32
// arithmetic differs by a small multiple of 6e-8 of what it was added up from, which may be far larger than itself: a
// completeness gap is what is left of outputs, base and attributions when they cancel. So a tolerance is a factor of a
// scale, and the scale is the size of what the number is made of, never a fixed size: units of models are arbitrary.
// The contract tests compare all methods, criteria and aggregators on all targets of the machine. There attributions
// took up at most 0.4 of their tolerance (occlusion), smooth scores 0.02, quotients 0.8.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The explained value of a row and that of the reference; of the largest of them in all rows. Networks add up large
// activations to small outputs, alike in all rows.
inline constexpr double kOutputRounding = 1e-5;
// Attributions and their standard errors; of |output| + |base| + sum of |attributions| of their row, plus a tenth of
// the largest such sum of all rows.
inline constexpr double kAttributionRounding = 1e-5;
// output - base - sum of attributions; of the same.
inline constexpr double kGapRounding = 1e-5;
// Weights of members, which are from 0 to 1, and measures of aggregates; of the largest of the same name in all rows.
inline constexpr double kWeightRounding = 1e-4;
// Scores; of the largest of the criterion in all rows, and at least of what one score is made of.
inline constexpr double kScoreRounding = 1e-4;
// Scores that are divided by single attributions, which may be near 0; of themselves.
inline constexpr double kQuotientRounding = 1e-2;

// Whether two sentences say the same. Whole numbers in them are counts and must be equal; others are printed with a few
// digits and may be 1 % apart.
bool same_sentence(std::string_view recorded, std::string_view found);

// Compares pairs of numbers and keeps the first that are too far apart, and how near the nearest miss was.
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
  // Notes, by same_sentence.
  void sentences(const std::string& what, const std::vector<std::string>& recorded,
                 const std::vector<std::string>& found);
  // what: of which row, where one is meant. False where the two do not agree.
  bool numbers(const std::string& what, double recorded, double found, double tolerance);
  void fail(std::string difference);

  bool passed() const { return difference_.empty(); }
  // The first difference, as one sentence; empty where there is none.
  const std::string& difference() const { return difference_; }
  // The largest share of its tolerance that a difference took up.
  double most() const { return most_; }

 private:
  std::string difference_;
  double most_ = 0;
};

}  // namespace assay
