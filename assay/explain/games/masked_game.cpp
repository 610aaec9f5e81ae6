// The game of any model: v(S) from rows in which the columns of absent players come from the reference row.
//
// Cost: one model evaluation for each row and coalition. The rows are made and predicted in batches of bounded size, in
// the order rows, then coalitions, so that few coalitions of many rows share a call of the model.
#include <algorithm>
#include <cassert>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/explain/games/game.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

constexpr size_t kMostRows = size_t{1} << 16;
constexpr size_t kMostBytes = size_t{64} << 20;
// Masked rows that one thread makes at a time.
constexpr size_t kMaskedRowsPerBlock = 512;

class MaskedGame final : public Game {
 public:
  MaskedGame(const ExplainTask& task, const Context& context)
      : task_(task), value_(task.model, task.rows, task.targets, context) {}

  size_t players() const override { return task_.players.size(); }
  size_t rows() const override { return task_.rows.rows(); }
  size_t references() const override { return task_.reference.rows.rows(); }
  bool strata() const override { return task_.reference.strata; }
  bool concurrent() const override { return false; }

  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context& context) const override {
    assert(coalitions.players() == players() && values.rows() == rows.size() && values.cols() == coalitions.size());
    const size_t features = task_.rows.cols();
    const size_t width = task_.model.info().outputs();
    const size_t total = rows.size() * coalitions.size();
    const size_t row_bytes = std::max<size_t>(1, (features + width) * sizeof(float));
    const size_t most = std::min({total, kMostRows, std::max<size_t>(1, kMostBytes / row_bytes)});
    Matrix masked(most, features);
    Matrix outputs(most, width);
    // Item i is coalition i % coalitions.size() of row i / coalitions.size().
    for (size_t first = 0; first < total; first += most) {
      context.check_cancelled();
      const size_t count = std::min(most, total - first);
      parallel_blocks(context, count, kMaskedRowsPerBlock, [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          const size_t item = first + i;
          mask(rows[item / coalitions.size()], reference, coalitions, item % coalitions.size(), masked.row(i));
        }
      });
      task_.model.predict(masked.view().rows_between(0, count), outputs.view().rows_between(0, count), context);
      for (size_t i = 0; i < count;) {
        const size_t at = (first + i) / coalitions.size();
        const size_t from = (first + i) % coalitions.size();
        const size_t run = std::min(coalitions.size() - from, count - i);
        value_.apply(rows[at], outputs.view().rows_between(i, i + run), values.row(at).subspan(from, run));
        i += run;
      }
    }
  }

 private:
  void mask(size_t row, size_t reference, const Coalitions& coalitions, size_t coalition, std::span<float> out) const {
    const std::span<const float> present = task_.rows.row(row);
    const std::span<const float> absent = task_.reference.rows.row(reference);
    const std::vector<uint32_t>& player = task_.players.of_column;
    for (size_t c = 0; c < out.size(); c++) {
      out[c] = coalitions.contains(coalition, player[c]) ? present[c] : absent[c];
    }
  }

  ExplainTask task_;
  ValueFunction value_;
};

}  // namespace

std::unique_ptr<Game> make_masked_game(const ExplainTask& task, const Context& context) {
  return std::make_unique<MaskedGame>(task, context);
}

}  // namespace assay
