// Learnt convex weights w. Of all mixtures phi_w(x) = sum over j of w_j g_j(x) of the members (of unit norm), the one
// with the least mean over the rows of
//   avg_sensitivity   mean over z in N_r(x) of c_xz || phi_w(x) - phi_w(z) ||_2,   c = 1 or 1 / rho(x, z),
//   max_sensitivity   the largest of the same,
//   complexity        the entropy of |phi_w(x)|.
// per = row learns weights for each row alone; the row's neighbours are then mixed by the same weights.
//
// The sensitivities are convex in w and grow in proportion to it, so that subgradients give a lower bound of the
// minimum. They are solved to a certified gap (mixtures/sublinear.h) from one Gram matrix for each pair
// (mixtures/pair_grams.h). Complexity is not convex: the result is the best of many starts, without a bound. The result
// is never worse than a member: the mixture as stored in float32 is compared with every member by the criterion itself
// (sensitivities with per = row: in float64), and a member that is as good is taken instead.
//
// The guarantee is for mixtures as they are. They are shorter than their members, which alone lowers l2 distances. The
// value after scaling mixtures back to unit norm is reported too, with no guarantee.
// Rows without a neighbour take no part. Complexity is over rows where no member is zero; weights that make one of
// these rows nearly zero (norm below 1e-4; per = row: below 5 % of the members') are not taken.
// Cost: for each pair of neighbours m^2 d / 2 operations once, then m^2 for each of some ten (avg) or some hundred
// (max) steps.
// Deviation from the paper (Bhatt, Weller, Moura 2020, Section 4.1): it argues that all weight goes to one function.
// But the objective is convex: its minimum can be inside the simplex, strictly below every single function. Proposition
// 1 only bounds it by the weighted mean.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/members.h"
#include "assay/aggregate/mixtures/mixture_rows.h"
#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/aggregate/mixtures/pair_objectives.h"
#include "assay/aggregate/mixtures/simplex.h"
#include "assay/aggregate/mixtures/sublinear.h"
#include "assay/core/parallel.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/complexity.h"
#include "assay/evaluate/neighbourhoods/sensitivity.h"

namespace assay {
namespace {

struct ConvexMinOptions {
  std::string criterion = "avg_sensitivity";
  std::string per = "all";
  MixtureNeighbourOptions neighbours = {};
  double gap = 1e-6;
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    visit.choice("criterion", criterion, "whose mean over the rows is made least",
                 {"avg_sensitivity", "max_sensitivity", "complexity"});
    visit.choice("per", per, "one list of weights for all rows, or one for each row alone", {"all", "row"});
    neighbours.describe(visit);
    visit.real("gap", gap, "certified distance from the least sensitivity, relative to the best member's", "", 1e-7,
               0.1);
    scale.describe(visit);
  }
};

constexpr size_t kMostSublinearSteps = 2000;
constexpr double kLeastNormOfRow = 0.05;
constexpr std::string_view kOfShortMixtures =
    "the guarantee is about mixtures as they are, which are shorter than their members and less sensitive for that "
    "alone, not about their value after renormalising";

// The mean of the values that are numbers; NaN of none.
double mean_defined(std::span<const double> values) {
  RunningMoments moments;
  for (const double value : values) {
    if (!std::isnan(value)) moments.add(value);
  }
  return moments.mean();
}

// Of weights for all rows, or the means over rows of those of each.
struct Learnt {
  std::vector<double> weights;       // by member
  std::vector<double> own;           // by member: its value
  double value = NAN;                // of the mixture
  double renormalised = NAN;         // of the mixture after scaling to unit norm
  double bound = NAN;                // below every mixture's value
  std::vector<double> row_values{};  // of the mixture
};

void take_best_member(Learnt& learnt) {
  const auto best = static_cast<size_t>(std::ranges::min_element(learnt.own) - learnt.own.begin());
  if (learnt.own[best] <= learnt.value) learnt.weights = vertex_weights(learnt.own.size(), best);
}

std::string sentence_of(std::string_view criterion, const Learnt& learnt, const std::vector<std::string>& names) {
  const auto best = static_cast<size_t>(std::ranges::min_element(learnt.own) - learnt.own.begin());
  return fmt::format("mean {} of the mixture {:.6g}, of the best member ({}) {:.6g}", criterion, learnt.value,
                     names[best], learnt.own[best]);
}

ScoreTable table_of(std::string_view criterion, const Learnt& learnt, std::vector<std::string> names) {
  ScoreTable table{"weights", {"weight", std::string(criterion), "renormalised", "bound"}, {}, std::move(names)};
  double total = 0;
  for (size_t j = 0; j < learnt.weights.size(); j++) {
    table.rows.push_back({learnt.weights[j], learnt.own[j], learnt.own[j], NAN});
    total += learnt.weights[j];
  }
  table.rows.push_back({total, learnt.value, learnt.renormalised, learnt.bound});
  table.labels.emplace_back("mixture");
  return table;
}

void fall_back_to_mean(const Members& members, std::string reason, Combined& out, const Context& context) {
  const auto m = static_cast<double>(members.size());
  mix_all(members, std::vector<double>(members.size(), 1 / m), out, context, "convex_min");
  out.notes.push_back(std::move(reason));
}

// One run for one task and options.
class SensitivityRun {
 public:
  SensitivityRun(const ConvexMinOptions& options, const AggregateTask& task, const Members& members, Combined& out,
                 const Context& context)
      : options_(options),
        task_(task),
        members_(members),
        out_(out),
        context_(context),
        fold_(options.criterion == "max_sensitivity" ? Fold::max : Fold::mean),
        grams_(task, members, options.neighbours, context) {
    out.evaluations += grams_.evaluations();
    out.notes.push_back(grams_.description(members.rows()));
  }

  void run() {
    if (grams_.rows().empty() && options_.per == "all") {
      fall_back_to_mean(members_, "no row has a neighbour to learn weights from: equal weights", out_, context_);
      return;
    }
    options_.per == "row" ? for_each_row() : for_all_rows();
    out_.notes.emplace_back(kOfShortMixtures);
    // The pool's rows are mixed within the same radius (pool_aggregate.cpp); where weights are shared they need none.
    if (options_.per == "row") out_.tables.push_back(grams_.radius_table());
  }

 private:
  // By the criterion itself, on what is stored.
  std::vector<double> scores_of(std::span<const double> weights, const std::string& normalise) const {
    const Explanations mixed = mixed_rows(members_, weights, context_);
    PoolExplanations pool = grams_.mixed_pool(weights);
    Scores scores;
    scores.values.assign(members_.rows(), NAN);
    const Context inner = context_.quiet();
    score_in_neighbourhoods(evaluate_task(task_, mixed, &pool), grams_.neighbourhoods(),
                            options_.neighbours.criterion_options(normalise), fold_, scores, inner);
    return std::move(scores.values);
  }

  void for_all_rows() {
    const size_t m = members_.size();
    const SublinearMinimum found = minimise_sublinear(
        m,
        [&](std::span<const double> weights) {
          context_.check_cancelled();
          return mixture_sensitivity(grams_, fold_, weights, context_);
        },
        options_.gap, kMostSublinearSteps);
    Learnt learnt;
    learnt.weights = representable_weights(found.weights);
    for (size_t j = 0; j < m; j++) learnt.own.push_back(mean_defined(scores_of(vertex_weights(m, j), "raw")));
    learnt.value = mean_defined(scores_of(learnt.weights, "raw"));
    take_best_member(learnt);
    learnt.row_values = scores_of(learnt.weights, "raw");
    learnt.value = mean_defined(learnt.row_values);
    learnt.renormalised = mean_defined(scores_of(learnt.weights, "unit"));
    learnt.bound = std::min(found.bound, learnt.value);
    mix_all(members_, learnt.weights, out_, context_, "convex_min");
    const std::vector<std::string> names = member_names(task_);
    out_.notes.push_back(fmt::format(
        "{}; certified to be at most {:.2g} above the least of all mixtures{}",
        sentence_of(options_.criterion, learnt, names), learnt.value - learnt.bound,
        found.certified ? "" : fmt::format(", which is not the gap asked for: ended after {} steps", found.steps)));
    out_.tables.push_back(table_of(options_.criterion, learnt, names));
    out_.measures.push_back({options_.criterion, std::move(learnt.row_values)});
  }

  void for_each_row() {
    const size_t m = members_.size();
    const size_t rows = members_.rows();
    const UnitSensitivity renormalise(grams_);
    std::vector<double> values(rows, NAN);
    std::vector<double> bounds(rows, NAN);
    std::vector<double> renormalised(rows, NAN);
    std::vector<uint8_t> certified(rows, 0);
    Matrix64 own(m, rows);
    std::ranges::fill(own.values(), NAN);
    Matrix64 weights(rows, m);
    grams_.each_pair(
        true,
        [&](size_t i, const PairSpan& pairs) {
          context_.check_cancelled();
          const size_t r = grams_.rows()[i];
          const auto point = [&](std::span<const double> w) { return mixture_sensitivity(pairs, fold_, w); };
          const SublinearMinimum found = minimise_sublinear(m, point, options_.gap, kMostSublinearSteps);
          Learnt learnt;
          learnt.weights = representable_weights(found.weights);
          learnt.value = point(learnt.weights).value;
          for (size_t j = 0; j < m; j++) learnt.own.push_back(own(j, r) = point(vertex_weights(m, j)).value);
          take_best_member(learnt);
          values[r] = point(learnt.weights).value;
          bounds[r] = std::min(found.bound, values[r]);
          renormalised[r] = renormalise.of_row(i, pairs, fold_, learnt.weights);
          certified[r] = found.certified ? 1 : 0;
          std::ranges::copy(learnt.weights, weights.row(r).begin());
        },
        context_);
    mix_each(weights, values);
    if (grams_.rows().empty()) return;
    Learnt means;
    for (size_t j = 0; j < m; j++) {
      means.own.push_back(mean_defined(own.row(j)));
      double total = 0;
      for (const size_t r : grams_.rows()) total += weights(r, j);
      means.weights.push_back(total / static_cast<double>(grams_.rows().size()));
    }
    means.value = mean_defined(values);
    means.bound = mean_defined(bounds);
    means.renormalised = mean_defined(renormalised);
    const std::vector<std::string> names = member_names(task_);
    out_.notes.push_back(fmt::format("{}; least certified for {} of {} rows",
                                     sentence_of(options_.criterion, means, names), std::ranges::count(certified, 1),
                                     grams_.rows().size()));
    out_.tables.push_back(table_of(options_.criterion, means, names));
    out_.measures.push_back({options_.criterion, std::move(values)});
    out_.measures.push_back({"bound", std::move(bounds)});
    out_.measures.push_back({"renormalised", std::move(renormalised)});
  }

  void mix_each(const Matrix64& weights, std::span<const double> values) {
    out_.weights = Matrix(members_.rows(), members_.size());
    std::ranges::fill(out_.weights.values(), NAN);
    each_row(members_, out_, context_, "convex_min", [&](const MemberRow& row) {
      if (std::isnan(values[row.row])) return kNoNeighbour;
      store_row(weights.row(row.row), out_.weights.row(row.row));
      std::vector<double> scratch(members_.players());
      mix_row(members_, row.row, weights.row(row.row), scratch, out_.values.row(row.row));
      return std::string_view();
    });
  }

  const ConvexMinOptions& options_;
  const AggregateTask& task_;
  const Members& members_;
  Combined& out_;
  const Context& context_;
  Fold fold_;
  PairGrams grams_;
};

std::vector<double> complexities_of(MatrixView<const float> values) {
  std::vector<double> made;
  for (size_t r = 0; r < values.rows(); r++) made.push_back(complexity(values.row(r)));
  return made;
}

double mean_complexity(MatrixView<const float> values, std::span<const size_t> rows) {
  std::vector<double> found;
  for (const size_t r : rows) found.push_back(complexity(values.row(r)));
  return mean_defined(found);
}

std::vector<double> mean_complexities_of(const Members& members, std::span<const size_t> rows) {
  std::vector<double> made;
  for (size_t j = 0; j < members.size(); j++) made.push_back(mean_complexity(members.values(j).view(), rows));
  return made;
}

// Value of the mixture, which is in place; those of the members are.
void finish_complexity(const AggregateTask& task, const Members& members, std::span<const size_t> rows, Learnt& learnt,
                       Combined& out) {
  learnt.value = learnt.renormalised = mean_complexity(out.values, rows);
  const std::vector<std::string> names = member_names(task);
  out.notes.push_back(fmt::format("{} over {} of {} rows; the best that was found, not certified",
                                  sentence_of("complexity", learnt, names), rows.size(), members.rows()));
  out.tables.push_back(table_of("complexity", learnt, names));
  out.measures.push_back({"complexity", complexities_of(out.values)});
}

void learn_complexity(const AggregateTask& task, const Members& members, Combined& out, const Context& context) {
  const std::vector<size_t> rows = rows_of_nonzero_members(members);
  if (rows.empty()) {
    fall_back_to_mean(members, "no row where all members are other than zero to learn weights from: equal weights", out,
                      context);
    return;
  }
  const LeastComplexity found = search_least_complexity(members, rows, kLeastMixtureNorm, context);
  Learnt learnt;
  learnt.weights = found.weights;
  learnt.own = mean_complexities_of(members, rows);
  learnt.value = mean_complexity(mixed_rows(members, found.weights, context).values.view(), rows);
  take_best_member(learnt);
  mix_all(members, learnt.weights, out, context, "convex_min");
  finish_complexity(task, members, rows, learnt, out);
}

// Weights of one row, and its mixture.
std::vector<double> mix_simplest(const Members& members, const MemberRow& row, const Context& context,
                                 std::span<float> out) {
  const size_t m = members.size();
  std::vector<double> scratch(members.players());
  Learnt learnt;
  learnt.weights.assign(m, 1 / static_cast<double>(m));
  if (!row.nonzero.empty()) {
    learnt.weights = search_least_complexity(members, {&row.row, 1}, kLeastNormOfRow, context).weights;
    mix_row(members, row.row, learnt.weights, scratch, out);
    learnt.value = complexity(out);
    learnt.own.assign(m, INFINITY);  // a zero member has none
    for (const size_t j : row.nonzero) learnt.own[j] = complexity(members.of(j, row.row));
    take_best_member(learnt);
  }
  mix_row(members, row.row, learnt.weights, scratch, out);
  return learnt.weights;
}

void learn_complexity_of_rows(const AggregateTask& task, const Members& members, Combined& out,
                              const Context& context) {
  Context alone = context.quiet();
  alone.threads = 1;
  const size_t m = members.size();
  out.weights = Matrix(members.rows(), m);
  std::ranges::fill(out.weights.values(), NAN);
  each_row(members, out, context, "convex_min", [&](const MemberRow& row) {
    store_row(mix_simplest(members, row, alone, out.values.row(row.row)), out.weights.row(row.row));
    return std::string_view();
  });
  const std::vector<size_t> rows = rows_of_nonzero_members(members);
  if (rows.empty()) return;
  Learnt learnt;
  learnt.own = mean_complexities_of(members, rows);
  for (size_t j = 0; j < m; j++) {
    double total = 0;
    for (const size_t r : rows) total += out.weights(r, j);
    learnt.weights.push_back(total / static_cast<double>(rows.size()));
  }
  finish_complexity(task, members, rows, learnt, out);
}

class ConvexMin final : public Aggregator {
 public:
  using Options = ConvexMinOptions;

  explicit ConvexMin(Options options) : options_(std::move(options)) {}

  AggregateNeeds needs(const AggregateNeeds& by_default) const override {
    if (options_.criterion == "complexity") return {.members = by_default.members};
    return by_default;
  }

  bool scales_to_output() const override { return options_.scale.to_output(); }

  void combine(const AggregateTask& task, const Members& members, Combined& out,
               const Context& context) const override {
    if (options_.criterion != "complexity") {
      SensitivityRun(options_, task, members, out, context).run();
    } else if (options_.per == "row") {
      learn_complexity_of_rows(task, members, out, context);
    } else {
      learn_complexity(task, members, out, context);
    }
  }

 private:
  Options options_;
};

}  // namespace

AggregatorInfo convex_min_aggregator() {
  return with_aggregator_options<ConvexMin>(
      {.name = "convex_min",
       .title = "Convex weights learnt to make sensitivity or complexity least",
       .family = "convex",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "the mean over the rows of the criterion is at most that of every member; for sensitivities within "
                    "a certified gap of the least of all mixtures",
       .cost = "m^2 d / 2 operations for each pair of neighbours, then m^2 in each of tens to hundreds of steps",
       .needs = {.members = 1, .model = true, .pool = true, .pool_members = true},
       .learns_weights = true});
}

}  // namespace assay
