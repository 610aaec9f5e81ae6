#include "assay/report/importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "assay/study/advice.h"

namespace assay {

std::vector<TargetRows> rows_by_target(std::span<const uint32_t> of_row) {
  std::map<uint32_t, std::vector<size_t>> found;
  for (size_t row = 0; row < of_row.size(); row++) found[of_row[row]].push_back(row);
  std::vector<TargetRows> out;
  for (auto& [target, rows] : found) out.push_back({target, std::move(rows)});
  return out;
}

MeanSizes mean_absolute(const Matrix& values, std::span<const size_t> rows) {
  std::vector<RunningMoments> sizes(values.cols());
  for (const size_t row : rows) {
    const std::span<const float> phi = values.row(row);
    if (!std::ranges::all_of(phi, [](float value) { return std::isfinite(value); })) continue;
    for (size_t p = 0; p < phi.size(); p++) sizes[p].add(std::fabs(static_cast<double>(phi[p])));
  }
  MeanSizes made;
  for (const RunningMoments& each : sizes) {
    const Interval interval = size_interval(each);
    made.mean.push_back(each.mean());
    made.low.push_back(interval.low);
    made.high.push_back(interval.high);
  }
  return made;
}

}  // namespace assay
