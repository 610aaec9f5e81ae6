#include "assay/archive/io/run_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/archive/io/json_parts.h"

namespace assay {
namespace {

constexpr const char* kRunSchema = "assay.run/1";
constexpr size_t kRunDepth = 8;

}  // namespace

std::string run_json(const Study& study, const StudyTimes& times) {
  Json entries = Json::array();
  for (const StudyEntry& entry : study.entries) {
    const auto found = std::ranges::find(times.entries, entry.name, &EntryTimes::entry);
    const bool timed = found != times.entries.end();
    entries.push_back({{"name", entry.name},
                       {"explaining", number(timed ? found->explaining : NAN)},
                       {"scoring", number(timed ? found->scoring : NAN)}});
  }
  return dumped_lines({{"schema", kRunSchema},
                       {"threads", times.threads},
                       {"machine", times.machine},
                       {"seconds", number(times.total)},
                       {"entries", entries}});
}

StudyTimes times_from_json(std::string_view where, std::string_view text) {
  const JsonRead json = parsed_json(where, text, kRunDepth);
  const JsonFields fields(std::string(where), json);
  fields.require_schema(kRunSchema);
  StudyTimes times;
  times.threads = static_cast<unsigned>(std::min<uint64_t>(fields.count("threads"), UINT32_MAX));
  times.machine = fields.text("machine");
  times.total = fields.number("seconds");
  for (const JsonFields& each : fields.objects("entries")) {
    times.entries.push_back({each.text("name"), each.number("explaining"), each.number("scoring")});
  }
  return times;
}

}  // namespace assay
