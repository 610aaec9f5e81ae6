// What the complexity aggregators share at the two ends of a row: the floor, and the guarantee.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "assay/aggregate/common.h"

namespace assay {

// The least l1 norm of points that are not members: this share of the mean l2 norm of the members that are not zero,
// which is 1 where they have unit norm. As |phi|_1 >= |phi|_2 it admits all that the same floor under the l2 norm
// would.
double norm_floor(const MemberRow& row, double share);

struct StoredSimplest {
  double complexity = 0;              // of what is stored, as the criterion has it
  std::optional<size_t> member = {};  // where a member itself is stored instead of the point
};

// Stores the point in float32, or the simplest member that is not zero (the first of equals) where the rounded point is
// more complex than that or all zero: complexity(out) <= complexity(member) for each of them, exactly. At least one
// member must not be zero.
StoredSimplest store_simplest(const MemberRow& row, std::span<const double> point, std::span<float> out);

// each_row for complexity aggregators: rows whose members are all zero become zero, the body stores the others; adds
// the measure "complexity", NaN where there is none.
void each_simplest_row(const Members& members, Combined& out, const Context& context, std::string_view task,
                       const std::function<StoredSimplest(const MemberRow&)>& body);

}  // namespace assay
