// Parameter randomisation: whether an explanation changes when the model's parameters are made random (Adebayo, Gilmer,
// Muelly, Goodfellow, Hardt, Kim, "Sanity Checks for Saliency Maps", NeurIPS 2018). Layer by layer, from the outputs
// down, parameters are drawn as before training, and the same rows are explained again:
//   value = mean over layers l of similarity(g(f, x), g(f_l, x)),
// f_l having layers 1 .. l randomised (order=cascading) or layer l alone (order=independent). Similarity is Spearman's
// rank correlation, or the cosine, of |phi| or of phi. Near 0 is good; near 1 means that the explanation shows the
// input rather than the model.
//
// Features are raw, but random weights suit standardised ones; else later layers would saturate. So a layer that reads
// the features gets weights as if features were standardised by their mean and deviation over the pool
// (model/randomise.h). Without a pool the mean and deviations of the reference are used, if it has some.
//
// Targets and reference stay those of the trained model, and a sampled method uses the same draws for every f_l. Ties
// share their mean rank. If the explanation of f_l has no ranking (all of one size), layer l is left out of that row's
// mean; a note names layers left out for most rows. The table gives the mean over rows for each number of layers. With
// several draws of the parameters the value is their mean, with its standard error. Undefined if attributions are all
// 0, not finite or without ranking, or if there is one player.
// Deviation from the paper: it shows similarities by layer; here a row's score is the mean over layers.
// Cost: one explanation of each row for each layer and draw.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

constexpr std::string_view kNoRanking = "all attributions are of one size, which ranks nothing";
constexpr std::string_view kNoneRanked = "no randomised model's explanation ranks the players";

std::vector<double> sizes_of(std::span<const float> values, bool absolute) {
  std::vector<double> made(values.begin(), values.end());
  if (!absolute) return made;
  for (double& each : made) each = std::abs(each);
  return made;
}

// Of numeric columns over the pool, where there is one. The reference keeps the deviations of a pool that is not there
// any more; its rows' mean then stands for the pool's, which it mostly is.
FeatureScale scale_of_features(const EvaluateTask& task) {
  const size_t columns = task.subject.rows->x.cols();
  FeatureScale scale;
  if (task.subject.pool != nullptr) {
    std::vector<RunningMoments> moments(columns);
    for (size_t r = 0; r < task.subject.pool->rows(); r++) {
      const auto row = task.subject.pool->x.row(r);
      for (size_t c = 0; c < columns; c++) {
        if (std::isfinite(row[c])) moments[c].add(row[c]);
      }
    }
    scale = {std::vector<float>(columns, 0.0F), std::vector<float>(columns, 0.0F)};
    for (const FeatureGroup& group : task.subject.pool->groups) {
      if (group.kind == ColumnKind::categorical) continue;
      for (size_t c = group.first; c < group.first + group.count; c++) {
        if (moments[c].count() < 2) continue;
        scale.mean[c] = static_cast<float>(moments[c].mean());
        scale.deviation[c] = static_cast<float>(moments[c].standard_deviation());
      }
    }
    return scale;
  }
  const Reference& reference = reference_or_none(task);
  if (reference.scales.size() != columns) return {};
  scale = {std::vector<float>(columns, 0.0F), reference.scales};
  for (size_t c = 0; c < columns; c++) {
    RunningMoments moments;
    for (size_t r = 0; r < reference.rows.rows(); r++) {
      if (std::isfinite(reference.rows(r, c))) moments.add(reference.rows(r, c));
    }
    if (moments.count() > 0) scale.mean[c] = static_cast<float>(moments.mean());
  }
  return scale;
}

// Similarities of one row in one draw, over layers.
struct Sum {
  double total = 0;
  size_t layers = 0;
};

// NaN where one side has no variance (spearman) or is all zero (cosine).
double explanation_similarity(std::span<const float> a, std::span<const float> b, bool spearman, bool absolute) {
  const std::vector<double> of_a = sizes_of(a, absolute);
  const std::vector<double> of_b = sizes_of(b, absolute);
  if (spearman) return pearson(ranks_of(of_a), ranks_of(of_b));
  double product = 0;
  double norm_a = 0;
  double norm_b = 0;
  for (size_t i = 0; i < of_a.size(); i++) {
    product += of_a[i] * of_b[i];
    norm_a += of_a[i] * of_a[i];
    norm_b += of_b[i] * of_b[i];
  }
  if (norm_a == 0 || norm_b == 0) return NAN;
  return std::clamp(product / std::sqrt(norm_a) / std::sqrt(norm_b), -1.0, 1.0);
}

struct RandomisationOptions {
  std::string order = "cascading";
  std::string similarity = "spearman";
  std::string sign = "absolute";
  int64_t draws = 5;
  void describe(OptionVisitor& visit) {
    visit.choice("order", order, "all layers from the outputs down to each one, or each layer alone",
                 {"cascading", "independent"});
    visit.choice("similarity", similarity, "between the two explanations: rank correlation or cosine",
                 {"spearman", "cosine"});
    visit.choice("sign", sign, "compares the attributions' sizes, or the attributions with their signs",
                 {"absolute", "signed"});
    visit.integer("draws", draws, "times that parameters are drawn", "draws", 1, 100);
  }
};

std::optional<Refusal> refuses_randomisation(const EvaluateTask& task) {
  if (task.subject.model->randomisable() == nullptr) {
    return fmt::format("needs a network whose layers' parameters can be drawn afresh, and {} has none that are known",
                       task.subject.model->info().name);
  }
  return refuses_again(task);
}

void score_randomisation(const EvaluateTask& task, const RandomisationOptions& options, Scores& scores,
                         const Context& context) {
  const MatrixView<const float> given = task.explanations.values.view();
  const size_t rows = given.rows();
  const bool spearman = options.similarity == "spearman";
  const bool absolute = options.sign == "absolute";
  const Randomisable& model = *task.subject.model->randomisable();
  const std::vector<std::string> layers = model.layers();
  const auto draws = static_cast<size_t>(options.draws);
  const FeatureScale scale = scale_of_features(task);
  if (scale.deviation.empty()) {
    scores.notes.emplace_back(
        "no pool tells the scale of the features: a layer that reads them is drawn as for features of mean 0 and "
        "deviation 1");
  }
  RowReasons reasons = given_reasons(given);
  for (size_t r = 0; r < rows; r++) {
    if (reasons.has(r)) continue;
    if (all_zero(given.row(r))) reasons.set(r, kAllZero);
    // The similarity of an explanation with itself tells whether it has any.
    if (std::isnan(explanation_similarity(given.row(r), given.row(r), spearman, absolute))) reasons.set(r, kNoRanking);
  }
  std::vector<Sum> sums(rows * draws);
  std::vector<std::string> lost;
  ScoreTable table{.name = "similarity by layer", .columns = {"mean", "stderr", "rows"}, .rows = {}, .labels = layers};
  const Context inner = context.quiet();
  ProgressScope progress(context, "randomisation", layers.size() * draws);
  for (size_t l = 0; l < layers.size(); l++) {
    std::vector<Sum> of_layer(rows);
    for (size_t s = 0; s < draws; s++) {
      context.check_cancelled();
      const uint64_t seed = RandomStream(context.seed, "randomisation", 0, static_cast<uint32_t>(s)).bits64();
      const std::unique_ptr<Model> randomised = model.randomised(l + 1, options.order == "independent", seed, scale);
      explain_all_again(task, {.model = randomised.get()}, {},
                        [&](size_t row, std::span<const float> values) {
                          if (!all_finite(values)) return reasons.set(row, kAgainNotFinite);
                          if (reasons.has(row)) return;
                          const double found = explanation_similarity(given.row(row), values, spearman, absolute);
                          if (std::isnan(found)) return;
                          Sum& sum = sums[row * draws + s];
                          sum.total += found;
                          sum.layers++;
                          of_layer[row].total += found;
                          of_layer[row].layers++;
                        },
                        scores.evaluations, inner, {});
      progress.advance(1);
    }
    RunningMoments moments;
    size_t scored = 0;
    for (size_t r = 0; r < rows; r++) {
      const Sum& sum = of_layer[r];
      if (sum.layers > 0) moments.add(sum.total / static_cast<double>(sum.layers));
      if (!reasons.has(r)) scored++;
    }
    if (2 * moments.count() < scored) {
      lost.push_back(
          fmt::format("after layer {} the explanations of {} of {} rows rank nothing: the means are of few rows",
                      layers[l], scored - moments.count(), scored));
    }
    table.rows.push_back({moments.mean(), moments.standard_error(), static_cast<double>(moments.count())});
  }
  if (draws > 1) scores.standard_error.assign(rows, NAN);
  size_t left_out = 0;
  for (size_t r = 0; r < rows; r++) {
    RunningMoments moments;
    for (size_t s = 0; s < draws; s++) {
      const Sum& sum = sums[r * draws + s];
      if (sum.layers > 0) moments.add(sum.total / static_cast<double>(sum.layers));
      if (!reasons.has(r)) left_out += layers.size() - sum.layers;
    }
    scores.values[r] = moments.mean();
    if (draws > 1) scores.standard_error[r] = moments.standard_error();
    if (moments.count() == 0) reasons.set(r, kNoneRanked);
  }
  reasons.store(scores);
  // All rows see the same random models: the mean over rows moves with them.
  RunningMoments of_draws;
  for (size_t s = 0; s < draws; s++) {
    RunningMoments of_rows;
    for (size_t r = 0; r < rows; r++) {
      const Sum& sum = sums[r * draws + s];
      if (!reasons.has(r) && sum.layers > 0) of_rows.add(sum.total / static_cast<double>(sum.layers));
    }
    if (of_rows.count() > 0) of_draws.add(of_rows.mean());
  }
  if (of_draws.count() > 1) {
    scores.shared_error = of_draws.standard_error();
  } else {
    // One draw does not tell how far others would be.
    scores.dependent = true;
    scores.notes.emplace_back("one draw of the parameters: the mean has no standard error");
  }
  scores.tables.push_back(std::move(table));
  if (left_out > 0) {
    scores.notes.push_back(fmt::format(
        "{} explanations of randomised models rank nothing and are left out of their rows' means", left_out));
  }
  for (std::string& note : lost) scores.notes.push_back(std::move(note));
}

}  // namespace

CriterionInfo randomisation_criterion() {
  return with_criterion_options<ScoredBy<score_randomisation, refuses_randomisation>>(
      {.name = "randomisation",
       .title = "Similarity to the explanations of models whose layers have random parameters",
       .family = "stability",
       .citation = "Adebayo, Gilmer, Muelly, Goodfellow, Hardt, Kim (2018)",
       .cost = "1 explanation for each layer and draw",
       .direction = Direction::lower,
       .range = "-1 to 1",
       .needs = {.model = true, .explainer = true},
       .sampled = true});
}

}  // namespace assay
