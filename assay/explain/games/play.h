// Plays a game for all rows: the loop of all methods that use only a game.
//
// If the game is concurrent, blocks of rows are played on all threads. Otherwise one call gets many rows, which suits a
// model with its own threads or a user's function. Either way a row's values come in the same order: by reference row,
// then by part of the design. Memory is that of the blocks being played.
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
#include "assay/explain/games/scratch_pool.h"

namespace assay {

// The most values that one call of a non-concurrent game asks for (unless one row's part is larger).
inline constexpr size_t kValuesPerCall = size_t{1} << 16;
// The most rows that one thread takes at a time; fewer if that would be more values than kValuesPerTurn.
inline constexpr size_t kRowsPerTurn = 8;
inline constexpr size_t kValuesPerTurn = size_t{1} << 16;

// Up to `together` rows share a state. The calls are: begin(rows) -> State; take(state, rows, reference, part, values)
// for each reference row and part of the design, with a row of values for each row; finish(state, rows). Calls for
// different rows may come from several threads at once.
template <class Begin, class Take, class Finish>
void play_together(const Game& game, std::span<const size_t> rows, size_t together, std::span<const Coalitions> design,
                   const Context& context, std::string_view task, const Begin& begin, const Take& take,
                   const Finish& finish) {
  size_t widest = 1;
  double values_of_row = 1;
  for (const Coalitions& part : design) {
    widest = std::max(widest, part.size());
    values_of_row += static_cast<double>(part.size()) * static_cast<double>(game.references());
  }
  const auto affordable = static_cast<size_t>(static_cast<double>(kValuesPerTurn) / values_of_row);
  const size_t turn_rows = (std::clamp<size_t>(affordable, 1, kRowsPerTurn) + together - 1) / together * together;
  if (game.concurrent()) {
    Context alone = context.quiet();
    alone.threads = 1;
    parallel_blocks(
        context, rows.size(), turn_rows,
        [&](const Block& block) {
          VectorBuffer<float> values;
          for (size_t i = block.begin; i < block.end; i += together) {
            const auto here = rows.subspan(i, std::min(together, block.end - i));
            auto state = begin(here);
            for (size_t reference = 0; reference < game.references(); reference++) {
              for (size_t part = 0; part < design.size(); part++) {
                const size_t count = design[part].size();
                const MatrixView<float> out(values.get(together * widest), here.size(), count);
                game.values(here, reference, design[part], out, alone);
                take(state, here, reference, part, MatrixView<const float>(out));
              }
            }
            finish(state, here);
          }
        },
        task);
    return;
  }
  const Context inner = context.quiet();
  const size_t block_rows = std::clamp<size_t>(kValuesPerCall / widest, 1, std::max<size_t>(rows.size(), 1));
  Matrix values(std::min(block_rows, rows.size()), widest);
  ProgressScope progress(context, task, rows.size());
  for (size_t first = 0; first < rows.size(); first += block_rows) {
    const auto turn = rows.subspan(first, std::min(block_rows, rows.size() - first));
    std::vector<decltype(begin(turn))> states;
    states.reserve((turn.size() + together - 1) / together);
    for (size_t i = 0; i < turn.size(); i += together) {
      states.push_back(begin(turn.subspan(i, std::min(together, turn.size() - i))));
    }
    const auto each_state = [&](const auto& work) {
      parallel_blocks(inner, turn.size(), turn_rows, [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i += together) work(i, std::min(together, block.end - i));
      });
    };
    for (size_t reference = 0; reference < game.references(); reference++) {
      for (size_t part = 0; part < design.size(); part++) {
        context.check_cancelled();
        const MatrixView<float> out(values.data(), turn.size(), design[part].size());
        game.values(turn, reference, design[part], out, inner);
        each_state([&](size_t i, size_t count) {
          take(states[i / together], turn.subspan(i, count), reference, part,
               MatrixView<const float>(out.rows_between(i, i + count)));
        });
      }
    }
    each_state([&](size_t i, size_t count) { finish(states[i / together], turn.subspan(i, count)); });
    progress.advance(turn.size());
  }
}

// The same with a state for each row: begin(row) -> State; take(state, row, reference, part, values); finish(state,
// row).
template <class Begin, class Take, class Finish>
void play(const Game& game, std::span<const size_t> rows, std::span<const Coalitions> design, const Context& context,
          std::string_view task, const Begin& begin, const Take& take, const Finish& finish) {
  using Rows = std::span<const size_t>;
  play_together(
      game, rows, 1, design, context, task, [&](Rows row) { return begin(row[0]); },
      [&](auto& state, Rows row, size_t reference, size_t part, MatrixView<const float> values) {
        take(state, row[0], reference, part, values.row(0));
      },
      [&](auto& state, Rows row) { finish(state, row[0]); });
}

// 0 .. count - 1.
inline std::vector<size_t> all_rows(size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

}  // namespace assay
