#include "assay/study/early_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/methods.h"
#include "assay/study/budget.h"

namespace assay {

double study_seconds(std::string_view word) {
  const double seconds = seconds_from(word);
  if (seconds < kLeastStudySeconds) {
    fail_argument("time", fmt::format(": expected at least {} s, for no study takes less, found {}", kLeastStudySeconds,
                                      in_quotes(word)));
  }
  return seconds;
}

void check_members(const StudyOptions& options) {
  std::vector<std::string> names;
  for (const Spec& spec : options.methods) names.push_back(spec_text(spec));
  const bool said = !names.empty();
  if (!said) {
    for (const MethodInfo& method : methods()) names.push_back(method.name);
  }
  for (const std::string& member : options.members) {
    const std::string name = member.substr(0, member.find(':'));
    const auto meant = [&](const std::string& known) {
      return known == member || known.substr(0, known.find(':')) == (said ? member : name);
    };
    if (std::ranges::any_of(names, meant)) continue;
    fail_argument("members", fmt::format(": expected methods{}: {}, found {}{}", said ? " of the study" : "",
                                         joined(names, "or"), in_quotes(member), suggestion(member, names)));
  }
}

}  // namespace assay
