#include "assay/report/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace assay {

std::vector<TargetRows> rows_by_target(std::span<const uint32_t> of_row) {
  std::map<uint32_t, std::vector<size_t>> found;
  for (size_t row = 0; row < of_row.size(); row++) found[of_row[row]].push_back(row);
  std::vector<TargetRows> out;
  for (auto& [target, rows] : found) out.push_back({target, std::move(rows)});
  return out;
}

std::vector<double> mean_absolute(const Matrix& values, std::span<const size_t> rows) {
  std::vector<double> mean(values.cols());
  size_t defined = 0;
  for (const size_t row : rows) {
    const std::span<const float> phi = values.row(row);
    if (!std::ranges::all_of(phi, [](float value) { return std::isfinite(value); })) continue;
    defined++;
    for (size_t p = 0; p < phi.size(); p++) mean[p] += std::fabs(static_cast<double>(phi[p]));
  }
  for (double& each : mean) {
    each = defined > 0 ? each / static_cast<double>(defined) : std::numeric_limits<double>::quiet_NaN();
  }
  return mean;
}

}  // namespace assay
