// Table 3 of the paper: maximum and average sensitivity of six explanation functions in data neighbourhoods.
//
//   D(g(x), g(z)) over training rows z of x's predicted class with 0 < rho(x, z) <= r.
// D is the l2 distance of explanations, rho the l-infinity distance. A row without neighbours has no score; coverage is
// the share of rows with a score. Columns: "at r", the paper's radius; "at 1x", "at 2x" and "at 4x", multiples of the
// radius that gives the median row ten neighbours.
//
// Cost: for each method, the explanations of all pool rows that are neighbours; then a few ns for each pair.
// Under the primary set-up it also measures what the paper leaves open: weights of the six methods, at unit norm, that
// make the mean average sensitivity least, with a certified bound of what any weights reach (aggregate/convex_min.cpp).
//
// Deviation from the paper: it states neither the scale of its radii nor the baseline of explanations (setup.h).
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "assay/aggregate/aggregator.h"
#include "assay/study/reproduce/radii.h"

namespace assay {
namespace {

// One method's explanations of rows and pool.
struct MethodMember {
  Explanations made;
  PoolExplanations of_pool;
};

void measure_convex_weights(std::deque<MethodMember>& members, const Subject& subject, double radius,
                            const CellKey& where, Results& results, const Context& context) {
  std::vector<const Explanations*> rows;
  std::vector<PoolExplanations*> pools;
  std::vector<std::string> names;
  for (size_t j = 0; j < members.size(); j++) {
    rows.push_back(&members[j].made);
    pools.push_back(&members[j].of_pool);
    names.push_back(paper_methods()[j].name);
  }
  const AggregateTask task{.members = rows, .names = names, .subject = subject, .pool_members = pools};
  const Spec spec = parse_spec("reproduce", fmt::format("convex_min:criterion=avg_sensitivity:per=all:rho=linf:"
                                                        "space=raw:radius={}:weighting=uniform:gap=1e-06:"
                                                        "scale=relative",
                                                        radius));
  const Aggregate made = aggregate(spec, task, context);
  const auto table = std::ranges::find(made.tables, "weights", &ScoreTable::name);
  if (table == made.tables.end()) return;
  double best = INFINITY;
  double largest = 0;
  for (size_t j = 0; j < members.size(); j++) {
    largest = std::max(largest, table->rows[j][0]);
    best = std::min(best, table->rows[j][1]);
  }
  const std::vector<double>& mixture = table->rows.back();
  const auto add = [&](const char* row, double value) {
    CellKey key = where;
    key.row = row;
    key.column = "avg at 1x, unit norm";
    results.add(key, value);
  };
  add("best single method", best);
  add("convex weights", mixture[1]);
  add("convex weights, renormalised", mixture[2]);
  add("certified bound of all weights", mixture[3]);
  add("largest weight", largest);
}

}  // namespace

void measure_sensitivity(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                         const Context& context) {
  const Subject subject = bench.against(bench.explained_against(setup, nullptr));
  double automatic = NAN;
  std::deque<MethodMember> members;
  for (const PaperMethod& method : paper_methods()) {
    members.push_back(
        {explain(method.spec, subject, context), pool_explanations_by(subject, method.spec, bench.trained->seed)});
    const Explanations& made = members.back().made;
    PoolExplanations& of_pool = members.back().of_pool;
    const EvaluateTask task{.explanations = made, .subject = subject, .pool_explanations = &of_pool};
    if (std::isnan(automatic)) {
      automatic = automatic_radius(task, context);
      CellKey key = where;
      key.row = "neighbourhoods";
      key.column = "radius of ten neighbours";
      results.add(key, automatic);
    }
    for (const std::string_view kind : {"max", "avg"}) {
      const auto add = [&](std::string_view label, double radius) {
        context.check_cancelled();
        CellKey key = where;
        key.row = method.name;
        key.column = fmt::format("{} at {}", kind, label);
        const Scores found = sensitivity_scores(task, setup, PaperTable::sensitivity, kind, radius, context);
        results.add(key, found.mean, found.coverage);
      };
      add("r", paper_radius(PaperTable::sensitivity, where.data));
      add("1x", automatic);
      add("2x", 2 * automatic);
      add("4x", 4 * automatic);
    }
  }
  if (where.variant.empty()) measure_convex_weights(members, subject, automatic, where, results, context);
}

}  // namespace assay
