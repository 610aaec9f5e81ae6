// Plays a game for all rows: the one loop of all methods that see only a game.
//
// Rows are played by blocks on all threads when the game is concurrent; else many rows are handed to one call, as the
// model's own threads or a user's function want it. Either way a row's state sees its values in one order: reference
// rows in order, for each of them the parts of the design in order. Memory is that of the blocks in work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/game.h"

namespace assay {

// Values of a non-concurrent game that one call asks for, at most (unless one row's part is larger).
inline constexpr size_t kValuesPerCall = size_t{1} << 16;
// Rows of a concurrent game that one thread takes at a time.
inline constexpr size_t kRowsPerTurn = 8;

// begin(row) -> State; take(state, row, reference, part, values) for each reference row and part of the design;
// finish(state, row). Calls for different rows may come from several threads at once.
template <class Begin, class Take, class Finish>
void play(const Game& game, std::span<const size_t> rows, std::span<const Coalitions> design, const Context& context,
          std::string_view task, const Begin& begin, const Take& take, const Finish& finish) {
  size_t widest = 1;
  for (const Coalitions& part : design) widest = std::max(widest, part.size());
  if (game.concurrent()) {
    Context alone = context;
    alone.threads = 1;
    alone.progress = nullptr;
    parallel_blocks(
        context, rows.size(), kRowsPerTurn,
        [&](const Block& block) {
          Matrix values(1, widest);
          for (size_t i = block.begin; i < block.end; i++) {
            auto state = begin(rows[i]);
            for (size_t reference = 0; reference < game.references(); reference++) {
              for (size_t part = 0; part < design.size(); part++) {
                const MatrixView<float> out(values.data(), 1, design[part].size());
                game.values(rows.subspan(i, 1), reference, design[part], out, alone);
                take(state, rows[i], reference, part, std::span<const float>(out.row(0)));
              }
            }
            finish(state, rows[i]);
          }
        },
        task);
    return;
  }
  Context inner = context;
  inner.progress = nullptr;
  const size_t block_rows = std::clamp<size_t>(kValuesPerCall / widest, 1, std::max<size_t>(rows.size(), 1));
  Matrix values(std::min(block_rows, rows.size()), widest);
  ProgressScope progress(context, task, rows.size());
  for (size_t first = 0; first < rows.size(); first += block_rows) {
    const auto turn = rows.subspan(first, std::min(block_rows, rows.size() - first));
    std::vector<decltype(begin(size_t{0}))> states;
    states.reserve(turn.size());
    for (const size_t row : turn) states.push_back(begin(row));
    for (size_t reference = 0; reference < game.references(); reference++) {
      for (size_t part = 0; part < design.size(); part++) {
        context.check_cancelled();
        const MatrixView<float> out(values.data(), turn.size(), design[part].size());
        game.values(turn, reference, design[part], out, inner);
        parallel_blocks(inner, turn.size(), kRowsPerTurn, [&](const Block& block) {
          for (size_t i = block.begin; i < block.end; i++) {
            take(states[i], turn[i], reference, part, std::span<const float>(out.row(i)));
          }
        });
      }
    }
    parallel_blocks(inner, turn.size(), kRowsPerTurn, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) finish(states[i], turn[i]);
    });
    progress.advance(turn.size());
  }
}

// 0 .. count - 1.
inline std::vector<size_t> all_rows(size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

}  // namespace assay
