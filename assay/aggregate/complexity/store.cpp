#include "assay/aggregate/complexity/store.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "assay/aggregate/complexity/sums.h"
#include "assay/evaluate/kernels/entropy.h"

namespace assay {

double norm_floor(const MemberRow& row, double share) {
  double sum = 0;
  for (const size_t j : row.nonzero) sum += l2_norm(row.values.row(j));
  return row.nonzero.empty() ? 0 : share * sum / static_cast<double>(row.nonzero.size());
}

StoredSimplest store_simplest(const MemberRow& row, std::span<const double> point, std::span<float> out) {
  // All at once: the kernel has a row in each lane, and a row's bits do not depend on the others.
  const size_t members = row.nonzero.size();
  Matrix stored(members + 1, point.size());
  for (size_t i = 0; i < members; i++) store_row(row.values.row(row.nonzero[i]), stored.row(i));
  store_row(point, stored.row(members));
  std::vector<double> found(members + 1);
  row_entropies(stored.data(), stored.rows(), stored.cols(), found.data());
  const size_t simplest = static_cast<size_t>(std::min_element(found.begin(), found.end() - 1) - found.begin());
  // Not so for NaN either.
  const bool by_point = found[members] <= found[simplest];
  const size_t chosen = by_point ? members : simplest;
  std::ranges::copy(stored.row(chosen), out.begin());
  StoredSimplest made{found[chosen]};
  if (!by_point) made.member = row.nonzero[simplest];
  return made;
}

void each_simplest_row(const Members& members, Combined& out, const Context& context, std::string_view task,
                       const std::function<StoredSimplest(const MemberRow&)>& body) {
  std::vector<double> found(members.rows(), NAN);
  each_row(members, out, context, task, [&](const MemberRow& row) -> std::string_view {
    if (row.nonzero.empty()) {
      std::ranges::fill(out.values.row(row.row), 0.0F);
    } else {
      found[row.row] = body(row).complexity;
    }
    return {};
  });
  out.measures.push_back({"complexity", std::move(found)});
}

}  // namespace assay
