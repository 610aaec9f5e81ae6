#include "assay/report/run_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/study/io/json_parts.h"

namespace assay {

std::string run_json(const Study& study, const StudyTimes& times) {
  Json entries = Json::array();
  for (const StudyEntry& entry : study.entries) {
    const auto found = std::ranges::find(times.entries, entry.name, &EntryTimes::entry);
    const bool timed = found != times.entries.end();
    entries.push_back({{"name", entry.name},
                       {"explaining", number(timed ? found->explaining : NAN)},
                       {"scoring", number(timed ? found->scoring : NAN)}});
  }
  return dumped_lines({{"schema", "assay.run/1"},
                       {"threads", times.threads},
                       {"machine", times.machine},
                       {"seconds", number(times.total)},
                       {"entries", entries}});
}

}  // namespace assay
