#include "assay/aggregate/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"

namespace assay {

// Each is defined in its aggregator's own file. A new aggregator is a line here and a line in the table.
AggregatorInfo mean_aggregator();
AggregatorInfo median_aggregator();
AggregatorInfo geometric_median_aggregator();
AggregatorInfo centroid_aggregator();
AggregatorInfo convex_aggregator();
AggregatorInfo convex_min_aggregator();
AggregatorInfo kemeny_young_aggregator();
AggregatorInfo borda_aggregator();
AggregatorInfo copeland_aggregator();
AggregatorInfo gradient_descent_style_aggregator();
AggregatorInfo region_shrinking_aggregator();
AggregatorInfo shrink_then_descend_aggregator();
AggregatorInfo minimum_complexity_aggregator();
AggregatorInfo closest_simple_aggregator();
AggregatorInfo ava_aggregator();
AggregatorInfo pareto_aggregator();

namespace {

std::vector<AggregatorInfo>& aggregator_table() {
  static std::vector<AggregatorInfo> table = {
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

}  // namespace

std::span<const AggregatorInfo> aggregators() { return aggregator_table(); }

void add_aggregator(AggregatorInfo info) { aggregator_table().push_back(std::move(info)); }

const AggregatorInfo& find_aggregator(std::string_view name) { return find_by_name("aggregator", aggregators(), name); }

bool is_aggregate(const Explanations& explanations) {
  // One that explains its antecedents itself has no members.
  const auto named = [&](const AggregatorInfo& info) { return info.name == explanations.provenance.method; };
  return !explanations.combination.members.empty() || std::ranges::any_of(aggregators(), named);
}

bool has_signs(const Explanations& explanations) {
  const auto made_by = std::ranges::find(aggregators(), explanations.provenance.method, &AggregatorInfo::name);
  return made_by == aggregators().end() || !made_by->without_signs;
}

std::string aggregate_in_words(const Explanations& explanations) {
  std::vector<std::string> members;
  for (const std::string& member : explanations.combination.members) members.push_back(short_name(member));
  return members.empty() ? "an aggregate" : fmt::format("an aggregate of {}", joined(members));
}

std::vector<std::string> needs_in_words(const AggregateNeeds& needs) {
  std::vector<std::string> words =
      needs_in_words(Needs{.model = needs.model, .reference = needs.reference, .pool = needs.pool});
  if (needs.pool_members) words.emplace_back("pool members");
  return words;
}

}  // namespace assay
