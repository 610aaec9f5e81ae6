// Effective complexity: how few players are enough (Nguyen, Martinez 2020, "On quantitative aspects of model
// interpretability").
//   form=loss (the paper's): the least k >= 1 such that L(k) <= tolerance x L(0), with
//     L(k) = mean over reference rows b of (f(x) - f(x on the k strongest players, b elsewhere))^2.
//     Strength is |phi|, ties by index. L(d) = 0, so that k is never above d.
//   form=count: the number of players with |phi_i| > eps x max over j of |phi_j|; no model is run.
//
// Undefined when all attributions are 0 (nothing orders the players), and for form=loss when L(0) = 0 (there is no
// change to explain) or the model gives no number on the way. L need not fall with k: as in the paper the least k
// counts, even if a larger k is worse again.
// Cost: for form=loss at most d evaluations for each reference row, in batches until k is found; for form=count none.
// Deviation from the paper: the expectation over what is not kept is the mean over the reference rows (one baseline
// row, or a background), the loss is squared, and the tolerance is a share of the loss of keeping nothing, so that it
// has no unit; the paper's is a number in the unit of the loss.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/removal.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

constexpr std::string_view kNoChange = "the explained value is that of the reference";
constexpr std::string_view kNoNumberOnTheWay = "the model gives no number for a row on the way";
constexpr std::string_view kEffectiveComplexity = "effective_complexity";
// Values in memory at a time, and the subset sizes that the first wave tries; each next wave tries twice as many.
constexpr size_t kValuesAtATime = size_t{1} << 20;
constexpr size_t kFirstWave = 8;

double count_above(std::span<const float> values, double eps) {
  double most = 0;
  for (const float v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  return static_cast<double>(
      std::ranges::count_if(values, [&](float v) { return std::abs(static_cast<double>(v)) > eps * most; }));
}

// A row whose answer is looked for.
struct Search {
  size_t row = 0;
  std::vector<uint32_t> rank = {};  // of each player, 0 for the strongest
  double output = NAN;
  double loss_of_nothing = NAN;
  double found = NAN;
  std::string_view undefined = {};

  bool done() const { return !std::isnan(found) || !undefined.empty(); }
};

class Searches {
 public:
  Searches(const EvaluateTask& task, const Context& context)
      : task_(task),
        context_(context),
        value_(*task.subject.model, task.subject.rows->x.view(), *task.subject.targets, context) {
    context_.progress = nullptr;
  }

  void run(std::vector<Search>& all, double tolerance) {
    const size_t players = task_.subject.players->size();
    find_ends(all);
    size_t first = 1;
    for (size_t wave = kFirstWave; first < players; wave *= 2) {
      std::vector<Search*> open;
      for (Search& each : all) {
        if (!each.done()) open.push_back(&each);
      }
      if (open.empty()) return;
      const size_t affordable = kValuesAtATime / (open.size() * references());
      const size_t sizes = std::min(players - first, std::clamp<size_t>(affordable, 1, wave));
      const std::vector<double> losses = losses_of(open, first, sizes);
      for (size_t i = 0; i < open.size(); i++) {
        settle(*open[i], {losses.data() + i * sizes, sizes}, first, tolerance);
      }
      first += sizes;
    }
    // All players leave nothing changed.
    for (Search& each : all) {
      if (!each.done()) each.found = static_cast<double>(players);
    }
  }

  size_t references() const { return task_.subject.reference->rows.rows(); }
  uint64_t evaluations() const { return evaluations_; }

 private:
  // The row as it is, and at the reference.
  void find_ends(std::vector<Search>& all) {
    std::vector<float> outputs(all.size());
    predict_made_rows(
        *task_.subject.model, all.size(),
        [&](size_t i, std::span<float> row) { std::ranges::copy(task_.subject.rows->x.row(all[i].row), row.begin()); },
        [&](size_t i, std::span<const float> out) { outputs[i] = value(all[i].row, out); }, context_);
    evaluations_ += all.size();
    std::vector<Search*> every;
    for (size_t i = 0; i < all.size(); i++) {
      all[i].output = outputs[i];
      every.push_back(&all[i]);
    }
    const std::vector<double> losses = losses_of(every, 0, 1);
    for (size_t i = 0; i < all.size(); i++) {
      all[i].loss_of_nothing = losses[i];
      if (!std::isfinite(losses[i])) {
        all[i].undefined = kNoNumberOnTheWay;
      } else if (losses[i] == 0) {
        all[i].undefined = kNoChange;
      }
    }
  }

  // L(first) .. L(first + sizes - 1) of each.
  std::vector<double> losses_of(const std::vector<Search*>& open, size_t first, size_t sizes) {
    const size_t count = open.size() * sizes * references();
    std::vector<float> found(count);
    predict_made_rows(
        *task_.subject.model, count,
        [&](size_t i, std::span<float> row) {
          const Search& search = *open[i / references() / sizes];
          const size_t kept = first + i / references() % sizes;
          const std::span<const float> x = task_.subject.rows->x.row(search.row);
          const std::span<const float> absent = task_.subject.reference->rows.row(i % references());
          for (size_t c = 0; c < row.size(); c++) {
            row[c] = search.rank[task_.subject.players->of_column[c]] < kept ? x[c] : absent[c];
          }
        },
        [&](size_t i, std::span<const float> out) { found[i] = value(open[i / references() / sizes]->row, out); },
        context_);
    evaluations_ += count;
    std::vector<double> losses(open.size() * sizes, 0.0);
    for (size_t i = 0; i < count; i++) {
      const double apart = open[i / references() / sizes]->output - found[i];
      losses[i / references()] += apart * apart / static_cast<double>(references());
    }
    return losses;
  }

  static void settle(Search& search, std::span<const double> losses, size_t first, double tolerance) {
    for (size_t i = 0; i < losses.size() && !search.done(); i++) {
      if (!std::isfinite(losses[i])) search.undefined = kNoNumberOnTheWay;
      if (losses[i] <= tolerance * search.loss_of_nothing) search.found = static_cast<double>(first + i);
    }
  }

  float value(size_t row, std::span<const float> outputs) const {
    float found = 0;
    value_.apply(row, MatrixView<const float>(outputs.data(), 1, outputs.size()), {&found, 1});
    return found;
  }

  const EvaluateTask& task_;
  Context context_;
  ValueFunction value_;
  uint64_t evaluations_ = 0;
};

std::vector<uint32_t> ranks_by_strength(std::span<const float> values) {
  const std::vector<uint32_t> order = strongest_first(values);
  std::vector<uint32_t> rank(order.size());
  for (size_t k = 0; k < order.size(); k++) rank[order[k]] = static_cast<uint32_t>(k);
  return rank;
}

class EffectiveComplexity final : public Criterion {
 public:
  struct Options {
    std::string form = "loss";
    double tolerance = 0.1;
    double eps = 1e-5;

    void describe(OptionVisitor& visit) {
      visit.choice("form", form, "fewest players that keep the model's value, or players that are not near zero",
                   {"loss", "count"});
      visit.real("tolerance", tolerance, "squared change that may be left, as a share of that of keeping nothing", "",
                 0, 1);
      visit.real("eps", eps, "for form=count: sizes above this share of the largest count", "", 0, 1);
    }
  };

  explicit EffectiveComplexity(const Options& options) : options_(options) {}
  Needs needs(const Needs& by_default) const override { return options_.form == "count" ? Needs() : by_default; }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    const Matrix& values = task.explanations.values;
    UndefinedCounts undefined;
    const std::vector<size_t> usable = rows_with_order(task.explanations, undefined);
    if (options_.form == "count") {
      for (const size_t r : usable) scores.values[r] = count_above(values.row(r), options_.eps);
      scores.undefined = undefined.take();
      return;
    }
    Searches searches(task, context);
    const size_t block = std::clamp<size_t>(kValuesAtATime / kFirstWave / searches.references(), 1, 4096);
    ProgressScope progress(context, kEffectiveComplexity, usable.size());
    for (size_t first = 0; first < usable.size(); first += block) {
      context.check_cancelled();
      const size_t here = std::min(block, usable.size() - first);
      std::vector<Search> part(here);
      for (size_t i = 0; i < here; i++) {
        part[i].row = usable[first + i];
        part[i].rank = ranks_by_strength(values.row(part[i].row));
      }
      searches.run(part, options_.tolerance);
      for (const Search& each : part) {
        scores.values[each.row] = each.found;
        if (!each.undefined.empty()) undefined.add(each.undefined);
      }
      progress.advance(here);
    }
    if (task.subject.targets->information) scores.evaluations += values.rows();
    scores.evaluations += searches.evaluations();
    scores.undefined = undefined.take();
  }

 private:
  Options options_;
};

}  // namespace

CriterionInfo effective_complexity_criterion() {
  return with_criterion_options<EffectiveComplexity>(
      {.name = "effective_complexity",
       .title = "The fewest strongest players that keep the explained value",
       .family = "complexity",
       .citation = "Nguyen, Martinez (2020)",
       .cost = "at most d evaluations for each reference row; none for form=count",
       .direction = Direction::lower,
       .range = "1 to d",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay
