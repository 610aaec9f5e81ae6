// Necessity and sufficiency of the players with positive attributions (Wang, Mardziel, Datta, Fredrikson 2020).
//
// The M players with phi_i > 0 are removed from the row (necessity), or added to the reference (sufficiency), the
// strongest first; all other players stay as in the row, or at the reference. s_m is the score of the explained class
// after m of them. Ordering takes the mean of a bounded s_m over m = 0 .. M. Proportionality compares two ways to the
// same share q of all positive attribution, the strongest first and the weakest first,
//   integral over q from 0 to 1 of | s_first(q) - s_last(q) |,
// with s linear between the shares that whole players make up: equal shares of attribution should do equal work.
// Several reference rows: every s, that of the reference too, is the mean over them before it is bounded or compared,
// as v is in the game that the attributions explain. The paper has one baseline. Bounding and comparing row by row
// would find fault with right attributions: contributions to the mean of a linear s are in proportion to what players
// do on average, not beside each reference row. A note counts rows explained for another class than the predicted one.
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
  bool add = false;       // to the reference: sufficiency
};

void score_proportion(const EvaluateTask& task, const ProportionQuestion& question, const ProportionOptions& options,
                      Scores& scores, const Context& context);

}  // namespace assay
