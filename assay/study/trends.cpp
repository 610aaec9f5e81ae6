#include "assay/study/trends.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/core/roc_area.h"
#include "assay/core/statistics.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

bool is_clear(const RunningCorrelation& found) {
  if (found.count() <= 3) return false;
  return std::fabs(std::atanh(found.correlation())) * std::sqrt(static_cast<double>(found.count() - 3)) > kNormal95;
}

bool in_category(const Dataset& data, size_t column) {
  return std::ranges::any_of(data.groups, [&](const FeatureGroup& group) {
    return group.kind == ColumnKind::categorical && column >= group.first && column < group.first + group.count;
  });
}

}  // namespace

bool has_slopes(const Explanations& explanations) {
  const auto gives_slopes = [](const std::string& entry) {
    const auto method = std::ranges::find(methods(), entry.substr(0, entry.find(':')), &MethodInfo::name);
    return method != methods().end() && !method->uses_reference;
  };
  return gives_slopes(explanations.provenance.method) ||
         std::ranges::any_of(explanations.combination.members, gives_slopes);
}

std::vector<double> value_trends(const Subject& subject, const Explanations& explanations) {
  std::vector<double> trends(explanations.players(), NAN);
  if (has_slopes(explanations)) return trends;
  const std::vector<uint32_t>& targets = explanations.target;
  if (std::ranges::any_of(targets, [&](uint32_t target) { return target != targets[0]; })) return trends;
  const Dataset& data = *subject.rows;
  const std::vector<std::vector<uint32_t>> columns = subject.players->columns_of_players();
  for (size_t p = 0; p < trends.size(); ++p) {
    if (columns[p].size() != 1 || in_category(data, columns[p][0])) continue;
    RunningCorrelation correlation;
    for (size_t r = 0; r < explanations.rows(); ++r) {
      const double value = data.x.row(r)[columns[p][0]];
      const double attribution = explanations.values.row(r)[p];
      if (std::isfinite(value) && std::isfinite(attribution)) correlation.add(value, attribution);
    }
    if (is_clear(correlation)) trends[p] = correlation.correlation();
  }
  return trends;
}

}  // namespace assay
