// What Tables 3 and 4 share: sensitivity at the paper's radii, and which radius findings are read at.
//
// The paper does not say which scale its radii are in. Where one leaves more than half of the rows without a neighbour,
// findings are read at the radius that gives the median row ten neighbours, which is reported beside it.
#pragma once

#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/study/reproduce/runs.h"

namespace assay {

// Of rows with neighbours; below, findings are not read at the paper's radius.
inline constexpr double kLeastCoverage = 0.5;
inline constexpr std::string_view kAutomaticRadius = "r = auto";

// "r = 0.2"
std::string radius_words(double radius);
// "avg sensitivity, r = 0.2": kind is max or avg; divided: of D / rho.
std::string sensitivity_column(std::string_view kind, std::string_view radius, bool divided);
// Which radius to read a set at, in words, by the coverage of one of its rows.
std::string judged_radius(const RunTable& table, std::string_view row, double paper_radius);

// Of explanations of unit norm, under l2 and l-infinity.
Scores sensitivity_scores(const EvaluateTask& task, std::string_view kind, double radius, bool divided,
                          const Context& context);
// The radius that gives the median row ten neighbours.
double automatic_radius(const EvaluateTask& task, const Context& context);

}  // namespace assay
