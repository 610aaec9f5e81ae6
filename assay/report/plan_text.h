// What a study will do, as a terminal shows it before the work begins.
//
// Text from users is on one line and cut when long.
#pragma once

#include <cstddef>
#include <string>

#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"

namespace assay {

// Rows, what is explained, methods, aggregates, criteria, what is left out, and what it will cost; a line each, then an
// empty one. Of the facts: title, data, pool, players, rows_available and pool_rows_available. finished: parts that an
// earlier run made.
std::string plan_text(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished = 0);

// Evaluations and seconds of each entry, as a table.
std::string plan_costs(const StudyPlan& plan);

}  // namespace assay
