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

// How a front end spells what the plan says about time.
struct PlanWords {
  std::string time = {};    // the argument: "--time", "time"
  std::string fuller = {};  // what to type for all that was left out for time
  std::string notes = {};   // where to find notes that are only counted
  std::string pinned = {};  // what to type for the same study whatever the clock says; empty: nothing can be typed
  bool title = true;        // whether a summary begins with what is studied
};

// A time that is enough for so many seconds of work as they are estimated, to type after PlanWords::time: "10m".
std::string fuller_time(double seconds);

// One line each for rows, what is explained, the reference, methods, aggregates, criteria, what is left out and the
// cost. Then an empty line. Reads these facts: title, data, pool, players, rows_available, pool_rows_available,
// reference_facts. finished: how many entries an earlier run made.
// If something was left out for time, what it is and what to type for it.
std::string plan_text(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished = 0,
                      const PlanWords& words = {});

// The same in about four lines: what is studied, against what, how much of it, and the cost; what was left out for
// time, how many notes there are, and an empty line.
std::string plan_summary(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished = 0,
                         const PlanWords& words = {});

// Evaluations and seconds of each entry, as a table.
std::string plan_costs(const StudyPlan& plan);

}  // namespace assay
