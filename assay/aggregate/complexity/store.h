// What the complexity aggregators share: the floor of the l1 norm, and storing a result so that the guarantee holds.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "assay/aggregate/common.h"

namespace assay {

// The least l1 norm of points that are not members: `share` times the mean l2 norm of the nonzero members (1 for
// members of unit norm). As |phi|_1 >= |phi|_2, it admits all points that the same floor under the l2 norm would.
double norm_floor(const MemberRow& row, double share);

struct StoredSimplest {
  double complexity = 0;              // of what is stored, by the criterion
  std::optional<size_t> member = {};  // the member that is stored instead of the point, if one is
};

// Stores the point in float32. If the rounded point is all zero, or more complex than the simplest nonzero member (the
// first of equals), that member is stored instead. So complexity(out) <= complexity(member) for every nonzero member,
// exactly. At least one member must not be zero.
StoredSimplest store_simplest(const MemberRow& row, std::span<const double> point, std::span<float> out);

// each_row for complexity aggregators. Rows whose members are all zero become zero; the body stores all other rows.
// Adds the measure "complexity", NaN where a row has none.
void each_simplest_row(const Members& members, Combined& out, const Context& context, std::string_view task,
                       const std::function<StoredSimplest(const MemberRow&)>& body);

}  // namespace assay
