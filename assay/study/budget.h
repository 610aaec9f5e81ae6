// How much of a study fits into a time. A pure function of measured costs: it looks at no clock and draws nothing.
//
// The fullest plan that fits is chosen. In this order things are given up:
//   1. a method or an aggregate that alone would take more than a third of the time for the least number of rows
//      (kLeastRows) and the least background; a method whose values another one estimates, also if it does so with the
//      whole background, which matters more;
//   2. rows, down to 200; other seeds and references; rows, down to 100; curves; half of the background; rows, down to
//      kLeastRows; samples of sampled methods, down to a quarter; more of the background, down to 10 rows;
//   3. the dearest methods, one by one, and each time step 2 begins again;
//   4. if three methods are left: before another goes, rows down to 20, aggregates, rows down to 10.
// So more time never leaves out an aggregate by step 1 that less time kept; with the same aggregates it never means
// fewer methods, and with the same methods, too, never less of anything else. What the user named is kept.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

inline constexpr double kNoTimeLimit = std::numeric_limits<double>::infinity();
inline constexpr double kDefaultStudySeconds = 60;
// Too few rows say little; fewer only if nothing else helps.
inline constexpr size_t kLeastRows = 50;
inline constexpr size_t kFewestRows = 10;
inline constexpr size_t kFewestMethods = 3;
// What the samples of sampled methods may be divided by.
inline constexpr std::array<size_t, 3> kSampleDivisors = {1, 2, 4};

// What users say: "30s", "2m", "1h", "90" (seconds), "1.5h" or "none", which is kNoTimeLimit. Throws an argument error
// about "time" for anything else, for 0 and for more than a year.
double seconds_from(std::string_view word);
// The same in words that seconds_from reads: "90s", "2m", "1h", "none". Rounded up to whole seconds beyond 10.
std::string seconds_word(double seconds);

// fixed + each * n, in seconds.
struct LinearCost {
  double fixed = 0;
  double each = 0;

  double at(double n) const { return fixed + each * n; }
};

struct MethodCost {
  LinearCost explaining;       // by rows
  bool uses_reference = true;  // whether it takes as much longer as the background has more rows
  bool other_seed = false;     // whether variations explain all rows once more with another seed
  bool named = false;          // by the user, as one that is aggregated: it stays
  bool estimated = false;      // whether another method estimates its values
  // Which part of `explaining` is left if samples are divided by each of kSampleDivisors.
  std::array<double, kSampleDivisors.size()> of_samples = {1, 1, 1};
};

struct AggregateCost {
  LinearCost combining;    // by rows
  bool pool_free = false;  // rows of the pool cost nothing: weights that were learnt are applied to them
  // How many rows of the pool are explained for one row. Rows share them, so it grows ever more slowly with the rows.
  // 0: none are.
  double pool_of_row = 0;
};

// All at the rows and the background that the costs were measured with.
struct StudyCosts {
  std::vector<MethodCost> methods = {};
  std::vector<AggregateCost> aggregates = {};
  double preparing = 0;           // once for all entries, whatever the rows: predicting the pool
  LinearCost shared = {};         // values of the game that all entries are scored with, by rows
  LinearCost shared_curves = {};  // likewise, for curves
  LinearCost scoring = {};        // one entry without curves, by rows
  LinearCost curves = {};         // of one entry, by rows
  LinearCost varied = {};         // scoring one variation of one method, by rows
  size_t explained_again = 0;     // how many criteria explain all rows again, for methods
  size_t rows = 0;                // that there are to study
  size_t background = 1;          // rows that stand for absent features
  size_t other_references = 0;    // that variations explain all rows with
  size_t other_background = 0;    // rows of all these references together
  bool chooses_members = false;   // whether methods are tried on rows of the pool, to choose those that are aggregated
  size_t pool = 0;                // rows
  size_t pool_drawn = 0;          // pool rows that are explained whatever the rows
  size_t pool_near = 0;           // with those that are neighbours of some row
  size_t pool_farther = 0;        // with the neighbours that curves need, too
};

// What may not be changed, because the user said it.
struct BudgetFixed {
  bool methods = false;
  bool rows = false;
  bool background = true;
  bool aggregates = false;
  bool curves = false;
  bool variations = false;
};

struct BudgetPlan {
  std::vector<bool> methods = {};   // which are kept
  std::vector<bool> combined = {};  // which aggregates are, if there are any
  size_t rows = 0;
  size_t background = 1;
  size_t fewer_samples = 0;  // index into kSampleDivisors
  bool aggregates = true;
  bool curves = true;
  bool variations = true;
  double seconds = 0;  // expected

  size_t kept() const;
};

// How many pool rows are explained by each method if so many rows are studied. Neighbourhoods overlap, so it grows ever
// more slowly.
double pool_rows_explained(const StudyCosts& costs, size_t rows, bool curves);

// The seconds that one method, one aggregate, scoring one entry, and a whole plan are expected to take.
double seconds_of_method(const StudyCosts& costs, const BudgetPlan& plan, size_t method);
double seconds_of_aggregate(const StudyCosts& costs, const BudgetPlan& plan, size_t aggregate);
double seconds_of_scoring(const StudyCosts& costs, const BudgetPlan& plan);
double seconds_of(const StudyCosts& costs, const BudgetPlan& plan);
// What choosing the members of aggregates takes, before the study itself.
double seconds_of_choosing(const StudyCosts& costs, const BudgetPlan& plan);

// Everything, as if there were no limit. asked: whether curves, variations and aggregates are wanted at all.
BudgetPlan full_plan(const StudyCosts& costs, const BudgetPlan& asked);

// The fullest plan that takes at most so many seconds; the least plan if none does.
BudgetPlan plan_within(const StudyCosts& costs, const BudgetPlan& asked, const BudgetFixed& fixed, double seconds);

// How many of `rows` background rows a model that takes so long for one evaluation can have: 100, 50, 25 or 10. Asked
// before anything else is measured, because a slow model could not even be tried with more.
size_t background_for(double seconds_of_evaluation, size_t players, size_t rows, double seconds);

}  // namespace assay
