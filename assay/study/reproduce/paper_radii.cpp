#include "assay/study/reproduce/paper_radii.h"

#include <fmt/format.h>

#include "assay/evaluate/neighbourhoods/neighbourhoods.h"
#include "assay/study/reproduce/protocol.h"

namespace assay {

std::string radius_words(double radius) { return fmt::format("r = {}", radius); }

std::string sensitivity_column(std::string_view kind, std::string_view radius, bool divided) {
  return fmt::format("{} sensitivity{}, {}", kind, divided ? " of D / rho" : "", radius);
}

std::string judged_radius(const RunTable& table, std::string_view row, double paper_radius) {
  const std::string said = radius_words(paper_radius);
  const double coverage = table.coverage(row, sensitivity_column("avg", said, false));
  return coverage >= kLeastCoverage ? said : std::string(kAutomaticRadius);
}

Scores sensitivity_scores(const EvaluateTask& task, std::string_view kind, double radius, bool divided,
                          const Context& context) {
  // Enough digits to read back the same number.
  return bench_scores(fmt::format("{}_sensitivity:normalise=unit:radius={}:weighting={}", kind, radius,
                                  divided ? "inverse_distance" : "uniform"),
                      task, context);
}

double automatic_radius(const EvaluateTask& task, const Context& context) {
  return Neighbourhoods(task, {}, context).radius();
}

}  // namespace assay
