// Values v(N without S) of a game that several explanations of the same rows are scored with. A study scores dozens of
// entries over the same subsets; the values do not depend on the entry, so they are computed once.
//
// Held are, for each row and subset, the value itself for one reference row, or the sum over the reference rows, with
// the bits that playing the game again would give. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/subsets/subset_design.h"
#include "assay/explain/games/game.h"

namespace assay {

class SubsetValues {
 public:
  // For all rows of the game x the subsets of a design. One of the two is empty.
  struct Held {
    Coalitions kept;
    Matrix values;  // for one reference row
    Matrix64 sums;  // over several reference rows
  };

  // All games that are asked about must be the same: model, rows, players, targets and reference.
  explicit SubsetValues(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Plays the game for all rows and those of the designs that are not held yet. False, without playing, if there is no
  // room for them: then the caller plays by itself. What is held does not depend on which explanation asked first, as
  // long as all ask for the same designs in the same order.
  bool hold(const Game& game, std::span<const SubsetDesign> designs, const Context& context, std::string_view task);
  // Only after hold() was true for this design.
  const Held& of(const SubsetDesign& design) const;

  // Whether the evaluations that hold() makes are counted for its caller. A study counts them for its first entry, also
  // if that one was made by an earlier run and others need the values again: counts must not depend on interruptions.
  void count_evaluations(bool counted) { counted_ = counted; }
  // The evaluations of the last hold() that are counted.
  uint64_t counted_evaluations() const { return evaluations_; }

 private:
  const Held* find(const SubsetDesign& design) const;

  size_t most_bytes_;
  size_t bytes_ = 0;
  bool counted_ = true;
  uint64_t evaluations_ = 0;
  std::list<Held> held_;
};

}  // namespace assay
