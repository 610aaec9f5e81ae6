// What `assay aggregate` combines: the members' files, joined to what they came from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "cli/joined_explanations.h"

namespace assay::cli {

struct AggregateArguments : JoinArguments {
  std::vector<std::string> members;
  std::vector<std::string> pool_members;  // none, or one for each of the members
  std::vector<std::string> names;         // likewise
  std::string aggregator;
  std::string out;
  std::string pool_out;
  size_t show = 5;
};

// Everything that aggregators may look at. It is referred to, and stays where it is.
struct MemberFiles {
  RowsOfUnits opened;
  std::vector<std::unique_ptr<JoinedExplanations>> all;
  std::vector<std::string> names;
  // Whom the model, rows and targets are taken from: the first member that says most, or, without any, the arguments.
  JoinedExplanations* lead = nullptr;
  std::unique_ptr<JoinedExplanations> no_file = {};
  std::vector<const Explanations*> explanations = {};
  std::vector<PoolExplanations*> pool_explanations = {};
  bool filled_base = false;  // base values are those of the reference in use, because no member says any

  AggregateTask task() const;
};

// The files alone, which fit together.
std::unique_ptr<MemberFiles> read_members(const AggregateArguments& arguments, const Session& session);

// Joins them to model, rows and pool where the arguments name them. `pool`: something will look at the pool's rows.
void join_members(const AggregateArguments& arguments, bool pool, MemberFiles& files, const Session& session);

// What the program knows of a result and the library does not.
void describe_aggregate(const MemberFiles& files, Explanations& result);

// The aggregate of all rows of the pool, as a file holds it.
Explanations pool_result(const AggregateArguments& arguments, const MemberFiles& files, const Spec& spec,
                         const Aggregate& made, const Context& context);

}  // namespace assay::cli
