// Where `assay reasons` has its explanations from: a file, or a study whose recommended method is run again with
// replicates, together with the rows in the user's own units and words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"
#include "assay/explain/explanations.h"
#include "assay/explain/reasons/reasons.h"
#include "assay/explain/reasons/shown_values.h"
#include "assay/explain/replicates.h"
#include "cli/commands.h"
#include "cli/recorded_study.h"

namespace assay::cli {

struct ReasonsArguments {
  std::string from;  // a study or a file of explanations
  TableArguments table;
  StudyOverrides where;  // of a study; where.data is table.what
  size_t top = 3;
  bool against = false;
  bool favour = false;
  std::string groups;
  std::vector<std::string> exclude;
  std::string templates;
  std::string background;
  std::string explanation;
  size_t replicates = kUsualReplicates;
  double certain = 0.9;
  bool uncertain = false;
  size_t show = 5;
  std::string out;
  const CLI::App* command = nullptr;

  ReasonDirection direction() const { return favour ? ReasonDirection::favour : ReasonDirection::against; }
};

// Explanations, and what is known of their rows.
struct Explained {
  Explanations explanations;
  std::vector<Explanations> others;  // for agreement
  FeatureColumns columns;            // of each feature
  std::optional<Table> rows;         // in the user's units and words
  KeptDoubles doubles;
  std::optional<Table> encoded_rows;  // the same as the model sees them, decoded; of a study
  std::optional<Table> reference;
  std::vector<std::string> notes;
};

bool has_named_column(const Table& table, std::string_view name);

// An input error if the table has other rows than those that were explained.
Explained explained_in_file(const ReasonsArguments& arguments, const Session& session);

// The method that the study recommends (or the one that was named), and for agreement the other faithful ones, against
// the background for reasons.
Explained explained_by_study(const ReasonsArguments& arguments, const Session& session);

}  // namespace assay::cli
