// Curves of the class's probability (a regression's value) as players are removed from a row, or added to the
// reference, in order of their attributions.
//
// With up to 100 players each step is one player; with more there are 100 even steps. The x axis is the share of
// players, 0 to 1; the area is by trapezoids. With several reference rows, the mean of their curves. The class is the
// explained one, because an order by value only makes sense for that.
// Cost: steps - 1 evaluations for each pair of row and reference row, plus one for each row and for each reference row.
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

// The most steps of a curve if the user gives no number.
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

// How many of `players` are removed (or added) at each point of the curve, evenly from 0 to all. At most one step each.
std::vector<size_t> step_counts(std::optional<int64_t> steps, size_t players);
// Adds a note if a step is more than one player, or if there are fewer steps than asked for.
void note_steps(std::optional<int64_t> steps, size_t players, Scores& scores);

// The area by trapezoids; x must ascend.
double area_under(std::span<const double> x, std::span<const double> y);

struct CurveQuestion {
  std::string_view name;          // of the criterion
  bool add = false;               // players are added to the reference; else removed from the row
  bool predicted = false;         // rows explained for another class than the predicted one are undefined
  std::string_view columns = {};  // what the curve's y is, for its table; if empty, probability or value
  // Changes the curve of a row in place (irof divides it); may be empty. Returns why the row is undefined, if it is.
  std::function<std::string_view(const Removal& removal, size_t row, std::span<double> curve)> adjust = {};
  // The score for this area; if empty, the area.
  std::function<double(double area)> value = {};
};

void score_curves(const EvaluateTask& task, const CurveQuestion& question, const CurveOptions& options, Scores& scores,
                  const Context& context);

}  // namespace assay
