#include "assay/aggregate/antecedents/explained_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace assay {
namespace {

constexpr size_t kExplainedAtATime = 8192;

// Errors of draws and of a background are independent of each other.
void keep_errors(const Explanations& found, size_t begin, size_t pairs, Matrix& kept) {
  for (const Matrix* errors : {&found.standard_error, &found.background_error}) {
    if (errors->empty()) continue;
    if (kept.empty()) kept = Matrix(pairs, errors->cols());
    for (size_t r = 0; r < errors->rows(); r++) {
      const auto row = kept.row(begin + r);
      for (size_t p = 0; p < row.size(); p++) row[p] = std::hypot(row[p], (*errors)(r, p));
    }
  }
}

}  // namespace

size_t ExplainedPairs::find(const RowTarget& pair) const {
  const auto found = std::ranges::lower_bound(pairs, pair);
  assert(found != pairs.end() && *found == pair);
  return static_cast<size_t>(found - pairs.begin());
}

ExplainedPairs explain_pairs(const Spec& method, const ExplainTask& like, const Dataset& pool,
                             std::vector<RowTarget> wanted, const Context& context) {
  std::ranges::sort(wanted);
  const auto repeated = std::ranges::unique(wanted);
  wanted.erase(repeated.begin(), repeated.end());
  ExplainedPairs made;
  made.pairs = std::move(wanted);
  const size_t count = made.pairs.size();
  made.values = Matrix(count, like.players.size());
  for (size_t begin = 0; begin < count; begin += kExplainedAtATime) {
    const size_t end = std::min(count, begin + kExplainedAtATime);
    Matrix rows(end - begin, pool.x.cols());
    Targets targets = like.targets;
    targets.of_row.clear();
    std::vector<std::string> names;
    for (size_t i = begin; i < end; i++) {
      const auto [row, target] = made.pairs[i];
      std::ranges::copy(pool.x.row(row), rows.row(i - begin).begin());
      targets.of_row.push_back(target);
      names.push_back(pool.ids.empty() ? fmt::format("{} of the pool", row + 1)
                                       : fmt::format("{} of the pool", pool.ids[row]));
    }
    ExplainTask task{like.model, rows.view(), targets, like.reference, like.players};
    task.row_names = names;
    task.column_names = pool.feature_names;
    const Explanations found = explain(method, task, context);
    std::ranges::copy(found.values.values(), made.values.data() + begin * made.values.cols());
    keep_errors(found, begin, count, made.error);
    made.base.insert(made.base.end(), found.base.begin(), found.base.end());
    made.output.insert(made.output.end(), found.output.begin(), found.output.end());
    made.evaluations += found.evaluations;
    // Notes that hold for all rows come again with every block.
    for (const std::string& note : found.notes) {
      if (std::ranges::find(made.notes, note) == made.notes.end()) made.notes.push_back(note);
    }
  }
  return made;
}

}  // namespace assay
