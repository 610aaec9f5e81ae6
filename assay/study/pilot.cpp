#include "assay/study/pilot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/study/scoring.h"
#include "assay/study/study_radii.h"

namespace assay {
namespace {

constexpr size_t kTrialGrowth = 8;
constexpr size_t kShareOfRows = 8;     // no trial has more than this part of the rows
constexpr double kLongTrial = 0.02;    // seconds: long enough to extrapolate from
constexpr double kNegligible = 0.002;  // seconds for all rows: not worth another trial
constexpr double kShareOfTrial = 0.2;  // of what is left for trials, which one of them may take
constexpr size_t kTimedEvaluations = 16384;
constexpr size_t kModelGrowth = 4;
constexpr double kFasterGame = 50;
constexpr double kBesideModel = 1.25;  // what else a method does for a row, where evaluations take most of the time
// Coalitions that scoring or aggregating one row with the model may take, if nothing better is known.
constexpr double kUnknownCoalitions = 1000;
constexpr size_t kNeighboursOfRow = 10;  // in neighbourhoods of the study's own radius, about
constexpr size_t kNeighboursOfCurves = 40;

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How many rows of the pool an aggregator explains for one row: its option k, if it has one.
double neighbours_of(const Spec& spec, const AggregatorInfo& info) {
  std::string count = "1";
  for (const OptionInfo& option : info.options) {
    if (option.name == "k") count = option.value;
  }
  for (const auto& [name, value] : spec.options) {
    if (name == "k") count = value;
  }
  double number = 1;
  std::from_chars(count.data(), count.data() + count.size(), number);
  return std::max(number, 1.0);
}

}  // namespace

Spec with_fewer_samples(const Spec& method, size_t divisor, size_t players) {
  const SampleCount& count = find_method(method.name).samples;
  const auto named = [&](const auto& option) { return option.first == count.option; };
  if (divisor <= 1 || count.option.empty() || std::ranges::any_of(method.options, named)) return method;
  const std::vector<OptionInfo>& options = find_method(method.name).options;
  const auto option = std::ranges::find(options, count.option, &OptionInfo::name);
  if (option == options.end()) return method;
  size_t usual = 0;
  std::from_chars(option->value.data(), option->value.data() + option->value.size(), usual);
  const size_t fewer = std::max({usual / divisor, count.least, count.least_of_player * players});
  if (fewer >= usual) return method;
  Spec made = method;
  made.options.emplace_back(count.option, fmt::format("{}", fewer));
  return made;
}

// The first rows of a subject.
struct StudyPilot::FirstRows {
  Dataset data;
  Targets targets;
  Subject subject;

  FirstRows(const Subject& whole, size_t count) : subject(whole) {
    std::vector<size_t> first(count);
    std::iota(first.begin(), first.end(), size_t{0});
    data = select_rows(*whole.rows, first);
    targets = slice_targets(*whole.targets, 0, count);
    subject.rows = &data;
    subject.targets = &targets;
    if (!whole.in_pool.empty()) subject.in_pool = whole.in_pool.first(count);
  }
  FirstRows(const FirstRows&) = delete;
  FirstRows& operator=(const FirstRows&) = delete;
};

// What two trials of different sizes tell.
struct StudyPilot::Fit {
  LinearCost cost;
  size_t rows = 0;  // of the larger one

  void add(size_t count, double seconds, size_t before, double seconds_before) {
    rows = count;
    cost = {0, seconds / static_cast<double>(count)};
    if (before == 0) return;
    const double each = (seconds - seconds_before) / static_cast<double>(count - before);
    cost.each = std::max(each, 0.0);
    cost.fixed = std::max(seconds - cost.each * static_cast<double>(count), 0.0);
  }

  // One row alone does not tell what every call of the model costs from what its rows cost. seconds: what a row of a
  // large batch takes by the model; 0 if that is not known.
  void split_single_row(double seconds) {
    if (rows > 1 || seconds <= 0 || kBesideModel * seconds >= cost.each) return;
    cost = {cost.each - kBesideModel * seconds, kBesideModel * seconds};
  }
};

StudyPilot::StudyPilot(const Subject& subject, double allowed, const Context& context)
    : context_(context.quiet()),
      model_(*subject.model, subject.rows->x.view(), subject.pool->x.view()),
      subject_(subject),
      allowed_(allowed) {
  subject_.model = &model_;
  costs_.rows = subject.rows->rows();
  costs_.background = std::max<size_t>(subject.reference->rows.rows(), 1);
  costs_.pool = subject.pool->rows();
  for (const Reference& other : subject.other_references) {
    costs_.other_references++;
    costs_.other_background += other.rows.rows();
  }
  time_model();
}

double StudyPilot::left() const { return std::max(allowed_ - spent_, 0.0); }

double StudyPilot::one_trial() const { return std::max(kShareOfTrial * left(), std::min(kLongTrial, allowed_ / 50)); }

// trial(rows) returns one or more times in seconds. Runs it with growing numbers of rows, as long as whole trials are
// short, and returns the cost behind each of the times. wanted: how many rows the study will do this for.
template <class Trial>
std::vector<StudyPilot::Fit> StudyPilot::measure(size_t wanted, const Trial& trial) {
  const auto timed = [&](size_t rows) {
    const double start = clock_seconds();
    std::vector<double> found = trial(rows);
    found.push_back(clock_seconds() - start);  // the whole trial comes last
    spent_ += found.back();
    return found;
  };
  const size_t all = costs_.rows;
  const size_t most = std::clamp<size_t>(wanted / kShareOfRows, std::min<size_t>(2, all), std::max<size_t>(all, 1));
  // The shortest of three short trials: the first one also pays for memory and threads that later ones find ready, and
  // other programs interrupt.
  const auto shortest = [&](size_t count) {
    std::vector<double> best = timed(count);
    for (int again = 0; again < 2 && best.back() < std::max(kLongTrial, one_trial() / 8); again++) {
      const std::vector<double> found = timed(count);
      if (found.back() < best.back()) best = found;
    }
    return best;
  };
  size_t rows = 1;
  std::vector<double> seconds = shortest(rows);
  std::vector<Fit> fits(seconds.size());
  for (size_t i = 0; i < fits.size(); i++) fits[i].add(rows, seconds[i], 0, 0);
  const auto expected = [&](size_t count) { return fits.back().cost.at(static_cast<double>(count)); };
  // Eight times the rows, or twice as many if even that much is too long as far as is known.
  while (rows < most && expected(wanted) >= kNegligible) {
    size_t next = std::min(rows * kTrialGrowth, most);
    if (expected(next) > one_trial()) next = std::min(rows * 2, most);
    // Two rows tell what one costs from what every trial costs: without that, all of it would be taken for each row's.
    if (expected(next) > (rows == 1 ? std::max(one_trial(), kShareOfTrial * allowed_) : one_trial())) break;
    const std::vector<double> more = shortest(next);
    for (size_t i = 0; i < fits.size(); i++) fits[i].add(next, more[i], rows, seconds[i]);
    seconds = more;
    rows = next;
  }
  fits.pop_back();
  return fits;
}

void StudyPilot::time_model() {
  const size_t outputs = model_.info().outputs();
  const auto predicted = [&](size_t rows) {
    Matrix made(rows, outputs);
    const Matrix copied = select_rows(*subject_.rows, std::vector<size_t>(rows, 0)).x;
    const double start = clock_seconds();
    model_.predict(copied.view(), made.view(), context_);
    const double seconds = clock_seconds() - start;
    spent_ += seconds;
    return seconds;
  };
  const auto shortest = [&](size_t rows) {
    double best = predicted(rows);
    for (int again = 0; again < 4 && best < kLongTrial; again++) best = std::min(best, predicted(rows));
    return best;
  };
  // A call may cost more than the rows in it: batches grow while they are quick.
  size_t rows = 1;
  double seconds = shortest(rows);
  while (rows < kTimedEvaluations && seconds * kModelGrowth < std::min(kLongTrial * 4, one_trial())) {
    rows *= kModelGrowth;
    seconds = shortest(rows);
  }
  evaluation_ = seconds / static_cast<double>(rows);
  const auto pool = static_cast<double>(costs_.pool);
  slow_pool_ = evaluation_ * pool > left() / 4;
  costs_.preparing = evaluation_ * pool;
  if (slow_pool_) return;
  // Now, because the model remembers them: the first trial would seem to need them for its one row.
  Matrix made(costs_.pool, outputs);
  const double start = clock_seconds();
  model_.predict(subject_.pool->x.view(), made.view(), context_);
  costs_.preparing = clock_seconds() - start;
  spent_ += costs_.preparing;
}

// Games of a model whose first layer is affine, or that is made of trees, do not run the whole model.
bool StudyPilot::has_fast_games() const { return model_.affine_entry() != nullptr || model_.tree_scores() != nullptr; }

// What evaluations of the model take in large batches; 0 if games do not run the whole model.
double StudyPilot::seconds_in_batches(double evaluations) const {
  return has_fast_games() ? 0 : evaluations * evaluation_;
}

void StudyPilot::try_method(const Spec& method, bool named) {
  const MethodInfo& info = find_method(method.name);
  MethodCost cost;
  cost.named = named;
  cost.uses_reference = info.uses_reference;
  cost.other_seed = info.sampled;
  cost.estimated = info.shapley && !info.sampled;
  explained_.emplace_back();
  const FirstRows one(subject_, 1);
  const ExplainTask task = explain_task_of(one.subject);
  const std::optional<uint64_t> known = info.make(method)->known_evaluations(task);
  for (size_t i = 1; known && i < kSampleDivisors.size(); i++) {
    const Spec fewer = with_fewer_samples(method, kSampleDivisors[i], subject_.players->size());
    const std::optional<uint64_t> left = info.make(fewer)->known_evaluations(task);
    cost.of_samples[i] = left ? static_cast<double>(*left) / static_cast<double>(*known) : 1;
  }
  const double expected = known ? static_cast<double>(*known) * evaluation_ / (has_fast_games() ? kFasterGame : 1) : 0;
  if (expected > 4 * one_trial()) {
    cost.explaining.each = expected;
    evaluations_.methods.push_back(static_cast<double>(*known));
    costs_.methods.push_back(cost);
    return;
  }
  double evaluations = 0;
  // In batches a row takes less time, and rows of the pool may be most of the work.
  Fit fit = measure(costs_.rows + costs_.pool_near, [&](size_t rows) {
    const FirstRows first(subject_, rows);
    const double start = clock_seconds();
    Explanations made = explain(method, first.subject, context_);
    const double seconds = clock_seconds() - start;
    evaluations = static_cast<double>(made.evaluations) / static_cast<double>(rows);
    explained_.back().insert_or_assign(rows, std::move(made));
    return std::vector<double>{seconds};
  })[0];
  fit.split_single_row(seconds_in_batches(evaluations));
  cost.explaining = fit.cost;
  evaluations_.methods.push_back(evaluations);
  costs_.methods.push_back(cost);
}

// Explanations of the first rows by some method; made up if no method was tried with so many.
Explanations StudyPilot::any_explanations(size_t rows) const {
  for (const auto& made : explained_) {
    if (const auto found = made.find(rows); found != made.end()) return found->second;
  }
  Explanations made;
  made.values = Matrix(rows, subject_.players->size());
  for (size_t r = 0; r < rows; r++) {
    const auto values = made.values.row(r);
    for (size_t i = 0; i < values.size(); i++) values[i] = 0.1F * static_cast<float>((i * 5 + r * 3) % 13) - 0.5F;
  }
  made.features = subject_.players->names;
  made.target = slice_targets(*subject_.targets, 0, rows).of_row;
  made.target_names = subject_.targets->names;
  made.base.assign(rows, 0);
  made.output.assign(rows, 0);
  made.gap.assign(rows, 0);
  return made;
}

Explanations StudyPilot::member(size_t method, size_t rows) const {
  if (const auto found = explained_[method].find(rows); found != explained_[method].end()) return found->second;
  Explanations made = any_explanations(rows);
  // Members must not be equal: many aggregates of equal ones are found at once.
  for (size_t r = 0; r < rows; r++) {
    const auto values = made.values.row(r);
    for (size_t i = 0; i < values.size(); i++) {
      values[i] *= 1 + 0.05F * static_cast<float>((i * 7 + method * 3 + r) % 11);
    }
  }
  return made;
}

// Explanations that cost nothing, for criteria and aggregators that compare with those of the pool.
PoolExplanations StudyPilot::made_up_pool(const Explanations& like) const {
  return {costs_.pool, like.values.cols(), [&like](std::span<const size_t> rows, const Context&) {
            Matrix made(rows.size(), like.values.cols());
            for (size_t i = 0; i < rows.size(); i++) {
              const auto from = like.values.row(rows[i] % like.values.rows());
              const auto to = made.row(i);
              for (size_t j = 0; j < to.size(); j++) {
                to[j] = from[j] * (1 + 0.002F * static_cast<float>((rows[i] * 31 + j * 17) % 101));
              }
            }
            return made;
          }};
}

// How many rows of the pool each method explains.
void StudyPilot::count_pool(const StudyPlan& plan, PoolExplanations& counted) {
  costs_.pool_drawn = counted.explained();
  const auto sensitivity = std::ranges::find_if(plan.criteria, [](const Spec& spec) {
    const CriterionRole role = find_criterion(spec.name).role;
    return role == CriterionRole::stability || role == CriterionRole::largest_change;
  });
  const bool curves = plan.options.curves;
  costs_.pool_near = costs_.pool_drawn;
  if (sensitivity != plan.criteria.end() && slow_pool_) {
    costs_.pool_near = std::min(costs_.pool, costs_.rows * kNeighboursOfRow / 2);
    costs_.pool_farther = curves ? std::min(costs_.pool, costs_.rows * kNeighboursOfCurves / 2) : costs_.pool_near;
    return;
  }
  if (sensitivity != plan.criteria.end()) {
    StudyNeighbourhoods found = study_neighbourhoods(subject_, *sensitivity, curves, context_);
    Explanations blank;
    blank.values = Matrix(costs_.rows, subject_.players->size());
    const EvaluateTask task{.explanations = blank, .subject = subject_, .pool_explanations = &counted};
    explain_neighbours(task, found.around, context_);
    costs_.pool_near = counted.explained();
    if (!found.radii.empty()) found.around.set_radius(found.radii.back());
    explain_neighbours(task, found.around, context_);
  }
  costs_.pool_farther = counted.explained();
}

void StudyPilot::try_scoring(const StudyPlan& plan) {
  const auto uses_pool = [](const Spec& spec) {
    const CriterionInfo& info = find_criterion(spec.name);
    const Needs needs = info.make(spec)->needs(info.needs);
    return needs.pool || needs.pool_explanations;
  };
  StudyPlan tried;
  tried.options = plan.options;
  for (const Spec& spec : plan.criteria) {
    const CriterionInfo& info = find_criterion(spec.name);
    const Needs needs = info.make(spec)->needs(info.needs);
    if (needs.explainer) costs_.explained_again++;
    if (!needs.explainer && !needs.trainer && !(slow_pool_ && uses_pool(spec))) tried.criteria.push_back(spec);
  }
  LinearCost plain;
  for (const bool curves : {false, true}) {
    if (curves && !plan.options.curves) continue;
    tried.options.curves = curves;
    // Without a trial: as if curves took twice as long as all criteria.
    if (curves && 3 * (plain.at(1) + costs_.shared.at(1)) > one_trial()) {
      costs_.curves = {2 * plain.fixed, 2 * plain.each};
      costs_.shared_curves = {2 * costs_.shared.fixed, 2 * costs_.shared.each};
      evaluations_.curves = 2 * evaluations_.scoring;
      continue;
    }
    double evaluations = 0;
    double shared_evaluations = 0;
    // Two times: what is done once for all entries, by the first of them, and what each entry pays for.
    std::vector<Fit> fits = measure(costs_.rows, [&](size_t rows) {
      const FirstRows first(subject_, rows);
      const Explanations made = any_explanations(rows);
      PoolExplanations pool = made_up_pool(made);
      std::vector<double> at = {clock_seconds()};
      Scoring scoring = prepare_scoring(first.subject, tried, context_);
      const EvaluateTask task{.explanations = made,
                              .subject = first.subject,
                              .pool_explanations = slow_pool_ ? nullptr : &pool,
                              .method_seed = made.provenance.seed,
                              .subset_values = &scoring.subset_values.front()};
      at.push_back(clock_seconds());
      for (int entry = 0; entry < 2; entry++) {
        StudyEntry scored{.name = "", .stem = "", .explanations = {}, .scores = {}};
        score_entry(scoring, task, task, entry == 0, scored, context_);
        at.push_back(clock_seconds());
        shared_evaluations = evaluations;
        uint64_t of_pool = 0;
        for (size_t c = 0; c < tried.criteria.size(); c++) {
          if (uses_pool(tried.criteria[c])) of_pool += scored.scores[c].evaluations;
        }
        evaluations_.pool = static_cast<double>(of_pool);
        evaluations = static_cast<double>(scored.evaluations - of_pool) / static_cast<double>(rows);
      }
      shared_evaluations -= evaluations;
      if (rows == 1 && !curves) count_pool(plan, pool);
      const double prepared = at[1] - at[0];
      const double first_entry = at[2] - at[1];
      const double each_entry = at[3] - at[2];
      return std::vector<double>{prepared + std::max(first_entry - each_entry, 0.0), each_entry};
    });
    fits[0].split_single_row(seconds_in_batches(shared_evaluations));
    fits[1].split_single_row(seconds_in_batches(evaluations));
    const auto beyond = [](const LinearCost& with, const LinearCost& without) {
      return LinearCost{std::max(with.fixed - without.fixed, 0.0), std::max(with.each - without.each, 0.0)};
    };
    if (!curves) {
      costs_.shared = fits[0].cost;
      plain = costs_.scoring = fits[1].cost;
      evaluations_.scoring = evaluations;
    } else {
      costs_.shared_curves = beyond(fits[0].cost, costs_.shared);
      costs_.curves = beyond(fits[1].cost, plain);
      evaluations_.curves = std::max(evaluations - evaluations_.scoring, 0.0);
    }
  }
}

// The two criteria that variations are scored by.
void StudyPilot::try_variation(const StudyPlan& plan) {
  StudyPlan tried;
  tried.options.curves = false;
  for (const CriterionRole role : {CriterionRole::faithfulness, CriterionRole::simplicity}) {
    const auto found = std::ranges::find(plan.criteria, role, [](const Spec& spec) { return role_of(spec.name); });
    if (found != plan.criteria.end()) tried.criteria.push_back(*found);
  }
  if (tried.criteria.empty()) return;
  costs_.varied =
      measure(costs_.rows,
              [&](size_t rows) {
                const FirstRows first(subject_, rows);
                const Explanations made = any_explanations(rows);
                Scoring scoring = prepare_scoring(first.subject, tried, context_);
                const EvaluateTask task{
                    .explanations = made, .subject = first.subject, .subset_values = &scoring.subset_values.front()};
                double start = 0;
                // The values of the game are shared by all methods, so the second entry tells what one takes.
                for (const bool first_entry : {true, false}) {
                  StudyEntry scored{.name = "", .stem = "", .explanations = {}, .scores = {}};
                  start = clock_seconds();
                  score_entry(scoring, task, task, first_entry, scored, context_);
                }
                return std::vector<double>{clock_seconds() - start};
              })[0]
          .cost;
}

void StudyPilot::try_aggregates(const StudyPlan& plan) {
  for (const PlannedEntry& entry : plan.entries) {
    if (entry.kind == EntryKind::method) continue;
    const AggregatorInfo& info = find_aggregator(entry.spec.name);
    const AggregateNeeds needs = info.make(entry.spec)->needs(info.needs);
    const double coalition = evaluation_ * static_cast<double>(costs_.background);
    const bool slow = (needs.model && kUnknownCoalitions * coalition > 2 * left() * kShareOfTrial) ||
                      ((needs.pool || needs.pool_members) && slow_pool_);
    if (slow) {
      const double each = needs.model ? kUnknownCoalitions * coalition : 0;
      costs_.aggregates.push_back({.combining = {0, each}});
      evaluations_.aggregates.push_back(needs.model ? kUnknownCoalitions * static_cast<double>(costs_.background) : 0);
      continue;
    }
    double evaluations = 0;
    const Fit fit = measure(costs_.rows, [&](size_t rows) {
      const FirstRows first(subject_, rows);
      std::vector<Explanations> made;
      if (needs.members > 0) {
        for (const size_t method : plan.members) made.push_back(member(method, rows));
      }
      std::vector<const Explanations*> members;
      std::vector<PoolExplanations> pools;
      for (const Explanations& each : made) {
        members.push_back(&each);
        pools.push_back(made_up_pool(each));
      }
      std::vector<PoolExplanations*> pool_of;
      for (PoolExplanations& pool : pools) pool_of.push_back(&pool);
      const AggregateTask task{.members = members, .subject = first.subject, .pool_members = pool_of};
      const double start = clock_seconds();
      try {
        const Aggregate combined = aggregate(entry.spec, task, context_);
        evaluations = static_cast<double>(combined.explanations.evaluations) / static_cast<double>(rows);
      } catch (const Error& problem) {
        // Values that were made up may not suit it.
        if (problem.kind() != ErrorKind::unsupported && problem.kind() != ErrorKind::input) throw;
      }
      return std::vector<double>{clock_seconds() - start};
    })[0];
    costs_.aggregates.push_back({.combining = fit.cost,
                                 .pool_free = info.learns_weights,
                                 .pool_of_row = needs.model && needs.pool ? neighbours_of(entry.spec, info) : 0});
    evaluations_.aggregates.push_back(evaluations);
  }
}

void StudyPilot::try_criteria(const StudyPlan& plan) {
  try_scoring(plan);
  try_variation(plan);
}

}  // namespace assay
