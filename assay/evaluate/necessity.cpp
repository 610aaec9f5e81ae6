// Necessity: how much the players with positive attributions are needed for the class (Wang, Mardziel, Datta,
// Fredrikson 2020). With s the score of the explained class and s_m that of the row with m of its M positive players at
// the reference, the strongest first:
//   ordering (N-Ord):        1/(M+1) sum over m = 0 .. M of max(s_m - s(reference), 0)
//   proportionality (TPN):   integral over q from 0 to 1 of |s_strongest first(q) - s_weakest first(q)|,
// q the share of all positive attribution that is removed. Lower is better for both: the score should fall to that of
// the reference at once, and equal shares of attribution should cost the same whichever players they come from.
//
// s is the probability or the log-odds (option `score`); for a regression the value. Players of negative or zero
// attribution stay as in the row. Several reference rows: each s is the mean over them, as in the game that is
// explained (removal/proportion.h). Undefined where no attribution is positive. More than 100 positive players: 100
// even steps through them.
// Deviation from the paper: between whole players the score is taken as linear in q.
// Cost: M + 1 evaluations for each row and reference row, twice that for proportionality.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/proportion.h"

namespace assay {
namespace {

void score_necessity(const EvaluateTask& task, const ProportionOptions& options, Scores& scores,
                     const Context& context) {
  score_proportion(task, {.name = "necessity", .add = false}, options, scores, context);
}

}  // namespace

CriterionInfo necessity_criterion() {
  return with_criterion_options<ScoredBy<score_necessity>>(
      {.name = "necessity",
       .title = "What is left of the class's score as the players that speak for it are removed",
       .family = "importance",
       .citation = "Wang, Mardziel, Datta, Fredrikson (2020)",
       .cost = "players + 1 evaluations for each reference row",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay
