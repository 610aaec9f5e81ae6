// Necessity and sufficiency of the players with positive attributions (Wang, Mardziel, Datta, Fredrikson 2020).
//
// Necessity removes the M players with phi_i > 0 from the row, sufficiency adds them to the reference, the strongest
// first. All other players stay as in the row, or at the reference. s_m is the score of the explained class after m
// players. Ordering takes the mean of a bounded s_m over m = 0 .. M. Proportionality moves the same share q of all
// positive attribution in two ways, the strongest or the weakest players first, and compares the scores:
//   integral over q from 0 to 1 of | s_first(q) - s_last(q) |,
// with s linear in q between whole players. Equal shares of attribution should have equal effects.
// With several reference rows (the paper has one baseline), every s, also that of the reference, is first averaged over
// them and then bounded or compared. The game that attributions explain averages in the same way. Comparing for each
// reference row would penalise correct attributions, which describe the average effect of a player. A note counts rows
// explained for another class than the predicted one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/evaluate/criterion.h"

namespace assay {

inline constexpr std::string_view kNonePositive = "no attribution is positive";

struct ProportionOptions {
  std::string form = "ordering";
  std::string score = "probability";
  std::optional<int64_t> steps = {};

  void describe(OptionVisitor& visit) {
    visit.choice("form", form, "how soon the score moves, or whether it moves in proportion to the attributions",
                 {"ordering", "proportionality"});
    visit.choice("score", score, "of the explained class; the value for a regression", {"probability", "log_odds"});
    visit.integer_or("steps", steps, "auto", "steps through the positive players; auto: one at a time, 100 at most",
                     "steps", 1, 1'000'000'000);
  }
};

// A line through points; x ascends from 0 to 1.
struct Line {
  std::span<const double> x;
  std::span<const double> y;
};
// The area between two such lines, exactly.
double area_between(const Line& a, const Line& b);

struct ProportionQuestion {
  std::string_view name;  // of the criterion
  bool add = false;       // true: sufficiency; false: necessity
};

void score_proportion(const EvaluateTask& task, const ProportionQuestion& question, const ProportionOptions& options,
                      Scores& scores, const Context& context);

}  // namespace assay
