#include "assay/evaluate/agreement/by_other.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

enum class Pair : uint8_t { defined, not_finite, all_zero, undefined };

Pair look_at(std::span<const float> mine, std::span<const float> other) {
  if (!all_finite(mine) || !all_finite(other)) return Pair::not_finite;
  return all_zero(mine) || all_zero(other) ? Pair::all_zero : Pair::defined;
}

}  // namespace

void score_agreement(const EvaluateTask& task, const Agreement& agreement, std::string_view undefined_reason,
                     Scores& scores, const Context& context) {
  const size_t rows = task.rows();
  const size_t others = task.others.size();
  Matrix64 pairs(rows, others);
  std::vector<Pair> first(rows, Pair::defined);
  parallel_blocks(context, rows, kRowsPerTask, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) {
      const std::span<const float> mine = task.explanations.values.row(r);
      RunningMoments moments;
      for (size_t o = 0; o < others; o++) {
        const std::span<const float> other = task.others[o]->values.row(r);
        Pair pair = look_at(mine, other);
        pairs(r, o) = pair == Pair::defined ? agreement(mine, other) : NAN;
        if (pair == Pair::defined && std::isnan(pairs(r, o))) pair = Pair::undefined;
        if (pair == Pair::defined) moments.add(pairs(r, o));
        if (o == 0) first[r] = pair;
      }
      scores.values[r] = moments.mean();
    }
  });
  UndefinedCounts undefined;
  for (size_t r = 0; r < rows; r++) {
    if (!std::isnan(scores.values[r])) continue;
    undefined.add(first[r] == Pair::not_finite ? kNotFinite : first[r] == Pair::all_zero ? kAllZero : undefined_reason);
  }
  scores.undefined = undefined.take();
  ScoreTable table{.name = "agreement with each", .columns = {"mean", "stderr", "rows"}, .rows = {}};
  for (size_t o = 0; o < others; o++) {
    RunningMoments moments;
    for (size_t r = 0; r < rows; r++) {
      if (!std::isnan(pairs(r, o))) moments.add(pairs(r, o));
    }
    table.labels.push_back(o < task.other_names.size() ? task.other_names[o] : fmt::format("explanations {}", o + 1));
    table.rows.push_back({moments.mean(), moments.standard_error(), static_cast<double>(moments.count())});
  }
  scores.tables.push_back(std::move(table));
}

}  // namespace assay
