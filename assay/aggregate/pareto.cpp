// The trade-off between three criteria: the Pareto front of mixtures phi_w(x) = sum over j of w_j g_j(x) with convex
// weights w, for high faithfulness, low average sensitivity and low complexity (means over the rows). Members and other
// aggregates are compared with it. One mixture of the front is the result. The paper (Bhatt, Weller, Moura 2020,
// Section 6) leaves open how to lower sensitivity and complexity together and how to aggregate for faithfulness.
//
// About `points` weights are tried: vertices, a lattice, then finer steps around those on the front. For each of them
// - faithfulness comes from covariances of a game that is played once (mixtures/subset_moments.h),
// - sensitivity from one Gram matrix for each pair of neighbours (mixtures/pair_objectives.h). All explanations are
//   scaled to unit norm first: mixtures are shorter than their members, and that is not stability,
// - complexity from the values.
// They are what the criteria say of the mixture, up to the rounding of stored values to float32.
//
// Each mean is over the rows where the criterion is defined for every member. Weights that make one of these rows
// nearly zero (norm below 1e-4) or its sums constant cannot be on the front; a note counts them. Differences up to 1e-7
// do not count (for sensitivities divided by rho, 1e-7 times the mean of 1 / rho), because values are exact to about
// 1e-8. No mixture that was tried dominates one of the front; between those tried there may be better ones.
// Cost: the game once; for each of the weights m^2 operations for each pair and m d for each row. With others = true
// also the other aggregates, of the neighbours too, which may take far longer; above 100 players kemeny_young and
// minimum_complexity are left out, and a note says so.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/aggregators.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/members.h"
#include "assay/aggregate/mixtures/front.h"
#include "assay/aggregate/mixtures/mixture_rows.h"
#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/aggregate/mixtures/pair_objectives.h"
#include "assay/aggregate/mixtures/simplex.h"
#include "assay/aggregate/mixtures/subset_moments.h"
#include "assay/core/error.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/complexity.h"
#include "assay/evaluate/kernels/entropy.h"
#include "assay/evaluate/neighbourhoods/sensitivity.h"
#include "assay/evaluate/subsets/subset_correlation.h"

namespace assay {
namespace {

struct ParetoOptions {
  int64_t points = 2000;
  std::string pick = "knee";
  bool others = true;
  std::optional<int64_t> subset = {};
  int64_t budget = 4096;
  int64_t samples = 1000;
  MixtureNeighbourOptions neighbours = {};
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    visit.integer("points", points, "about how many mixtures are tried", "mixtures", 1, 1'000'000);
    visit.choice("pick", pick,
                 "which mixture of the front is the result: nearest to the ideal point after scaling each criterion "
                 "to its range over the front, or the best by one criterion",
                 {"knee", "faithfulness", "sensitivity", "complexity"});
    visit.flag("others", others, "whether the other aggregates are placed beside the front");
    visit.integer_or("subset", subset, "auto", "players that are removed together; auto: half of them", "players", 1,
                     1'000'000);
    visit.integer("budget", budget, "all subsets are taken when there are at most so many", "subsets", 0, 1'000'000);
    visit.integer("samples", samples, "random subsets beyond the budget", "subsets", 50, 100'000);
    neighbours.describe(visit);
    scale.describe(visit);
  }
};

// Mixtures judged at once, and numbers kept for them.
constexpr size_t kMixturesAtOnce = 64;
constexpr size_t kJudgementsAtOnce = size_t{1} << 23;
// Above so many players these are not made for all neighbours: each row may take seconds.
constexpr size_t kMostPlayersOfSlow = 100;
constexpr std::array<std::string_view, 2> kSlowOthers = {"kemeny_young", "minimum_complexity"};
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

size_t subset_size(const std::optional<int64_t>& subset, size_t players) {
  return subset ? static_cast<size_t>(*subset) : half_of(players);
}

// Another aggregate of the same members.
struct Other {
  std::string name;
  Aggregate made;
  double avg_sensitivity = NAN;
  bool everywhere = true;  // defined on all rows of the means
};

// A mean over rows; whether all are numbers.
struct PartialMean {
  RunningMoments moments = {};
  bool whole = true;
  void add(double value) { std::isfinite(value) ? moments.add(value) : static_cast<void>(whole = false); }
};

class ParetoRun {
 public:
  ParetoRun(const ParetoOptions& options, const AggregateTask& task, const Members& members, Combined& out,
            const Context& context)
      : options_(options),
        task_(task),
        members_(members),
        out_(out),
        context_(context),
        grams_(task, members, options.neighbours, context),
        sensitivity_(grams_),
        design_(make_subsets(members.players(), subset_size(options.subset, members.players()),
                             static_cast<size_t>(options.budget), static_cast<size_t>(options.samples), "faithfulness",
                             context)),
        rows_(rows_of_nonzero_members(members)) {}

  void run() {
    if (options_.others) make_others();
    std::vector<const Matrix*> values;
    for (const Other& other : others_) values.push_back(&other.made.explanations.values);
    moments_ = subset_moments(task_, members_, design_, values, context_);
    faithful_.assign(members_.rows(), kNowhere);
    for (size_t i = 0; i < moments_.rows.size(); i++) faithful_[moments_.rows[i]] = i;
    out_.evaluations += grams_.evaluations() + moments_.evaluations;
    note_rows();

    if (!grams_.rows().empty()) resolution_[1] *= sensitivity_.scale(context_);
    search_ = search_front(
        members_.size(), static_cast<size_t>(options_.points),
        [&](std::span<const std::vector<double>> weights, std::vector<TradeOff>& found, std::vector<bool>& valid) {
          judge(weights, found, valid);
        },
        resolution_, context_);
    find_front();
    const size_t picked = pick();
    mix_all(members_, search_.weights[front_[picked]], out_, context_, "pareto");
    tell(picked);
  }

 private:
  void make_others() {
    for (const AggregatorInfo& info : aggregators()) {
      if (info.name == "pareto" || info.name == "ava") continue;
      const Spec spec{info.name};
      if (members_.players() > kMostPlayersOfSlow && std::ranges::find(kSlowOthers, info.name) != kSlowOthers.end()) {
        out_.notes.push_back(fmt::format("{} is not placed: it takes too long with more than {} players", info.name,
                                         kMostPlayersOfSlow));
        continue;
      }
      if (aggregator_refusal(spec, task_)) continue;
      try {
        others_.push_back(other_of(spec));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        out_.notes.push_back(fmt::format("{} is not placed: {}", info.name, error.what()));
      }
    }
  }

  Other other_of(const Spec& spec) {
    Other made{spec.name, aggregate(spec, task_, context_)};
    PoolExplanations pool = aggregate_of_pool(spec, task_, made.made);
    const EvaluateTask task = evaluate_task(task_, made.made.explanations, &pool);
    explain_neighbours(task, grams_.neighbourhoods(), context_);
    Scores scores;
    scores.values.assign(task.rows(), NAN);
    score_in_neighbourhoods(task, grams_.neighbourhoods(), options_.neighbours.criterion_options("unit"), Fold::mean,
                            scores, context_);
    PartialMean mean;
    for (const size_t r : grams_.rows()) mean.add(scores.values[r]);
    made.avg_sensitivity = mean.moments.mean();
    made.everywhere = mean.whole;
    out_.evaluations += made.made.explanations.evaluations;
    return made;
  }

  void judge(std::span<const std::vector<double>> tried, std::vector<TradeOff>& found, std::vector<bool>& valid) {
    const size_t at_once =
        std::clamp<size_t>(kJudgementsAtOnce / std::max<size_t>(1, members_.rows()), 1, kMixturesAtOnce);
    for (size_t first = 0; first < tried.size(); first += at_once) {
      context_.check_cancelled();
      const size_t here = std::min(at_once, tried.size() - first);
      Matrix64 weights(here, members_.size());
      for (size_t t = 0; t < here; t++) std::ranges::copy(tried[first + t], weights.row(t).begin());
      judge_some(weights, found, valid);
    }
  }

  void judge_some(const Matrix64& weights, std::vector<TradeOff>& found, std::vector<bool>& valid) {
    const size_t tried = weights.rows();
    std::vector<std::vector<double>> products;
    for (size_t t = 0; t < tried; t++) products.push_back(packed_products(weights.row(t)));
    Matrix64 complexities(rows_.size(), tried);
    Matrix64 correlations(moments_.rows.size(), tried);
    each_mixture(
        members_, rows_, weights.view(),
        [&](size_t i, size_t first, MatrixView<const float> mixed) {
          row_entropies(mixed.data(), mixed.rows(), mixed.cols(), &complexities(i, first));
          const size_t faithful = faithful_[rows_[i]];
          for (size_t k = 0; k < mixed.rows(); k++) {
            const size_t t = first + k;
            double square = 0;
            for (const float each : mixed.row(k)) square += static_cast<double>(each) * each;
            if (square < kLeastMixtureNorm * kLeastMixtureNorm) complexities(i, t) = NAN;
            if (faithful == kNowhere) continue;
            const bool varies = subset_attribution_state(mixed.row(k)) == SubsetState::defined;
            correlations(faithful, t) = varies
                                            ? mixture_faithfulness(moments_, faithful, weights.row(t), products[t],
                                                                   subset_side_rounding(design_, mixed.row(k), 0).sums)
                                            : NAN;
          }
        },
        context_);
    const auto mean_of_column = [](const Matrix64& values, size_t t) {
      RunningMoments moments;
      for (size_t i = 0; i < values.rows(); i++) moments.add(values(i, t));
      return moments.mean();
    };
    const std::vector<double> sensitivities =
        grams_.rows().empty() ? std::vector<double>(tried, NAN) : sensitivity_.means(weights.view(), context_);
    for (size_t t = 0; t < tried; t++) {
      const TradeOff made{mean_of_column(correlations, t), sensitivities[t], mean_of_column(complexities, t)};
      found.push_back(made);
      valid.push_back((moments_.rows.empty() || !std::isnan(made.faithfulness)) &&
                      (rows_.empty() || !std::isnan(made.complexity)));
    }
  }

  void find_front() {
    std::vector<size_t> judged;
    std::vector<TradeOff> valid;
    for (size_t i = 0; i < search_.found.size(); i++) {
      if (!search_.valid[i]) continue;
      judged.push_back(i);
      valid.push_back(search_.found[i]);
    }
    levels_.resize(search_.found.size());
    const std::vector<Levels> levels = levels_of(valid, resolution_);
    for (size_t i = 0; i < judged.size(); i++) levels_[judged[i]] = levels[i];
    for (const size_t i : front_of(valid, resolution_, context_)) front_.push_back(judged[i]);
    std::ranges::stable_sort(front_, {}, [&](size_t i) { return levels_[i]; });
    out_.notes.push_back(fmt::format(
        "{} mixtures tried, {} of them on the front{}", search_.found.size(), front_.size(),
        judged.size() == search_.found.size()
            ? std::string()
            : fmt::format("; {} left out: members cancel on some row", search_.found.size() - judged.size())));
  }

  size_t pick() const {
    if (options_.pick == "knee") return knee_of(search_.found, front_, resolution_);
    const auto criterion = options_.pick == "faithfulness" ? 0U : options_.pick == "sensitivity" ? 1U : 2U;
    const auto best = std::ranges::min_element(front_, {}, [&](size_t i) { return levels_[i][criterion]; });
    return static_cast<size_t>(best - front_.begin());
  }

  void note_rows() {
    out_.notes.push_back(grams_.description(members_.rows()));
    out_.notes.push_back(fmt::format(
        "means over the rows where all members are defined: faithfulness {}, sensitivity {}, complexity {} of {}",
        moments_.rows.size(), grams_.rows().size(), rows_.size(), members_.rows()));
    out_.notes.push_back(fmt::format("faithfulness over {}; sensitivity is that of explanations scaled to unit norm",
                                     design_.description()));
  }

  bool dominated(const TradeOff& placed) const {
    return std::ranges::any_of(front_, [&](size_t i) { return dominates(search_.found[i], placed, resolution_); });
  }

  void tell(size_t picked) {
    const std::vector<std::string> names = member_names(task_);
    ScoreTable front{"front", {}, {}};
    for (const std::string& name : names) front.columns.push_back(fmt::format("weight of {}", name));
    for (const char* column : {"faithfulness", "avg_sensitivity", "complexity", "picked"}) {
      front.columns.emplace_back(column);
    }
    for (size_t k = 0; k < front_.size(); k++) {
      const TradeOff& at = search_.found[front_[k]];
      std::vector<double>& row = front.rows.emplace_back(search_.weights[front_[k]]);
      row.insert(row.end(), {at.faithfulness, at.avg_sensitivity, at.complexity, k == picked ? 1.0 : 0.0});
    }
    out_.tables.push_back(std::move(front));

    ScoreTable placed{"placed", {"faithfulness", "avg_sensitivity", "complexity", "dominated"}, {}};
    const auto place = [&](const std::string& name, const TradeOff& at, bool comparable) {
      placed.labels.push_back(name);
      const double flag = comparable ? (dominated(at) ? 1.0 : 0.0) : NAN;
      placed.rows.push_back({at.faithfulness, at.avg_sensitivity, at.complexity, flag});
    };
    for (size_t j = 0; j < members_.size(); j++) {
      const std::vector<double> vertex = vertex_weights(members_.size(), j);
      const auto at = std::ranges::find(search_.weights, vertex) - search_.weights.begin();
      place(names[j], search_.found[static_cast<size_t>(at)], true);
    }
    std::vector<std::string> elsewhere;
    for (size_t k = 0; k < others_.size(); k++) {
      PartialMean faithfulness;
      PartialMean complexities;
      for (const size_t r : moments_.rows) faithfulness.add(moments_.others(r, k));
      for (const size_t r : rows_) complexities.add(complexity(others_[k].made.explanations.values.row(r)));
      const bool comparable = others_[k].everywhere && faithfulness.whole && complexities.whole;
      if (!comparable) elsewhere.push_back(others_[k].name);
      place(others_[k].name, {faithfulness.moments.mean(), others_[k].avg_sensitivity, complexities.moments.mean()},
            comparable);
    }
    if (!elsewhere.empty()) {
      out_.notes.push_back(
          fmt::format("not compared with the front, since undefined on some of its rows: {}", joined(elsewhere)));
    }
    out_.tables.push_back(std::move(placed));
  }

  const ParetoOptions& options_;
  const AggregateTask& task_;
  const Members& members_;
  Combined& out_;
  const Context& context_;
  PairGrams grams_;
  UnitSensitivity sensitivity_;
  SubsetDesign design_;
  std::vector<size_t> rows_;  // of complexity's mean
  SubsetMoments moments_ = {};
  std::vector<size_t> faithful_;  // by row: its place in moments_.rows
  std::vector<Other> others_;
  Resolution resolution_ = kUnitResolution;
  FrontSearch search_;
  std::vector<Levels> levels_;  // of all that are valid in search_
  std::vector<size_t> front_;   // in search_, best faithfulness first
};

class Pareto final : public Aggregator {
 public:
  using Options = ParetoOptions;

  explicit Pareto(Options options) : options_(std::move(options)) {}

  std::optional<Refusal> refuses(const AggregateTask& task) const override {
    if (task.members.empty()) return {};
    const size_t players = task.members[0]->players();
    if (players < 2) return fmt::format("needs two players or more, and there is {}", players);
    if (const size_t size = subset_size(options_.subset, players); size >= players) {
      return fmt::format("needs a subset smaller than the {} players, and subset is {}", players, size);
    }
    return {};
  }

  bool scales_to_output() const override { return options_.scale.to_output(); }

  void combine(const AggregateTask& task, const Members& members, Combined& out,
               const Context& context) const override {
    ParetoRun(options_, task, members, out, context).run();
  }

 private:
  Options options_;
};

StudyDefaults pareto_defaults(const Subject& /*subject*/, bool /*named*/) {
  return {.options = {{"others", "false", "the study scores the other aggregates itself"}}};
}

}  // namespace

AggregatorInfo pareto_aggregator() {
  return with_aggregator_options<Pareto>(
      {.name = "pareto",
       .title = "The mixture picked from the front of faithfulness, sensitivity and complexity",
       .family = "trade-off",
       .citation = "Bhatt, Weller, Moura (2020), open question",
       .guarantee = "no mixture that was tried is at least as good in all three means over the rows and better in one",
       .cost = "a game value for each subset, row and reference row; then m^2 operations for each pair of neighbours "
               "and m d for each row, for each of the mixtures; the other aggregates where they are placed",
       .needs = {.members = 1, .model = true, .reference = true, .pool = true, .pool_members = true},
       .learns_weights = true,
       .study_defaults = pareto_defaults});
}

}  // namespace assay
