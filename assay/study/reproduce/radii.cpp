#include "assay/study/reproduce/radii.h"

#include <fmt/format.h>

#include <array>

#include "assay/evaluate/neighbourhoods/neighbourhoods.h"

namespace assay {

double paper_radius(PaperTable table, std::string_view data) {
  constexpr std::array<double, 3> kTable3 = {2, 0.2, 4};  // by PaperSet
  constexpr std::array<double, 3> kTable4 = {1, 0.3, 10};
  return (table == PaperTable::ava ? kTable4 : kTable3)[static_cast<size_t>(paper_set(data))];
}

Scores sensitivity_scores(const EvaluateTask& task, const Setup& setup, PaperTable table, std::string_view kind,
                          double radius, const Context& context) {
  // Enough digits to read back the same number.
  const Spec spec = parse_spec(
      "reproduce",
      fmt::format("{}_sensitivity:distance=l2:normalise={}:rho=linf:space=raw:radius={}:weighting={}", kind,
                  setup.unit_norm(table) ? "unit" : "raw", radius, kind == "avg" ? setup.weighting : "uniform"));
  return evaluate(spec, task, {.draws = 0}, context);
}

double automatic_radius(const EvaluateTask& task, const Context& context) {
  NeighbourhoodOptions options;
  options.space = "raw";
  return Neighbourhoods(task, options, context).radius();
}

}  // namespace assay
