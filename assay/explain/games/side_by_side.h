// Games that have the values of several rows side by side anyway: who wants them so saves turning them twice.
#pragma once

#include <cstddef>
#include <span>

#include "assay/core/context.h"
#include "assay/explain/games/coalitions.h"

namespace assay {

// What a game may be beside a Game.
class SideBySide {
 public:
  virtual ~SideBySide() = default;
  // Whether it gives the values of these coalitions so.
  virtual bool gives_side_by_side(const Coalitions& coalitions) const = 0;
  // values[c * width + i] = v(coalitions[c]) of row rows[i] against this reference row, with the bits of Game::values.
  // There are at most `width` rows; other numbers of a row of values may be overwritten. width is a multiple of 16, and
  // values begin where a vector may.
  virtual void values_side_by_side(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions,
                                   size_t width, float* values, const Context& context) const = 0;
};

}  // namespace assay
