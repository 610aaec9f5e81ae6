// Rows as retraining sees them: some players of each replaced by the reference.
//
// Each row has its own order of players: by |phi| (ties by index), or at random. ROAR replaces the first k; KAR keeps
// the first k and replaces all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/evaluate/retraining/known_rows.h"
#include "assay/explain/players.h"

namespace assay {

enum class Replaced { first, all_but_first };  // which of the ranked players: ROAR, KAR
enum class Ranking { attributions, random, none };

// How rows are changed. A random order depends on seed, draw and row, but not on k: the first players for a smaller k
// are among those for a larger k.
struct Change {
  Ranking ranking = Ranking::none;  // none: nothing is replaced
  Replaced replaced = Replaced::first;
  size_t k = 0;
  uint64_t seed = 0;
  uint32_t draw = 0;
};

// For each share, k = max(1, round(share * players)); ascending, each k once. A share below 1 gives at most players - 1
// (unless there is only one player): if all players are replaced, their order does not matter.
std::vector<size_t> counts_of_shares(std::span<const double> shares, size_t players);

// The reference row, or the mean of a background (categories at their mode, since no row has a mean of codes): a
// retrained model needs one value that carries no information. groups: of the columns.
std::vector<float> replacement_row(MatrixView<const float> reference, const std::vector<FeatureGroup>& groups);

// The rows of one data set. All arguments must outlive it. Another `purpose` gives other random orders.
class ChangedRows {
 public:
  ChangedRows(const Dataset& data, const KnownRows& known, MatrixView<const float> attributions, const Players& players,
              std::span<const float> replacement, std::string_view purpose)
      : data_(data),
        known_(known),
        attributions_(attributions),
        players_(players),
        replacement_(replacement),
        purpose_(purpose) {}

  // Writes known row i, changed. May be called from several threads at once.
  void fill(size_t i, const Change& change, std::span<float> row) const;
  // All known rows, changed, as training data with the model's classes.
  Dataset dataset(const Change& change, const std::vector<std::string>& class_names, const Context& context) const;

 private:
  const Dataset& data_;
  const KnownRows& known_;
  MatrixView<const float> attributions_;
  const Players& players_;
  std::span<const float> replacement_;
  std::string purpose_;
};

}  // namespace assay
