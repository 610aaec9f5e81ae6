#include "assay/aggregate/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/aggregate/ava.h"
#include "assay/aggregate/borda.h"
#include "assay/aggregate/centroid.h"
#include "assay/aggregate/closest_simple.h"
#include "assay/aggregate/convex.h"
#include "assay/aggregate/convex_min.h"
#include "assay/aggregate/copeland.h"
#include "assay/aggregate/geometric_median.h"
#include "assay/aggregate/gradient_descent_style.h"
#include "assay/aggregate/kemeny_young.h"
#include "assay/aggregate/mean.h"
#include "assay/aggregate/median.h"
#include "assay/aggregate/minimum_complexity.h"
#include "assay/aggregate/pareto.h"
#include "assay/aggregate/region_shrinking.h"
#include "assay/aggregate/shrink_then_descend.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"

namespace assay {

std::span<const AggregatorInfo> aggregators() {
  static const std::vector<AggregatorInfo> table = {
      mean_aggregator(),
      median_aggregator(),
      geometric_median_aggregator(),
      centroid_aggregator(),
      convex_aggregator(),
      convex_min_aggregator(),
      kemeny_young_aggregator(),
      borda_aggregator(),
      copeland_aggregator(),
      gradient_descent_style_aggregator(),
      region_shrinking_aggregator(),
      shrink_then_descend_aggregator(),
      minimum_complexity_aggregator(),
      closest_simple_aggregator(),
      ava_aggregator(),
      pareto_aggregator(),
  };
  return table;
}

const AggregatorInfo& find_aggregator(std::string_view name) { return find_by_name("aggregator", aggregators(), name); }

bool is_aggregate(const Explanations& explanations) {
  // One that explains its antecedents itself has no members.
  const auto named = [&](const AggregatorInfo& info) { return info.name == explanations.provenance.method; };
  return !explanations.combination.members.empty() || std::ranges::any_of(aggregators(), named);
}

std::string aggregate_in_words(const Explanations& explanations) {
  std::vector<std::string> members;
  for (const std::string& member : explanations.combination.members) members.push_back(short_name(member));
  return members.empty() ? "an aggregate" : fmt::format("an aggregate of {}", joined(members));
}

std::vector<std::string> needs_in_words(const AggregateNeeds& needs) {
  std::vector<std::string> words;
  const auto add = [&](bool needed, const char* word) {
    if (needed) words.emplace_back(word);
  };
  add(needs.model, "model");
  add(needs.reference, "reference");
  add(needs.pool, "pool");
  add(needs.pool_members, "pool members");
  return words;
}

}  // namespace assay
