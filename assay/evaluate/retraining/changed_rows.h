// Rows as retraining sees them: some players of each replaced by the reference.
//
// Which ones is decided row by row, by the order of its players: that of |phi| (ties by index), or a random order of
// its own. ROAR takes the first k away; KAR keeps the first k and takes all others.
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

enum class Replaced { first, all_but_first };  // of the ranked players: ROAR, KAR
enum class Ranking { attributions, random, none };

// How rows are changed. Random orders are those of (seed, draw) and the row, the same for every k: what a smaller k
// takes away, a larger one takes too.
struct Change {
  Ranking ranking = Ranking::none;  // none: nothing is replaced
  Replaced replaced = Replaced::first;
  size_t k = 0;
  uint64_t seed = 0;
  uint32_t draw = 0;
};

// k = max(1, round(share * players)), ascending, each once. Without any player, or with all of them, rows say nothing
// of the order: a share below 1 comes to all players but one at most, unless there is only one.
std::vector<size_t> counts_of_shares(std::span<const double> shares, size_t players);

// The reference row; of a background its mean, column by column: a retrained model needs one value that says nothing.
std::vector<float> replacement_row(MatrixView<const float> reference);

// The rows of one data set. All that is given must outlive it. `purpose` keeps the random orders of two data sets
// apart.
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

  // Row i of the known ones, changed. From several threads at once.
  void fill(size_t i, const Change& change, std::span<float> row) const;
  // All of them as rows to train on, with the model's classes.
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
