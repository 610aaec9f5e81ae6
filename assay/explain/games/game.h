// A coalition game for each row: v(S) = the explained value when the players of S are as in the row and all others as
// in a reference row. Shapley estimators, LIME, occlusion and later the criteria see only this, never a model.
//
// With a background, v is the mean over its rows; games give the values for one reference row at a time, so that the
// spread over the background can be seen (games/play.h averages).
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
  // values[i][c] = v(coalitions[c]) of row rows[i] against this reference row. The bits of a value depend on the row,
  // the reference row, the coalition and the form it comes in (a range, a list of so many, or along its order) alone;
  // forms agree to float32 rounding.
  virtual void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions,
                      MatrixView<float> values, const Context& context) const = 0;
  // Whether values() may be called from several threads at once; it then runs on the calling thread alone. Other games
  // run the model's own threads, or call a function of the user, and want many rows in one call.
  virtual bool concurrent() const = 0;
  // What of a difference between two values of a row may be rounding, relative to the largest |v|: two units in the
  // last place of float32 where values are the model's own outputs.
  virtual double rounding() const { return 2.5e-7; }
};

// The fastest game that the model allows:
// - trees: what a row and a reference row leave open of them, no rows (games/tree_game.cpp)
// - one hidden layer of (leaky) ReLUs: sums of table entries, no rows (games/leaky_game.cpp)
// - an affine first layer: its entries as sums of table entries, then the rest of the graph (games/affine_game.cpp)
// - everything else: rows with absent players replaced, predicted in large batches (games/masked_game.cpp)
// The task must outlive the game. The model runs once on the rows where the value needs it (information form).
std::unique_ptr<Game> make_game(const ExplainTask& task, const Context& context);

// The plain game, whatever the model: what the others are tested against.
std::unique_ptr<Game> make_masked_game(const ExplainTask& task, const Context& context);

}  // namespace assay
