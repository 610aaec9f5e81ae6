#include "assay/study/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/study/member_choice.h"

namespace assay {
namespace {

constexpr double kMostSeconds = 366.0 * 24 * 3600;
// A method or an aggregate may take this share of the time for kLeastRows rows.
constexpr double kShareOfOneMethod = 1.0 / 3;
constexpr size_t kRowsBeforeVariations = 200;  // before other seeds and references go
constexpr size_t kRowsBeforeCurves = 100;      // before curves go
constexpr size_t kRowsBeforeAggregates = 20;   // before aggregates go
constexpr std::array<size_t, 4> kBackgrounds = {100, 50, 25, 10};
// Coalitions that explaining and scoring one row takes, about, and as many more for each player.
constexpr double kCoalitionsOfRow = 1'000;
constexpr double kCoalitionsOfPlayer = 4;

double share_of_background(const StudyCosts& costs, const BudgetPlan& plan) {
  return costs.background == 0 ? 1 : static_cast<double>(plan.background) / static_cast<double>(costs.background);
}

// Of what is measured with the background, what the other references take.
double share_of_others(const StudyCosts& costs) {
  return static_cast<double>(costs.other_background) / static_cast<double>(std::max<size_t>(costs.background, 1));
}

// Indices of methods, the cheapest first. The order does not depend on the time that there is.
std::vector<size_t> cheapest_first(const StudyCosts& costs, const BudgetPlan& at) {
  std::vector<size_t> order(costs.methods.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t method) {
    return std::pair(!costs.methods[method].named, seconds_of_method(costs, at, method));
  });
  return order;
}

// The fullest plan with these methods that fits. Steps down until one does, and stays at the last step if none does.
class Ladder {
 public:
  Ladder(const StudyCosts& costs, const BudgetPlan& top, const BudgetFixed& fixed, double seconds)
      : costs_(costs), plan_(top), fixed_(fixed), seconds_(seconds) {}

  // far: also the steps that only a study of few methods takes. Returns whether the plan fits.
  bool climb_down(bool far) {
    // Each step leaves the plan as it is or makes it cheaper.
    const bool found = fits() || rows_down_to(kRowsBeforeVariations) || without(fixed_.variations, plan_.variations) ||
                       rows_down_to(kRowsBeforeCurves) || without(fixed_.curves, plan_.curves) ||
                       background_down_to(50) || rows_down_to(kLeastRows) || fewer_samples() || background_down_to(10);
    return found || (far && (rows_down_to(kRowsBeforeAggregates) || without(fixed_.aggregates, plan_.aggregates) ||
                             rows_down_to(kFewestRows)));
  }

  BudgetPlan plan() const {
    BudgetPlan made = plan_;
    made.seconds = seconds_of(costs_, made);
    return made;
  }

 private:
  bool fits() const { return seconds_of(costs_, plan_) + seconds_of_choosing(costs_, plan_) <= seconds_; }

  // The largest number of rows that fits, at least so many. Whole tens: the others are no better.
  bool rows_down_to(size_t least) {
    if (fixed_.rows || plan_.rows <= least) return false;
    const size_t most = plan_.rows;
    for (size_t rows = (most - 1) / 10 * 10; rows > least; rows -= 10) {
      plan_.rows = rows;
      if (fits()) return true;
    }
    plan_.rows = least;
    return fits();
  }

  bool without(bool fixed, bool& part) {
    if (fixed || !part) return false;
    part = false;
    return fits();
  }

  bool fewer_samples() {
    if (fixed_.methods) return false;
    while (plan_.fewer_samples + 1 < kSampleDivisors.size()) {
      plan_.fewer_samples++;
      if (fits()) return true;
    }
    return false;
  }

  bool background_down_to(size_t least) {
    if (fixed_.background) return false;
    for (const size_t size : kBackgrounds) {
      if (size >= plan_.background || size < least) continue;
      plan_.background = size;
      if (fits()) return true;
    }
    return false;
  }

  const StudyCosts& costs_;
  BudgetPlan plan_;
  BudgetFixed fixed_;
  double seconds_;
};

}  // namespace

double seconds_from(std::string_view word) {
  const auto fail = [&] {
    fail_argument("time", fmt::format(": expected a time such as 30s, 2m or 1h, a number of seconds, or none, found {}",
                                      in_quotes(word)));
  };
  if (word == "none") return kNoTimeLimit;
  double number = 0;
  const char* end = word.data() + word.size();
  const auto [at, problem] = std::from_chars(word.data(), end, number);
  const std::string_view unit(at, static_cast<size_t>(end - at));
  double factor = 1;
  if (unit == "m" || unit == "min") {
    factor = 60;
  } else if (unit == "h") {
    factor = 3600;
  } else if (!unit.empty() && unit != "s") {
    fail();
  }
  const double seconds = number * factor;
  if (problem != std::errc() || !(seconds > 0) || !(seconds <= kMostSeconds)) fail();
  return seconds;
}

std::string seconds_word(double seconds) {
  if (std::isinf(seconds)) return "none";
  if (seconds < 10) return fmt::format("{:.2g}s", seconds);
  const double whole = std::ceil(seconds);
  if (std::fmod(whole, 3600) == 0) return fmt::format("{:.0f}h", whole / 3600);
  if (std::fmod(whole, 60) == 0) return fmt::format("{:.0f}m", whole / 60);
  return fmt::format("{:.0f}s", whole);
}

size_t BudgetPlan::kept() const { return static_cast<size_t>(std::ranges::count(methods, true)); }

double pool_rows_explained(const StudyCosts& costs, size_t rows, bool curves) {
  const auto drawn = static_cast<double>(costs.pool_drawn);
  const double others = static_cast<double>(costs.pool) - drawn;
  const double near = static_cast<double>(curves ? costs.pool_farther : costs.pool_near) - drawn;
  if (near <= 0 || others <= 0 || costs.rows == 0) return drawn;
  // Each row reaches a share of the pool, as if at random: the rest shrinks by the same factor with each row. Half a
  // row stays unreached, so that the logarithm exists.
  const double reached = std::min(near, others - 0.5) / others;
  const double left = std::log1p(-std::max(reached, 0.0)) / static_cast<double>(costs.rows);
  return drawn + others * -std::expm1(left * static_cast<double>(rows));
}

double seconds_of_method(const StudyCosts& costs, const BudgetPlan& plan, size_t method) {
  const MethodCost& cost = costs.methods[method];
  const auto rows = static_cast<double>(plan.rows);
  const bool again = plan.variations && cost.other_seed;
  const auto times = static_cast<double>(1 + costs.explained_again + (again ? 1 : 0));
  const double around = pool_rows_explained(costs, plan.rows, plan.curves);
  const double explained = times * cost.explaining.at(rows) + (around > 0 ? cost.explaining.at(around) : 0);
  double seconds = explained * (cost.uses_reference ? share_of_background(costs, plan) : 1);
  if (plan.variations) {
    // Methods that ignore the reference explain again, too.
    const double others = cost.uses_reference ? share_of_others(costs) : static_cast<double>(costs.other_references);
    const auto variations = static_cast<double>(costs.other_references + (again ? 1 : 0));
    seconds += others * cost.explaining.at(rows);
    return seconds * cost.of_samples[plan.fewer_samples] + variations * costs.varied.at(rows);
  }
  return seconds * cost.of_samples[plan.fewer_samples];
}

double seconds_of_aggregate(const StudyCosts& costs, const BudgetPlan& plan, size_t aggregate) {
  const AggregateCost& cost = costs.aggregates[aggregate];
  // As many rows as would take the same time if no two of them shared rows of the pool.
  const auto apart = [&](double rows) {
    if (cost.pool_of_row <= 0 || costs.pool == 0) return rows;
    const double most = static_cast<double>(costs.pool) / cost.pool_of_row;
    return -std::expm1(-rows / most) * most;
  };
  const double around = pool_rows_explained(costs, plan.rows, plan.curves);
  const double of_pool = cost.pool_free || around == 0 ? 0 : cost.combining.at(apart(around));
  const double share = cost.pool_of_row > 0 ? share_of_background(costs, plan) : 1;
  return (cost.combining.at(apart(static_cast<double>(plan.rows))) + of_pool) * share;
}

double seconds_of_scoring(const StudyCosts& costs, const BudgetPlan& plan) {
  const auto rows = static_cast<double>(plan.rows);
  return (costs.scoring.at(rows) + (plan.curves ? costs.curves.at(rows) : 0)) * share_of_background(costs, plan);
}

double seconds_of(const StudyCosts& costs, const BudgetPlan& plan) {
  const auto rows = static_cast<double>(plan.rows);
  const double shared = costs.shared.at(rows) + (plan.curves ? costs.shared_curves.at(rows) : 0);
  double seconds = costs.preparing + shared * share_of_background(costs, plan);
  if (plan.variations) seconds += costs.shared.at(rows) * share_of_others(costs);
  double entries = 0;
  for (size_t i = 0; i < costs.methods.size(); i++) {
    if (!plan.methods[i]) continue;
    seconds += seconds_of_method(costs, plan, i);
    entries++;
  }
  if (plan.aggregates) {
    for (size_t i = 0; i < costs.aggregates.size(); i++) {
      if (!plan.combined[i]) continue;
      seconds += seconds_of_aggregate(costs, plan, i);
      entries++;
    }
  }
  return seconds + entries * seconds_of_scoring(costs, plan);
}

double seconds_of_choosing(const StudyCosts& costs, const BudgetPlan& plan) {
  if (!costs.chooses_members || !plan.aggregates) return 0;
  const auto rows = static_cast<double>(rows_that_choose_members(plan.rows, costs.pool));
  const double share = share_of_background(costs, plan);
  double seconds = costs.shared.at(rows) * share;
  for (size_t i = 0; i < costs.methods.size(); i++) {
    const MethodCost& cost = costs.methods[i];
    if (!plan.methods[i]) continue;
    seconds += cost.explaining.at(rows) * cost.of_samples[plan.fewer_samples] * (cost.uses_reference ? share : 1);
  }
  return seconds;
}

BudgetPlan full_plan(const StudyCosts& costs, const BudgetPlan& asked) {
  BudgetPlan full = asked;
  full.methods.assign(costs.methods.size(), true);
  full.combined.assign(costs.aggregates.size(), true);
  full.rows = costs.rows;
  full.background = costs.background;
  full.seconds = seconds_of(costs, full);
  return full;
}

BudgetPlan plan_within(const StudyCosts& costs, const BudgetPlan& asked, const BudgetFixed& fixed, double seconds) {
  BudgetPlan full = full_plan(costs, asked);
  if (full.seconds + seconds_of_choosing(costs, full) <= seconds) return full;
  BudgetPlan least = full;
  if (!fixed.rows) least.rows = std::min(least.rows, kLeastRows);
  if (!fixed.background) least.background = std::min(least.background, kBackgrounds.back());
  if (!fixed.curves) least.curves = false;
  if (!fixed.variations) least.variations = false;
  if (!fixed.methods) least.fewer_samples = kSampleDivisors.size() - 1;
  for (size_t i = 0; i < full.combined.size(); i++) {
    full.combined[i] = fixed.aggregates || seconds_of_aggregate(costs, least, i) <= kShareOfOneMethod * seconds;
  }
  if (fixed.methods) {
    Ladder ladder(costs, full, fixed, seconds);
    ladder.climb_down(true);
    return ladder.plan();
  }
  const std::vector<size_t> all = cheapest_first(costs, least);
  std::vector<size_t> order = all;
  BudgetPlan few_rows = least;
  few_rows.background = full.background;
  std::erase_if(order, [&](size_t method) {
    const MethodCost& cost = costs.methods[method];
    const bool too_dear = seconds_of_method(costs, few_rows, method) > kShareOfOneMethod * seconds;
    return cost.estimated && !cost.named && too_dear;
  });
  if (order.empty()) order = all;  // nothing is there to estimate their values
  const auto named = static_cast<size_t>(std::ranges::count(costs.methods, true, &MethodCost::named));
  const size_t fewest = std::max<size_t>(1, named);
  size_t kept = order.size();
  while (kept > fewest && seconds_of_method(costs, least, order[kept - 1]) > kShareOfOneMethod * seconds) kept--;
  for (;; kept--) {
    BudgetPlan top = full;
    top.methods.assign(costs.methods.size(), false);
    for (size_t i = 0; i < kept; i++) top.methods[order[i]] = true;
    Ladder ladder(costs, top, fixed, seconds);
    const bool few = kept <= std::max(fewest, kFewestMethods);
    if (ladder.climb_down(few) || kept <= fewest) return ladder.plan();
  }
}

size_t background_for(double seconds_of_evaluation, size_t players, size_t rows, double seconds) {
  if (rows <= kBackgrounds.back()) return rows;
  const double of_row = kCoalitionsOfRow + kCoalitionsOfPlayer * static_cast<double>(players);
  const double coalitions = static_cast<double>(kFewestRows) * of_row;
  size_t chosen = rows;
  for (const size_t size : kBackgrounds) {
    if (static_cast<double>(chosen) * seconds_of_evaluation * coalitions <= seconds) break;
    chosen = std::min(chosen, size);
  }
  return chosen;
}

}  // namespace assay
