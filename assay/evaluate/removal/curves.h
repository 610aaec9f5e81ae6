// Curves of the class's probability (a regression's value) as players are removed from a row, or added to the
// reference, in order of their attributions.
//
// The curve has a point for every player up to 100, then 100 even steps; its axis is the share of players, 0 to 1, and
// its area is by trapezoids. Several reference rows: the mean of their curves. The class is the one that was explained:
// an order by value is of use for no other.
// Cost: steps - 1 evaluations for each row and reference row, and one for each row and each reference row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/removal.h"

namespace assay {

inline constexpr std::string_view kNotPredicted = "the explained class is not the predicted one";

// Steps of a curve that are taken where the user leaves them open, at most.
inline constexpr size_t kMostSteps = 100;

struct CurveOptions {
  std::optional<int64_t> steps = {};
  std::string order = "value";

  void describe(OptionVisitor& visit) {
    visit.integer_or("steps", steps, "auto", "steps of the curve; auto: a player at a time, 100 at most", "steps", 1,
                     1'000'000'000);
    visit.choice("order", order, "players by decreasing attribution, or by its size whatever its sign",
                 {"value", "strength"});
  }
};

// How many of `players` are gone after each of the steps, evenly: first 0, last all. No more steps than players.
std::vector<size_t> step_counts(std::optional<int64_t> steps, size_t players);
// Says so where a step is more than a player, or fewer steps than asked for are possible.
void note_steps(std::optional<int64_t> steps, size_t players, Scores& scores);

// By trapezoids; x ascends.
double area_under(std::span<const double> x, std::span<const double> y);

struct CurveQuestion {
  std::string_view name;     // of the criterion
  bool add = false;          // players to the reference; else they are removed from the row
  bool predicted = false;    // rows explained for another class than the predicted one are undefined
  std::string_view columns;  // what the curve's y is, for its table
  // From the curve at the row to what is drawn (irof divides); as it is where empty. An undefined curve has a reason.
  std::function<std::string_view(const Removal& removal, size_t row, std::span<double> curve)> adjust = {};
  // From the area to the score.
  std::function<double(double area)> value;
};

void score_curves(const EvaluateTask& task, const CurveQuestion& question, const CurveOptions& options, Scores& scores,
                  const Context& context);

}  // namespace assay
