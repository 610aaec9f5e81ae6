#include "assay/study/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/explain/rounding.h"
#include "assay/explain/spread_background.h"
#include "assay/study/progress.h"
#include "assay/study/reference_facts.h"
#include "assay/study/remembered_model.h"
#include "assay/study/scoring.h"
#include "assay/study/trends.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// Added to every estimate, so that the bar also moves for entries that are estimated at 0 seconds.
constexpr double kLeastSeconds = 0.05;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

class Runner {
 public:
  Runner(const Subject& subject, const StudyPlan& plan, StudyFacts& facts, StudyStore& store,
         const StudyStore* recorded, StudyTimes& times, StudyProgress& progress, const Context& context)
      : subject_(subject),
        plan_(plan),
        facts_(facts),
        store_(store),
        recorded_(recorded),
        times_(times),
        progress_(progress),
        context_(context),
        scoring_(prepare_scoring(subject, plan, context)) {}

  void run(Study& study) {
    // Pointers into pools_ stay valid: nothing is added after this loop.
    pools_.reserve(plan_.entries.size());
    for (const PlannedEntry& planned : plan_.entries) {
      if (planned.kind == EntryKind::method)
        pools_.push_back(pool_explanations_by(subject_, planned.spec, context_.seed));
    }
    for (size_t i = 0; i < plan_.entries.size(); i++) {
      const PlannedEntry& planned = plan_.entries[i];
      context_.check_cancelled();
      progress_.step(fmt::format("{} of {}, {}", i + 1, plan_.entries.size(), planned.name),
                     planned.seconds + kLeastSeconds);
      const bool method = planned.kind == EntryKind::method;
      PoolExplanations* pool = method ? &pools_[i] : nullptr;
      EntryTimes spent{planned.name, NAN, NAN};
      if (recorded_ != nullptr) {
        StudyEntry known = recorded_->load(planned.stem, pool, context_);
        check(planned, known);
        const StudyEntry made = method ? by_method(i, &known, spent) : by_aggregator(planned, study, &known, spent);
        if (method) {
          // Explains the same rows of the pool on this machine.
          PoolExplanations own = pool_explanations_by(subject_, planned.spec, context_.seed);
          own.need(pool->known_rows(), context_);
          store_.save(made, &own, context_);
        } else {
          store_.save(made, nullptr, context_);
        }
        study.entries.push_back(std::move(known));
      } else {
        if (!store_.has(planned.stem, planned.kind)) {
          const StudyEntry made = method ? by_method(i, nullptr, spent) : by_aggregator(planned, study, nullptr, spent);
          store_.save(made, pool, context_);
        }
        if (method) pools_[i] = pool_explanations_by(subject_, planned.spec, context_.seed);
        study.entries.push_back(store_.load(planned.stem, pool, context_));
        check(planned, study.entries.back());
      }
      times_.entries.push_back(spent);
    }
  }

 private:
  // If the recorded attributions do not come out again, later parts are made from the new ones. The comparison of the
  // two studies reports the difference.
  static void keep_what_came_out_again(StudyEntry* known, const Explanations& made) {
    if (known == nullptr) return;
    RoundingCheck check;
    compare_explanations(known->explanations, made, check);
    if (!check.passed()) known->explanations = made;
  }

  // known: the recorded entry, whose attributions are scored. Null: the new attributions are scored.
  StudyEntry by_method(size_t i, StudyEntry* known, EntryTimes& spent) {
    const PlannedEntry& planned = plan_.entries[i];
    StudyEntry entry{
        .name = planned.name, .stem = planned.stem, .kind = planned.kind, .explanations = {}, .scores = {}};
    const auto start = Clock::now();
    entry.explanations = explain(planned.spec, subject_, context_);
    keep_what_came_out_again(known, entry.explanations);
    const auto explained = Clock::now();
    const auto task_of = [&](const Explanations& scored) {
      return EvaluateTask{.explanations = scored,
                          .subject = subject_,
                          .pool_explanations = &pools_[i],
                          .method = &planned.spec,
                          .method_seed = scored.provenance.seed,
                          .subset_values = &scoring_.subset_values.front()};
    };
    const EvaluateTask own = task_of(entry.explanations);
    score_entry(scoring_, known != nullptr ? task_of(known->explanations) : own, own, i == 0, entry, context_);
    entry.trends = value_trends(subject_, entry.explanations);
    entry.variations = score_variations(scoring_, planned.spec, context_);
    entry.pool_rows = pools_[i].explained();
    spent.explaining = seconds_between(start, explained);
    spent.scoring = seconds_between(explained, Clock::now());
    return entry;
  }

  StudyEntry by_aggregator(const PlannedEntry& planned, const Study& study, StudyEntry* known, EntryTimes& spent) {
    StudyEntry entry{
        .name = planned.name, .stem = planned.stem, .kind = planned.kind, .explanations = {}, .scores = {}};
    const bool alone = find_aggregator(planned.spec.name).needs.members == 0;
    std::vector<const Explanations*> members;
    std::vector<std::string> names;
    std::vector<PoolExplanations*> pools;
    for (const size_t member : plan_.members) {
      if (alone) break;
      members.push_back(&study.entries[member].explanations);
      names.push_back(study.entries[member].name);
      pools.push_back(&pools_[member]);
    }
    const AggregateTask task{.members = members, .names = names, .subject = subject_, .pool_members = pools};
    const auto start = Clock::now();
    Aggregate made = aggregate(planned.spec, task, context_);
    const auto explained = Clock::now();
    entry.explanations = made.explanations;
    for (const Undefined& undefined : made.undefined) {
      entry.explanations.notes.push_back(fmt::format("{} rows undefined: {}", undefined.rows, undefined.reason));
    }
    keep_what_came_out_again(known, entry.explanations);
    if (known != nullptr) made.explanations = known->explanations;  // with the weights that were learnt
    PoolExplanations pool = aggregate_of_pool(planned.spec, task, made);
    const EvaluateTask scored{.explanations = made.explanations,
                              .subject = subject_,
                              .pool_explanations = &pool,
                              .method_seed = made.explanations.provenance.seed,
                              .subset_values = &scoring_.subset_values.front()};
    score_entry(scoring_, scored, scored, false, entry, context_);
    entry.trends = value_trends(subject_, entry.explanations);
    entry.pool_rows = pool.explained();
    spent.explaining = seconds_between(start, explained);
    spent.scoring = seconds_between(explained, Clock::now());
    return entry;
  }

  // A store may hold entries of another study, or of another version.
  void check(const PlannedEntry& planned, const StudyEntry& found) const {
    const std::string path = (recorded_ != nullptr ? *recorded_ : store_).place_of(planned.stem);
    const auto refuse = [&](const std::string& expected, const std::string& what) {
      fail_input(path, fmt::format("{}, as this study has it", expected),
                 fmt::format("{}{}", what, recorded_ != nullptr ? "" : "; a part that is deleted is made again"));
    };
    if (found.name != planned.name || found.kind != planned.kind) refuse(planned.name, found.name);
    const Provenance& made = found.explanations.provenance;
    if (made.method != planned.spec.name) {
      refuse(fmt::format("explanations by {}", planned.spec.name), fmt::format("those by {}", in_quotes(made.method)));
    }
    const bool here = made.version == facts_.version && made.vector_target == facts_.vector_target;
    if (!here && recorded_ == nullptr) {
      refuse(fmt::format("parts by version {} with {}", facts_.version, facts_.vector_target),
             fmt::format("version {} with {}", made.version, made.vector_target));
    }
    if (made.data != facts_.data || made.unit != facts_.unit) {
      refuse(fmt::format("the {} of {}", facts_.unit, in_quotes(facts_.data)),
             fmt::format("the {} of {}", in_quotes(made.unit), in_quotes(made.data)));
    }
    if (found.explanations.target != subject_.targets->of_row) refuse("explanations of the same targets", "others");
    if (made.seed != context_.seed) refuse(fmt::format("seed {}", context_.seed), fmt::format("{}", made.seed));
    if (found.scores.size() != plan_.criteria.size()) {
      refuse(fmt::format("{} criteria", plan_.criteria.size()), fmt::format("{}", found.scores.size()));
    }
    for (size_t c = 0; c < found.scores.size(); c++) {
      const Scores& scores = found.scores[c];
      if (scores.criterion != plan_.criteria[c].name) refuse(plan_.criteria[c].name, scores.criterion);
      if (scores.of_rows && scores.values.size() != subject_.rows->rows()) {
        refuse(fmt::format("scores of {} rows", subject_.rows->rows()), fmt::format("{}", scores.values.size()));
      }
    }
    if (found.explanations.rows() != subject_.rows->rows() || found.explanations.features != subject_.players->names) {
      refuse(fmt::format("explanations of {} rows and {} players", subject_.rows->rows(), subject_.players->size()),
             fmt::format("{} rows and {} players", found.explanations.rows(), found.explanations.players()));
    }
  }

  const Subject& subject_;
  const StudyPlan& plan_;
  const StudyFacts& facts_;
  StudyStore& store_;
  const StudyStore* recorded_;
  StudyTimes& times_;
  StudyProgress& progress_;
  Context context_;
  Scoring scoring_;
  std::vector<PoolExplanations> pools_;  // one for each method
};

size_t distinct_rows(const Matrix& rows) {
  std::vector<size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), size_t{0});
  // By bytes, so that missing cells are alike.
  const auto apart = [&](size_t a, size_t b) {
    return std::memcmp(rows.row(a).data(), rows.row(b).data(), rows.cols() * sizeof(float));
  };
  std::ranges::sort(order, [&](size_t a, size_t b) { return apart(a, b) < 0; });
  size_t found = order.empty() ? 0 : 1;
  for (size_t i = 1; i < order.size(); i++) found += apart(order[i - 1], order[i]) != 0 ? 1 : 0;
  return found;
}

void fill_facts(const Subject& subject, StudyFacts& facts, const Context& context) {
  facts.model = subject.model->info().name;
  facts.unit = explained_unit(subject.model->info(), *subject.targets);
  facts.target = target_in_words(*subject.targets);
  facts.reference = subject.reference->description;
  // Front ends know them from choosing the reference.
  if (facts.reference_facts.rows == 0) {
    facts.reference_facts = reference_facts(subject, score_pool(*subject.pool, *subject.model, context), context);
  }
  facts.target_names = subject.targets->names;
  facts.features = subject.players->names;
  facts.rows = subject.rows->rows();
  facts.distinct_rows = distinct_rows(subject.rows->x);
  facts.pool_rows = subject.pool->rows();
  facts.seed = context.seed;
  facts.quality = model_quality(subject, context);
  facts.accuracy = facts.quality.accuracy;
  facts.version = kVersion;
  facts.vector_target = vector_target();
}

}  // namespace

Study run_study(const Subject& given, const StudyPlan& plan, StudyFacts facts, StudyStore& store, StudyTimes& times,
                const Context& context, const StudyStore* recorded) {
  const auto start = Clock::now();
  const RememberedModel model(*given.model, given.rows->x.view(), given.pool->x.view());
  Subject subject = given;
  subject.model = &model;
  subject.words = {.rows = facts.data, .pool = facts.pool, .players = facts.players};
  fill_facts(subject, facts, context);
  Study study;
  for (const Spec& spec : plan.criteria) {
    study.criteria.push_back(spec_text(spec));
    study.criterion_names.push_back(spec.name);
    study.directions.push_back(find_criterion(spec.name).direction);
  }
  study.left_out = plan.left_out;
  study.notes = plan.notes;
  study.advice = plan.options.advice;
  const double expected = plan.seconds + kLeastSeconds * static_cast<double>(plan.entries.size());
  StudyProgress progress(context.progress, expected);
  Context inner = context;
  inner.progress = &progress;
  Runner(subject, plan, facts, store, recorded, times, progress, inner).run(study);
  // Some forms of a criterion turn its direction round; scores know which form they are of.
  for (size_t c = 0; c < study.directions.size(); c++) {
    const auto scored =
        std::ranges::find_if(study.entries, [&](const StudyEntry& entry) { return entry.scores[c].coverage > 0; });
    if (scored != study.entries.end()) study.directions[c] = scored->scores[c].direction;
  }
  study.facts = std::move(facts);
  times.total = seconds_between(start, Clock::now());
  times.threads = context.thread_count();
  return study;
}

}  // namespace assay
