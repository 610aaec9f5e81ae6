#include "assay/evaluate/removal/gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

// Numbers of noise, and marks of players, that are in memory at a time.
constexpr size_t kNoiseAtATime = size_t{1} << 21;
constexpr size_t kMarksAtATime = size_t{1} << 18;
// Gaps of one block of rows, all draws: few enough to report progress often. But noise is drawn again for each block.
constexpr size_t kGapsAtATime = size_t{1} << 18;
constexpr size_t kFewestRows = 4;

// Noise of the draws first .. first + count - 1, a row each, in units of the score's columns.
Matrix noise_of(const Context& context, std::span<const float> scales, double scale, size_t first, size_t count) {
  Matrix noise(count, scales.size());
  const Context quiet = context.quiet();
  parallel_blocks(quiet, count, 1, [&](const Block& block) {
    RandomStream stream(context.seed, "prediction_gap", 0, static_cast<uint32_t>(first + block.begin));
    const std::span<float> row = noise.row(block.begin);
    for (size_t c = 0; c < row.size(); c++) row[c] = static_cast<float>(stream.normal() * scale * scales[c]);
  });
  return noise;
}

// marks[p] = 1 for the players that are perturbed. False when none of their columns moves.
bool mark_perturbed(const EvaluateTask& task, std::span<const float> values, size_t k, bool strongest,
                    std::span<uint8_t> marks) {
  const std::vector<uint32_t> order = strongest_first(values);
  for (size_t place = 0; place < order.size(); place++) marks[order[place]] = (place < k) == strongest ? 1 : 0;
  const std::vector<uint32_t>& of_column = task.subject.players->of_column;
  for (size_t c = 0; c < of_column.size(); c++) {
    if (marks[of_column[c]] != 0 && task.subject.reference->scales[c] > 0) return true;
  }
  return false;
}

struct GapBlock {
  std::span<const size_t> rows;
  std::vector<uint8_t> marks;    // rows x players
  std::vector<double> gaps;      // rows x draws
  std::vector<uint8_t> changed;  // rows x draws: whether anything but rounding came of the noise

  bool ever_changed(size_t i, size_t draws) const {
    const std::span<const uint8_t> all = std::span(changed).subspan(i * draws, draws);
    return std::ranges::find(all, uint8_t{1}) != all.end();
  }
};

void sample_block(const EvaluateTask& task, const Removal& removal, const GapOptions& options, GapBlock& block,
                  const Context& context) {
  const size_t players = task.subject.players->size();
  const std::vector<uint32_t>& of_column = task.subject.players->of_column;
  const auto samples = static_cast<size_t>(options.samples);
  const size_t columns = of_column.size();
  const size_t at_a_time = std::clamp<size_t>(kNoiseAtATime / std::max<size_t>(columns, 1), 1, samples);
  for (size_t first = 0; first < samples; first += at_a_time) {
    const size_t here = std::min(at_a_time, samples - first);
    const Matrix noise = noise_of(context, task.subject.reference->scales, options.scale, first, here);
    const auto place = [&](size_t made) { return made / here * samples + first + made % here; };
    predict_made_rows(
        removal.model(), block.rows.size() * here,
        [&](size_t made, std::span<float> out) {
          const std::span<const float> x = task.subject.rows->x.row(block.rows[made / here]);
          const std::span<const float> draw = noise.row(made % here);
          const uint8_t* marks = block.marks.data() + made / here * players;
          bool changed = false;
          for (size_t c = 0; c < columns; c++) {
            out[c] = marks[of_column[c]] != 0 ? x[c] + draw[c] : x[c];
            changed = changed || (out[c] != x[c] && !std::isnan(x[c]));
          }
          block.changed[place(made)] = changed ? 1 : 0;
        },
        [&](size_t made, std::span<const float> outputs) {
          const size_t row = block.rows[made / here];
          block.gaps[place(made)] = std::abs(removal.at_row(row) - removal.score(row, outputs));
        },
        context);
  }
}

// What all rows have in common: the draws.
struct GapDraws {
  std::vector<double> sums;  // of each draw, over the defined rows
  size_t rows = 0;

  void add(std::span<const double> gaps) {
    for (size_t s = 0; s < gaps.size(); s++) sums[s] += gaps[s];
    rows++;
  }
  // Of the mean over rows, from the draws alone.
  double error() const {
    if (rows == 0) return 0;
    RunningMoments means;
    for (const double sum : sums) means.add(sum / static_cast<double>(rows));
    return means.standard_error();
  }
};

void score_noise(const EvaluateTask& task, const GapQuestion& question, const GapOptions& options, Scores& scores,
                 const Context& context) {
  const size_t players = task.explanations.players();
  const size_t k = chosen_k(options.k, players);
  UndefinedCounts undefined;
  const Removal removal(task, rows_with_order(task.explanations, undefined), ScoredClass::explained,
                        ScoreUnit::probability, context);
  scores.evaluations = removal.rows().size() + removal.references();
  scores.standard_error.assign(task.rows(), NAN);
  note_k(task, removal.rows(), options.k, scores, context);
  removal.note_unpredicted(scores);
  const std::vector<float>& scales = task.subject.reference->scales;
  if (const auto still = std::ranges::count(scales, 0.0F); still > 0) {
    scores.notes.push_back(fmt::format(
        "noise leaves {} of {} columns as they are: categories, or constant over the pool", still, scales.size()));
  }
  const Context inner = context.quiet();
  ProgressScope progress(context, question.name, removal.rows().size());
  const auto samples = static_cast<size_t>(options.samples);
  GapDraws draws{std::vector<double>(samples)};
  const size_t block_rows = std::clamp<size_t>(kMarksAtATime / std::max<size_t>(players, 1), 1,
                                               std::max(kFewestRows, kGapsAtATime / samples));
  for (size_t begin = 0; begin < removal.rows().size(); begin += block_rows) {
    const size_t end = std::min(begin + block_rows, removal.rows().size());
    const std::span<const size_t> all = std::span(removal.rows()).subspan(begin, end - begin);
    std::vector<uint8_t> marks(all.size() * players);
    std::vector<uint8_t> moves(all.size());
    parallel_blocks(inner, all.size(), kRowsPerTask, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) {
        moves[i] = mark_perturbed(task, task.explanations.values.row(all[i]), k, question.strongest,
                                  std::span(marks).subspan(i * players, players))
                       ? 1
                       : 0;
      }
    });
    // Rows that nothing moves cost no model runs: the others close up.
    std::vector<size_t> moved;
    for (size_t i = 0; i < all.size(); i++) {
      if (moves[i] == 0) {
        undefined.add(kUnmoved);
        continue;
      }
      std::copy_n(marks.begin() + static_cast<ptrdiff_t>(i * players), players,
                  marks.begin() + static_cast<ptrdiff_t>(moved.size() * players));
      moved.push_back(all[i]);
    }
    GapBlock block{moved, std::move(marks), std::vector<double>(moved.size() * samples),
                   std::vector<uint8_t>(moved.size() * samples)};
    sample_block(task, removal, options, block, inner);
    scores.evaluations += moved.size() * samples;
    for (size_t i = 0; i < moved.size(); i++) {
      const std::span<const double> gaps = std::span(block.gaps).subspan(i * samples, samples);
      RunningMoments moments;
      for (const double gap : gaps) moments.add(gap);
      if (!block.ever_changed(i, samples) || !std::isfinite(moments.mean())) {
        undefined.add(std::isfinite(moments.mean()) ? kUnchanged : kNoNumber);
        continue;
      }
      scores.values[moved[i]] = moments.mean();
      scores.standard_error[moved[i]] = moments.standard_error();
      draws.add(gaps);
    }
    progress.advance(all.size());
  }
  scores.shared_error = draws.error();
  scores.undefined = undefined.take();
}

}  // namespace

std::optional<Refusal> refuses_gap(const EvaluateTask& task, const GapQuestion& question, const GapOptions& options) {
  if (auto reason = refuses_k(options.k, task.explanations.players(), !question.strongest)) return reason;
  if (options.perturbation == "noise" && task.subject.reference->scales.empty()) {
    return Refusal(
        "needs a pool of training rows, whose deviations are the unit of its noise (perturbation=baseline needs "
        "none)",
        Need::pool);
  }
  return {};
}

void score_gap(const EvaluateTask& task, const GapQuestion& question, const GapOptions& options, Scores& scores,
               const Context& context) {
  if (options.perturbation == "noise") {
    score_noise(task, question, options, scores, context);
    return;
  }
  const TopKQuestion asked{.name = question.name,
                           .kept = !question.strongest,
                           .which = ScoredClass::explained,
                           .unit = ScoreUnit::probability,
                           .value = [](const Removal& removal, size_t row, size_t /*reference*/, double made) {
                             return std::abs(removal.at_row(row) - made);
                           }};
  score_top_k(task, asked, options.k, scores, context);
}

}  // namespace assay
