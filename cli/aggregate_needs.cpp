#include "cli/aggregate_needs.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/text.h"
#include "cli/needed_options.h"

namespace assay::cli {
namespace {

// Why other rows cannot be explained in the same way as this member.
std::string not_again(const JoinedExplanations& member) {
  const Explanations& found = member.explanations;
  const std::string why = is_aggregate(found) ? "is an aggregate, which cannot be explained again"
                          : found.provenance.method.empty()
                              ? "does not say how it was made"
                              : fmt::format("was made by {}, which this version cannot do as it was used",
                                            in_quotes(found.provenance.method));
  return fmt::format("{} {}", in_quotes(member.file), why);
}

// For aggregators that need no members: why other rows cannot be explained in the way of the only member. Nothing if
// they can, or if an option names the method.
std::optional<std::string> lacking_method(const Spec& spec, const MemberFiles& files,
                                          const AggregateArguments& arguments) {
  if (files.all.size() != 1 || files.all[0]->method || !arguments.pool_members.empty()) return {};
  for (const auto& [name, value] : spec.options) {
    if (name == "method" && value != "auto" && value != "[auto]") return {};
  }
  return fmt::format(
      "to know how rows of the pool are explained, and {}: give --pool-members, or method=... as in "
      "{}:method=exact_shapley",
      not_again(*files.all[0]), spec.name);
}

// Why not every member can explain the pool's rows, and what to give. Nothing if all can, or if they are given.
std::optional<std::string> lacking_pool_members(const MemberFiles& files, const AggregateArguments& arguments) {
  if (!arguments.pool_members.empty()) return {};
  for (const auto& member : files.all) {
    if (member->method) continue;
    return fmt::format("explanations of the pool's rows, and {}: give --pool-members", not_again(*member));
  }
  const std::vector<std::string> missing = missing_options({Need::model, Need::pool}, arguments.rows);
  if (missing.empty()) return {};
  return fmt::format("explanations of the pool's rows: give --pool-members, or {} to make them", joined(missing));
}

std::optional<std::string> lacking_for_pool_out(const Spec& spec, const MemberFiles& files,
                                                const AggregateArguments& arguments) {
  const AggregatorInfo& info = find_aggregator(spec.name);
  const std::unique_ptr<Aggregator> aggregator = info.make(spec);
  if (aggregator->needs(info.needs).members > 0) {
    if (const auto lack = lacking_pool_members(files, arguments)) return fmt::format("--pool-out needs {}", *lack);
  }
  const std::vector<std::string> missing = missing_options({Need::model, Need::pool}, arguments.rows);
  if (!aggregator->scales_to_output() || missing.empty()) return {};
  return fmt::format("--pool-out with scale=output needs the outputs of the pool's rows: give {}", joined(missing));
}

}  // namespace

AggregateNeeds aggregate_needs(const Spec& spec) {
  const AggregatorInfo& info = find_aggregator(spec.name);
  return info.make(spec)->needs(info.needs);
}

std::optional<std::string> lacking(const Spec& spec, const MemberFiles& files, const AggregateArguments& arguments) {
  const AggregateNeeds needs = aggregate_needs(spec);
  const ModelRowsArguments& rows = arguments.rows;
  const auto because = [&](std::string_view what) { return fmt::format("{} needs {}", spec.name, what); };
  if (files.all.size() < needs.members) {
    if (files.all.empty()) return because("explanations to combine: give --members");
    return because(
        fmt::format("at least {} members, and there is {}: give more in --members", needs.members, files.all.size()));
  }
  const std::vector<std::string> missing = missing_options({Need::model}, rows);
  if ((needs.model || files.all.empty()) && !missing.empty()) {
    return because(fmt::format("the model and the rows that were explained: give {}", joined(missing)));
  }
  if (needs.pool && rows.pool.empty()) {
    const std::vector<std::string> options = missing_options({Need::model, Need::pool}, rows);
    return because(fmt::format("a pool of training rows: give {}", joined(options)));
  }
  if (needs.members == 0) {
    if (const auto lack = lacking_method(spec, files, arguments)) return because(*lack);
  }
  if (needs.pool_members) {
    if (const auto lack = lacking_pool_members(files, arguments)) return because(*lack);
  }
  if (needs.reference && !rows.has_reference()) {
    const std::vector<std::string> options = missing_options({Need::reference}, rows);
    return because(fmt::format("something that stands for absent features: give {}", joined(options)));
  }
  if (arguments.pool_out.empty()) return {};
  return lacking_for_pool_out(spec, files, arguments);
}

}  // namespace assay::cli
