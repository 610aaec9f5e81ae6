// Conviction: how typical an explanation is among those of the training rows (Bhatt, Weller, Moura 2020, appendix,
// after Hazard et al. 2019),
//   mu_CON(x) = E_z[I(g(z))] / I(g(x)),   I = -ln P.
// P(x) is the share of reference rows whose leave-one-out kernel density is at most that of x (density/surprise.h,
// density/kernel_density.h): near 0 for a surprising explanation, large for a typical one, about 1 for one of ordinary
// surprise. The reference rows are those of the pool if there are explanations of a pool, else the explained rows. A
// row is not compared with itself: reference rows with the same inputs are left out of its density and of its share.
//
// Undefined with fewer than 2 reference rows, when those do not vary, or when all of them have the same inputs.
// Cost: none beside explaining the reference rows; (rows + references) x references x players.
// Deviation from the paper: its P is a density that it does not name; a density can exceed 1 and make I negative. Here
// P is a share. By default it is smoothed by half a row, which keeps I positive and finite, so that means over rows
// exist: convictions lie between about 1 / ln(2 n) and 2 n for n reference rows. share=plain can give infinities.
#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/density/surprise.h"

namespace assay {
namespace {

constexpr std::string_view kConviction = "conviction";

std::vector<size_t> counted(size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

void score_among_all(const EvaluateTask& task, const SurpriseOptions& options, Scores& scores, const Context& context) {
  const ReferenceExplanations reference(task);
  const std::vector<size_t> drawn =
      reference.draw(counted(reference.rows()), static_cast<size_t>(options.references), kConviction, 0, context);
  UndefinedCounts undefined;
  const size_t among = score_conviction(task.explanations, counted(task.rows()), reference, drawn, options, kConviction,
                                        scores.values, undefined, context);
  scores.undefined = undefined.take();
  scores.notes.push_back(fmt::format("held against the explanations of {} of the {} {} rows", drawn.size(),
                                     reference.rows(), reference.name()));
  note_own_references(reference, among, scores);
  add_median(scores);
}

}  // namespace

CriterionInfo conviction_criterion() {
  return with_criterion_options<ScoredBy<score_among_all>>(
      {.name = "conviction",
       .title = "How typical an explanation is among those of the pool",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "explanations of the reference rows",
       .direction = Direction::higher,
       .range = "0 or more",
       .of_paper = true});
}

}  // namespace assay
