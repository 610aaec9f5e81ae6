#include "assay/aggregate/centroids/combine_centroids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "assay/aggregate/common.h"

namespace assay {
namespace {

constexpr double kCertified = 1e-9;

Centroid centroid_of(const CentroidLoss& loss, MatrixView<const double> members, const Context& context) {
  if (loss.distance == "l2") {
    return loss.p == 2 ? mean_centroid(members) : euclidean_centroid(members, loss.p, context);
  }
  return loss.p == 1 ? median_centroid(members) : manhattan_centroid(members, loss.p, context);
}

}  // namespace

void combine_centroids(const CentroidLoss& loss, const Members& members, Combined& out, const Context& context) {
  const size_t rows = members.rows();
  std::vector<double> losses(rows, NAN);
  std::vector<double> bounds(rows, NAN);
  if (loss.distance == "l2") {
    out.weights = Matrix(rows, members.size());
    std::ranges::fill(out.weights.values(), std::numeric_limits<float>::quiet_NaN());
  }
  each_row(members, out, context, "finding centroids", [&](const MemberRow& row) -> std::string_view {
    const Centroid found = centroid_of(loss, row.values, context);
    store_row(found.values, out.values.row(row.row));
    if (!found.weights.empty()) store_row(found.weights, out.weights.row(row.row));
    losses[row.row] = found.loss;
    bounds[row.row] = found.bound;
    return {};
  });
  size_t open = 0;
  double widest = 0;
  for (size_t r = 0; r < rows; r++) {
    const double gap = losses[r] > 0 ? (losses[r] - bounds[r]) / losses[r] : 0;
    if (gap > kCertified) open++;
    widest = std::max(widest, gap);
  }
  if (open > 0) {
    out.notes.push_back(fmt::format("{} of {} rows: the loss may be above the smallest by a share of up to {:.1e}",
                                    open, rows, widest));
  }
  out.measures.push_back({"loss", std::move(losses)});
  out.measures.push_back({"bound", std::move(bounds)});
}

}  // namespace assay
