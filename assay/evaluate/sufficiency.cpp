// Sufficiency: how far the players with positive attributions alone make the class (Wang, Mardziel, Datta, Fredrikson
// 2020). With s the score of the explained class and s_m that of the reference with m of the row's M positive players,
// the strongest first:
//   ordering (S-Ord):        1/(M+1) sum over m = 0 .. M of min(s_m, s(x))
//   proportionality (TPS):   integral over q from 0 to 1 of |s_strongest first(q) - s_weakest first(q)|,
// q the share of all positive attribution that is added. Higher is better for ordering: the score should rise to that
// of the row at once. Lower is better for proportionality: equal shares of attribution should have the same effect,
// whichever players they come from.
//
// s is the probability or the log-odds (option `score`); for a regression the value. Players of negative or zero
// attribution stay at the reference. Several reference rows: each s is the mean over them, as in the game that is
// explained (removal/proportion.h). Undefined where no attribution is positive. More than 100 positive players: 100
// even steps through them.
// Deviation from the paper: between whole players the score is taken as linear in q.
// Cost: M + 1 evaluations for each row and reference row, twice that for proportionality.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/proportion.h"

namespace assay {
namespace {

void score_sufficiency(const EvaluateTask& task, const ProportionOptions& options, Scores& scores,
                       const Context& context) {
  if (options.form == "proportionality") scores.direction = Direction::lower;
  score_proportion(task, {.name = "sufficiency", .add = true}, options, scores, context);
}

}  // namespace

CriterionInfo sufficiency_criterion() {
  return with_criterion_options<ScoredBy<score_sufficiency>>(
      {.name = "sufficiency",
       .title = "What the class's score becomes as the players that speak for it join the reference",
       .family = "importance",
       .citation = "Wang, Mardziel, Datta, Fredrikson (2020)",
       .cost = "players + 1 evaluations for each reference row",
       .direction = Direction::higher,
       .range = "0 to 1; of log-odds and regressions, any number",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay
