// The plan of a study as text for a terminal, shown before the work begins.
//
// Text from users is made one line and cut when long.
#pragma once

#include <cstddef>
#include <string>

#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"

namespace assay {

// One line each for rows, what is explained, the reference, methods, aggregates, criteria, what is left out and the
// cost. Then an empty line. Reads these facts: title, data, pool, players, rows_available, pool_rows_available,
// reference_facts. finished: how many entries an earlier run made.
std::string plan_text(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished = 0);

// The same in three lines: what is studied, how much of it, and the cost; then notes, and an empty line.
std::string plan_summary(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished = 0);

// Evaluations and seconds of each entry, as a table.
std::string plan_costs(const StudyPlan& plan);

}  // namespace assay
