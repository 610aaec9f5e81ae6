#include "assay/study/trends.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "assay/core/roc_area.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

bool is_clear(const RunningCorrelation& found) {
  if (found.count() <= 3) return false;
  return std::fabs(std::atanh(found.correlation())) * std::sqrt(static_cast<double>(found.count() - 3)) > kNormal95;
}

RunningCorrelation correlation_of(std::span<const double> a, std::span<const double> b) {
  RunningCorrelation made;
  for (size_t i = 0; i < a.size(); i++) made.add(a[i], b[i]);
  return made;
}

double trend_of(std::span<const double> values, std::span<const double> attributions) {
  const RunningCorrelation plain = correlation_of(values, attributions);
  const RunningCorrelation ranks = correlation_of(ranks_of(values), ranks_of(attributions));
  if (!is_clear(plain) || !is_clear(ranks)) return NAN;
  const double a = plain.correlation();
  const double b = ranks.correlation();
  if (std::signbit(a) != std::signbit(b)) return NAN;
  return std::fabs(a) < std::fabs(b) ? a : b;
}

bool in_category(const Dataset& data, size_t column) {
  return std::ranges::any_of(data.groups, [&](const FeatureGroup& group) {
    return group.shown_levels() != nullptr && column >= group.first && column < group.first + group.count;
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
    std::vector<double> values;
    std::vector<double> attributions;
    for (size_t r = 0; r < explanations.rows(); ++r) {
      const double value = data.x.row(r)[columns[p][0]];
      const double attribution = explanations.values.row(r)[p];
      if (!std::isfinite(value) || !std::isfinite(attribution)) continue;
      values.push_back(value);
      attributions.push_back(attribution);
    }
    trends[p] = trend_of(values, attributions);
  }
  return trends;
}

}  // namespace assay
