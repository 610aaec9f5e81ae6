// What Tables 3 and 4 share: sensitivity at the paper's radii, and the radius at which findings are judged.
//
// The paper does not say which scale its radii are in. If its radius leaves more than half of the rows without a
// neighbour, findings are judged at the radius that gives the median row ten neighbours. Both are reported.
#pragma once

#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/study/reproduce/runs.h"

namespace assay {

// Share of rows with neighbours below which findings are not judged at the paper's radius.
inline constexpr double kLeastCoverage = 0.5;
inline constexpr std::string_view kAutomaticRadius = "r = auto";

// "r = 0.2"
std::string radius_words(double radius);
// "avg sensitivity, r = 0.2". kind: "max" or "avg". divided: of D / rho instead of D.
std::string sensitivity_column(std::string_view kind, std::string_view radius, bool divided);
// The radius to judge a set at, in words: the paper's, or automatic if the coverage of `row` is too small.
std::string judged_radius(const RunTable& table, std::string_view row, double paper_radius);

// Sensitivity of explanations scaled to unit norm: their l2 distance, rows within `radius` in l-infinity.
Scores sensitivity_scores(const EvaluateTask& task, std::string_view kind, double radius, bool divided,
                          const Context& context);
// The radius that gives the median row ten neighbours.
double automatic_radius(const EvaluateTask& task, const Context& context);

}  // namespace assay
