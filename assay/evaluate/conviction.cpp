#include "assay/evaluate/conviction.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace assay {
namespace {

constexpr std::string_view kConviction = "conviction";

std::vector<size_t> counted(size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

}  // namespace

void Conviction::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const ReferenceExplanations reference(task);
  const std::vector<size_t> drawn =
      reference.draw(counted(reference.rows()), static_cast<size_t>(options_.references), kConviction, 0, context);
  UndefinedCounts undefined;
  const size_t among = score_conviction(task.explanations, counted(task.rows()), reference, drawn, options_,
                                        kConviction, scores.values, undefined, context);
  scores.undefined = undefined.take();
  scores.notes.push_back(fmt::format("held against the explanations of {} of the {} {} rows", drawn.size(),
                                     reference.rows(), reference.name()));
  note_own_references(reference, among, scores);
  add_median(scores);
}

CriterionInfo conviction_criterion() {
  return with_criterion_options<Conviction>({.name = "conviction",
                                             .title = "How typical an explanation is among those of the pool",
                                             .family = "predictability",
                                             .citation = "Bhatt, Weller, Moura (2020)",
                                             .cost = "explanations of the reference rows",
                                             .direction = Direction::higher,
                                             .range = "0 or more"});
}

}  // namespace assay
