// A coalition game for each row: v(S) = the explained value when the players of S are as in the row and all others as
// in a reference row. Shapley estimators, LIME, occlusion and many criteria use only this, never a model.
//
// With a background, v is the mean over its rows. Games give the values for one reference row at a time, so that
// callers can average them and measure their spread (games/play.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/explainer.h"
#include "assay/explain/games/coalitions.h"

namespace assay {

class Game {
 public:
  virtual ~Game() = default;
  virtual size_t players() const = 0;
  virtual size_t rows() const = 0;
  virtual size_t references() const = 0;
  // Reference::strata of the reference rows.
  virtual bool strata() const { return false; }
  // values[i][c] = v(coalitions[c]) of row rows[i] against this reference row. The bits of a value depend only on the
  // row, the reference row, the coalition and the form of the list (a range, a list of this length, or along this
  // order). Forms agree up to float32 rounding.
  virtual void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions,
                      MatrixView<float> values, const Context& context) const = 0;
  // Whether values() may be called from several threads at once; each call then runs on the calling thread alone. Other
  // games use the model's own threads, or call a user's function: they are faster with many rows in one call.
  virtual bool concurrent() const = 0;
  // Two values of a row that differ by at most this times the largest |v| may be equal up to rounding. For a model's
  // own outputs it is two units in the last place of float32.
  virtual double rounding() const { return 2.5e-7; }
};

// The fastest game that the model allows:
// - trees: reduced to the branches where row and reference row differ, no model run (games/tree_game.cpp)
// - one hidden layer of (leaky) ReLUs: sums of table entries, no model run (games/leaky_game.cpp)
// - an affine first layer: its outputs as sums of table entries, then the rest of the graph (games/affine_game.cpp)
// - everything else: rows with absent players replaced, predicted in large batches (games/masked_game.cpp)
// The task must outlive the game. For the information form the model runs once on the rows.
std::unique_ptr<Game> make_game(const ExplainTask& task, const Context& context);

// The masked game, for any model. The others are tested against it.
std::unique_ptr<Game> make_masked_game(const ExplainTask& task, const Context& context);

}  // namespace assay
