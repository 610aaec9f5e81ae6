#include "assay/report/criterion_scales.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <string_view>

#include "assay/core/options.h"
#include "assay/evaluate/criteria.h"

namespace assay {
namespace {

// Options of sensitivity that leave the distance between explanations as it is by default: l2 at unit norm.
constexpr std::array<std::string_view, 3> kOptionsOfNeighbours = {"radius", "rho", "space"};

bool at_unit_norm(const std::string& text) {
  const Spec spec = parse_spec("criterion", text);
  return std::ranges::all_of(spec.options, [](const auto& option) {
    return std::ranges::find(kOptionsOfNeighbours, option.first) != kOptionsOfNeighbours.end();
  });
}

}  // namespace

double random_complexity(size_t players) {
  double harmonic = 0;
  for (size_t i = 1; i <= players; i++) harmonic += 1 / static_cast<double>(i);
  return players == 0 ? NAN : harmonic - 1;
}

double random_distance(size_t players) {
  if (players < 2) return NAN;
  const auto d = static_cast<double>(players);
  int sign = 0;  // std::lgamma writes it to a global
  const double logarithm = (d - 1) * std::numbers::ln2 + 2 * ::lgamma_r(d / 2, &sign) - ::lgamma_r(d - 0.5, &sign);
  return std::exp(logarithm) / std::sqrt(std::numbers::pi);
}

CriterionScale criterion_scale(const Study& study, size_t criterion, size_t players) {
  CriterionScale scale;
  switch (role_of(study.criterion_names[criterion])) {
    case CriterionRole::faithfulness:
      scale.words = "faithfulness";
      scale.meaning =
          "Do the features that the explanation calls important really move the model? Sets of features are taken "
          "away, "
          "and the change of the model's output is compared with what the explanation says.";
      scale.random = 0;
      scale.perfect = 1;
      scale.end = -1;
      break;
    case CriterionRole::stability:
      scale.words = "average sensitivity";
      scale.meaning =
          "Do rows that are alike get explanations that are alike? The mean change of the explanation between a row "
          "and "
          "its neighbours of the same predicted class.";
      if (at_unit_norm(study.criteria[criterion])) scale.random = random_distance(players);
      scale.perfect = 0;
      break;
    case CriterionRole::largest_change:
      scale.words = "largest sensitivity";
      scale.meaning =
          "How much does the explanation change at worst? The largest change between a row and its neighbours.";
      scale.perfect = 0;
      break;
    case CriterionRole::simplicity:
      scale.words = "complexity";
      scale.meaning =
          "Over how many features does the explanation spread? It is low if a few features say it all, and highest if "
          "all "
          "weigh the same.";
      scale.random = random_complexity(players);
      scale.perfect = 0;
      scale.end = players == 0 ? NAN : std::log(static_cast<double>(players));
      scale.alike = true;
      break;
    case CriterionRole::none: break;
  }
  return scale;
}

}  // namespace assay
