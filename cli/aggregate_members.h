// The members that `assay aggregate` combines: files of explanations, joined to their model, rows and pool.
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
  std::vector<std::string> pool_members;  // none, or one for each member
  std::vector<std::string> names;         // none, or one for each member
  std::string aggregator;
  std::string out;
  std::string pool_out;
  size_t show = 5;
};

// Everything that aggregators may look at. Do not move: tasks refer to it.
struct MemberFiles {
  RowsOfUnits opened;
  std::vector<std::unique_ptr<JoinedExplanations>> all;
  std::vector<std::string> names;
  // Gives the model, rows and targets: the member that says most, or `no_file` if there are no members.
  JoinedExplanations* lead = nullptr;
  std::unique_ptr<JoinedExplanations> no_file = {};
  std::vector<const Explanations*> explanations = {};
  std::vector<PoolExplanations*> pool_explanations = {};
  bool filled_base = false;  // base values were computed from the reference, because no member has any

  AggregateTask task() const;
};

// Reads the files and checks that they fit together.
std::unique_ptr<MemberFiles> read_members(const AggregateArguments& arguments, const Session& session);

// Joins them to the model, rows and pool that the arguments name. pool: whether explanations of the pool are needed.
void join_members(const AggregateArguments& arguments, bool pool, MemberFiles& files, const Session& session);

// Fills in what the members did not say: model, unit, data, players, targets.
void describe_aggregate(const MemberFiles& files, Explanations& result);

// The aggregate of all rows of the pool, ready to be written to a file.
Explanations pool_result(const AggregateArguments& arguments, const MemberFiles& files, const Spec& spec,
                         const Aggregate& made, const Context& context);

}  // namespace assay::cli
