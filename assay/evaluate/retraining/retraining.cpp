#include "assay/evaluate/retraining/retraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/core/text.h"
#include "assay/evaluate/retraining/known_rows.h"

namespace assay {
namespace {

constexpr std::string_view kNoRows = "no row has both a label and attributions that are numbers";
constexpr std::string_view kNoTrainingRows = "no row of the pool has both a label and attributions that are numbers";
constexpr std::string_view kSameLabels = "all rows have the same label, so that R^2 is undefined";
constexpr std::string_view kNoNumbers = "predictions are not all numbers";

// One model to train; where its quality goes.
struct Job {
  Change change;
  uint64_t training_seed = 0;
  double* quality = nullptr;
};

// A row for each k, a column for each seed.
struct Qualities {
  Matrix64 ranked;
  Matrix64 random;
  Matrix64 unmodified;  // one row
};

class Retraining {
 public:
  Retraining(std::string_view name, const EvaluateTask& task, const ChangedRows& training, const ChangedRows& test,
             const KnownRows& test_rows)
      : name_(name), task_(task), training_(training), test_(test), test_rows_(test_rows) {}

  double original_quality(Context context) const {
    context.progress = nullptr;
    return prediction_quality(
        *task_.subject.model, test_rows_.labels, [&](size_t i, std::span<float> row) { test_.fill(i, {}, row); },
        context);
  }

  void run(const std::vector<Job>& jobs, bool concurrent, const Context& context) const {
    Context outer = context;
    Context inner = context.quiet();
    if (concurrent) {
      // Jobs side by side use threads better than one job can: a step on a small network has nothing to share out.
      inner.threads = static_cast<unsigned>(std::max<size_t>(1, context.thread_count() / jobs.size()));
    } else {
      outer.threads = 1;
    }
    parallel_blocks(
        outer, jobs.size(), 1, [&](const Block& block) { run_job(jobs[block.begin], inner); },
        fmt::format("{}: training", name_));
  }

 private:
  void run_job(const Job& job, const Context& context) const {
    std::unique_ptr<Model> model;
    try {
      const Dataset rows = training_.dataset(job.change, task_.subject.model->info().class_names, context);
      model = task_.subject.trainer(rows, job.training_seed, context);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      throw Error(error.kind(), fmt::format("{}, {}: {}", name_, words(job), error.what()));
    }
    check(model.get(), job);
    *job.quality = prediction_quality(
        *model, test_rows_.labels, [&](size_t i, std::span<float> row) { test_.fill(i, job.change, row); }, context);
  }

  // A trainer may come from outside.
  void check(const Model* model, const Job& job) const {
    const ModelInfo& expected = task_.subject.model->info();
    if (model == nullptr) throw Error(ErrorKind::input, fmt::format("{}, {}: no model came back", name_, words(job)));
    const ModelInfo& found = model->info();
    if (found.features() != expected.features()) {
      fail_input(fmt::format("{}, {}", name_, words(job)), fmt::format("a model of {} features", expected.features()),
                 fmt::format("one of {}", found.features()));
    }
    if (found.class_names != expected.class_names) {
      fail_input(fmt::format("{}, {}", name_, words(job)),
                 expected.class_names.empty() ? "a model of values"
                                              : fmt::format("a model of the classes {}", joined(expected.class_names)),
                 found.class_names.empty() ? "one of values" : joined(found.class_names));
    }
    if (found.class_names.empty() && found.outputs() != 1) {
      fail_input(fmt::format("{}, {}", name_, words(job)), "a model of one output", fmt::format("{}", found.outputs()));
    }
  }

  static std::string words(const Job& job) {
    const char* rows = "the model trained on unmodified rows";
    if (job.change.ranking == Ranking::random) rows = "the model trained on rows changed at random";
    if (job.change.ranking == Ranking::attributions) rows = "the model trained on changed rows";
    return job.change.ranking == Ranking::none
               ? fmt::format("{} from seed {}", rows, job.training_seed)
               : fmt::format("{} with k = {} from seed {}", rows, job.change.k, job.training_seed);
  }

  std::string name_;
  const EvaluateTask& task_;
  const ChangedRows& training_;
  const ChangedRows& test_;
  const KnownRows& test_rows_;
};

// Seed by seed, so that what all jobs of one seed share is the draw alone. Training seeds fit 32 bits: more than that
// is refused by what users train with.
std::vector<Job> jobs_of(const std::vector<size_t>& counts, Replaced replaced, const RetrainingOptions& options,
                         Qualities& qualities, uint64_t seed) {
  std::vector<Job> jobs;
  for (size_t s = 0; s < qualities.ranked.cols(); s++) {
    const uint64_t training_seed = RandomStream(seed, "retraining", s).bits32();
    const Change unmodified{.replaced = replaced, .seed = seed, .draw = static_cast<uint32_t>(s)};
    if (options.control) jobs.push_back({unmodified, training_seed, &qualities.unmodified(0, s)});
    for (size_t j = 0; j < counts.size(); j++) {
      Change change = unmodified;
      change.k = counts[j];
      change.ranking = Ranking::attributions;
      jobs.push_back({change, training_seed, &qualities.ranked(j, s)});
      if (!options.control) continue;
      change.ranking = Ranking::random;
      jobs.push_back({change, training_seed, &qualities.random(j, s)});
    }
  }
  return jobs;
}

ScoreTable table_of(const std::vector<size_t>& counts, const Qualities& found, double original, size_t players,
                    std::string_view measure, bool control) {
  ScoreTable table{"by k", {"k", "share"}, {}};
  const auto add_columns = [&](std::string_view prefix) {
    table.columns.push_back(fmt::format("{}{}", prefix, measure));
    table.columns.push_back(fmt::format("{}{}_stderr", prefix, measure));
  };
  const auto add_moments = [&](std::vector<double>& row, std::span<const double> values) {
    RunningMoments moments;
    for (const double value : values) moments.add(value);
    row.push_back(moments.mean());
    row.push_back(moments.standard_error());
  };
  add_columns("");
  if (control) add_columns("random_");
  if (control) add_columns("unmodified_");
  table.columns.push_back(fmt::format("original_{}", measure));
  for (size_t j = 0; j < counts.size(); j++) {
    const auto k = static_cast<double>(counts[j]);
    std::vector<double> row = {k, k / static_cast<double>(players)};
    add_moments(row, found.ranked.row(j));
    if (control) add_moments(row, found.random.row(j));
    if (control) add_moments(row, found.unmodified.row(0));
    row.push_back(original);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void note_left_out(const KnownRows& known, size_t rows, std::string_view which, std::vector<std::string>& notes) {
  if (known.unlabelled > 0) {
    notes.push_back(fmt::format("{} of {} {} have no label and take no part", known.unlabelled, rows, which));
  }
  if (known.unranked > 0) {
    notes.push_back(fmt::format("{} of {} {} have attributions that are not all numbers and take no part",
                                known.unranked, rows, which));
  }
}

std::string count_words(const std::vector<size_t>& counts) {
  std::vector<std::string> words;
  for (const size_t k : counts) words.push_back(fmt::format("{}", k));
  return joined(words);
}

}  // namespace

Needs retraining_needs() {
  return {.model = true, .reference = true, .pool = true, .pool_explanations = true, .labels = true, .trainer = true};
}

std::optional<Refusal> retraining_refusal(const EvaluateTask& task) {
  const ModelInfo& model = task.subject.model->info();
  if (model.class_names.empty() && model.outputs() != 1) {
    return fmt::format("needs a model of classes or of one value, and {} gives {} values", model.name, model.outputs());
  }
  if (auto reason = label_refusal(model, *task.subject.rows, "the rows", Need::labels)) return reason;
  return label_refusal(model, *task.subject.pool, "the pool's rows", Need::pool_labels);
}

void score_by_retraining(std::string_view name, Replaced replaced, const RetrainingOptions& options, bool concurrent,
                         const EvaluateTask& task, Scores& scores, const Context& context) {
  const ModelInfo& model = task.subject.model->info();
  const bool classes = !model.class_names.empty();
  const size_t players = task.subject.players->size();
  const auto seeds = static_cast<size_t>(options.seeds);
  scores.values.assign(seeds, NAN);

  KnownRows test_rows = labelled_rows(model, *task.subject.rows);
  leave_out_unranked(test_rows, task.explanations.values.view());
  KnownRows training_rows = labelled_rows(model, *task.subject.pool);
  task.pool_explanations->need(training_rows.rows, context);
  leave_out_unranked(training_rows, task.pool_explanations->values());
  note_left_out(test_rows, task.subject.rows->rows(), "rows", scores.notes);
  note_left_out(training_rows, task.subject.pool->rows(), "rows of the pool", scores.notes);
  if (test_rows.size() == 0 || training_rows.size() == 0) {
    scores.undefined = {{std::string(test_rows.size() == 0 ? kNoRows : kNoTrainingRows), seeds}};
    return;
  }

  const std::vector<float> replacement =
      replacement_row(task.subject.reference->rows.view(), task.subject.rows->groups);
  const ChangedRows training(*task.subject.pool, training_rows, task.pool_explanations->values(), *task.subject.players,
                             replacement, "retraining, random order in the pool");
  const ChangedRows test(*task.subject.rows, test_rows, task.explanations.values.view(), *task.subject.players,
                         replacement, "retraining, random order in the rows");
  const Retraining retraining(name, task, training, test, test_rows);
  const double original = retraining.original_quality(context);
  scores.evaluations += test_rows.size();
  if (std::isnan(original)) {
    // Known before hours of training.
    const bool same =
        !classes && std::ranges::adjacent_find(test_rows.labels, std::ranges::not_equal_to()) == test_rows.labels.end();
    scores.undefined = {{std::string(same ? kSameLabels : kNoNumbers), seeds}};
    return;
  }

  const std::vector<size_t> counts = counts_of_shares(options.k, players);
  Qualities found{Matrix64(counts.size(), seeds), Matrix64(counts.size(), seeds), Matrix64(1, seeds)};
  const std::vector<Job> jobs = jobs_of(counts, replaced, options, found, context.seed);
  retraining.run(jobs, concurrent, context);
  scores.evaluations += jobs.size() * test_rows.size();

  UndefinedCounts undefined;
  for (size_t s = 0; s < seeds; s++) {
    double sum = 0;
    for (size_t j = 0; j < counts.size(); j++) sum += original - found.ranked(j, s);
    scores.values[s] = sum / static_cast<double>(counts.size());
    if (std::isnan(scores.values[s])) undefined.add(kNoNumbers);
  }
  scores.undefined = undefined.take();
  scores.tables.push_back(table_of(counts, found, original, players, classes ? "accuracy" : "r2", options.control));

  scores.notes.push_back(fmt::format("{} the {} strongest of {} players; {} models trained on {} rows, judged on {}",
                                     replaced == Replaced::first ? "takes away" : "keeps", count_words(counts), players,
                                     jobs.size(), training_rows.size(), test_rows.size()));
  if (!classes) scores.notes.emplace_back("the score is the drop of R^2, for the labels are values");
  if (task.subject.reference->is_background())
    scores.notes.emplace_back("what is absent is replaced by the background's mean");
}

}  // namespace assay
