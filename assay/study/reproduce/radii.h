// What Tables 3 and 4 share: sensitivity at the paper's radii, and at one found from the data.
#pragma once

#include <string_view>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/study/reproduce/bench.h"

namespace assay {

// The paper's radius for Table 3 or 4.
double paper_radius(PaperTable table, std::string_view data);
// kind: "max" or "avg". rho is l-infinity in the columns as the network sees them. The paper divides by rho in the
// average alone.
Scores sensitivity_scores(const EvaluateTask& task, const Setup& setup, PaperTable table, std::string_view kind,
                          double radius, const Context& context);
// The radius that gives the median row ten neighbours.
double automatic_radius(const EvaluateTask& task, const Context& context);

}  // namespace assay
