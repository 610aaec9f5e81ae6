#include "assay/study/study_radii.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array<size_t, 5> kNeighboursOfCurve = {3, 5, 10, 20, 40};

}  // namespace

StudyNeighbourhoods study_neighbourhoods(const Subject& subject, const Spec& sensitivity, bool curve,
                                         const Context& context) {
  const Explanations none;
  const EvaluateTask task{.explanations = none, .subject = subject};
  const auto options = options_from<NeighbourhoodOptions>(sensitivity);
  StudyNeighbourhoods made{sensitivity, options, Neighbourhoods(task, options, context), {}};
  if (!curve) return made;
  made.radii.push_back(made.around.radius());
  for (const size_t neighbours : kNeighboursOfCurve) made.radii.push_back(made.around.reach(task, neighbours, context));
  const double own = made.around.radius();
  // Wide rows are slow to explain, and a larger radius needs more of them.
  const bool wide = subject.players->size() > kWidePlayers;
  std::erase_if(made.radii, [&](double radius) { return !(radius > 0) || (wide && radius > own); });
  std::ranges::sort(made.radii);
  const auto repeated = std::ranges::unique(made.radii);
  made.radii.erase(repeated.begin(), repeated.end());
  return made;
}

}  // namespace assay
