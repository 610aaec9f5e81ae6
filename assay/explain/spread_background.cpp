#include "assay/explain/spread_background.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "assay/core/error.h"
#include "assay/data/baseline.h"

namespace assay {

ScoredPool score_pool(const Dataset& pool, const Model& model, const Context& context) {
  const std::vector<size_t> chosen = background_rows(pool.rows(), kMostScoredRows, context.seed);
  Matrix outputs(chosen.size(), model.info().outputs());
  if (chosen.size() == pool.rows()) {
    model.predict(pool.x.view(), outputs.view(), context);
  } else {
    model.predict(select_rows(pool, chosen).x.view(), outputs.view(), context);
  }
  std::vector<size_t> kept;
  for (size_t i = 0; i < chosen.size(); i++) {
    if (std::ranges::all_of(outputs.row(i), [](float v) { return std::isfinite(v); })) kept.push_back(i);
  }
  ScoredPool made{{}, Matrix(kept.size(), outputs.cols())};
  for (size_t i = 0; i < kept.size(); i++) {
    made.rows.push_back(chosen[kept[i]]);
    std::ranges::copy(outputs.row(kept[i]), made.outputs.row(i).begin());
  }
  return made;
}

Reference spread_background(const Dataset& pool, const ScoredPool& scored, const Targets& targets, size_t count,
                            const Model& model, const Context& context) {
  if (scored.rows.empty() || count == 0) {
    fail_input(pool.source, "rows for which the model gives numbers, to be the background", "none");
  }
  struct Place {
    uint32_t target;
    double value;
    size_t row;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < scored.rows.size(); i++) {
    const size_t row = scored.rows[i];
    const OutputTerm& term = targets.term(row);
    const double value = term.offset + static_cast<double>(term.scale) * scored.outputs(i, term.output);
    places.push_back({targets.of_row[row], value, row});
  }
  std::ranges::sort(places, {}, [](const Place& each) { return std::tuple(each.target, each.value, each.row); });
  std::vector<size_t> order;
  for (const Place& each : places) order.push_back(each.row);
  const std::vector<size_t> rows = spread_rows(order, count, context.seed);
  Reference reference = given_background(select_rows(pool, rows), &pool, model);
  // All scored rows are no draw from strata.
  reference.strata = rows.size() < order.size();
  if (rows.size() < pool.rows()) reference.drawn_from = pool.rows();
  reference.description = rows.size() == pool.rows()
                              ? fmt::format("all {} rows of {}", rows.size(), pool.source)
                              : fmt::format("{} rows of {}, spread over its scores", rows.size(), pool.source);
  return reference;
}

std::optional<Reference> said_spread_background(std::string_view word, const Dataset* pool, const Model& model,
                                                const std::optional<TargetChoice>& choice, const Context& context) {
  if (!word.starts_with(kSpreadPrefix)) return {};
  const size_t count = spread_count(word);
  if (pool == nullptr) {
    fail_missing(fmt::format("background {}: expected a pool of rows to draw from, found none", word), Need::pool);
  }
  if (!choice) {
    fail_input(fmt::format("background {}", word),
               "one class or output for all rows, or the predicted class, so that the pool's rows have a score",
               "targets that differ from row to row");
  }
  const Context quiet = context.quiet();
  const Targets targets = freeze_targets(model, pool->x.view(), *choice, quiet);
  return spread_background(*pool, score_pool(*pool, model, quiet), targets, count, model, quiet);
}

}  // namespace assay
