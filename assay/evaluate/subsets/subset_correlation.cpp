#include "assay/evaluate/subsets/subset_correlation.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/subsets/draw_sums.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

constexpr double kSubsetRounding = 1e-6;
// Sums kept apart, so that additions need not wait for each other.
constexpr size_t kSumsApart = 4;
// Rows are played by so many influences of subsets, which are kept until they are added up; some rows at least, to
// have work for threads.
constexpr size_t kInfluencesPerTurn = size_t{1} << 22;
constexpr size_t kLeastRowsPerTurn = 8;

// Sums over subsets of one pass, by lane.
struct Totals {
  std::array<double, kSumsApart> sums{};
  std::array<double, kSumsApart> values{};
  std::array<double, kSumsApart> sum_squares{};
  std::array<double, kSumsApart> value_squares{};
  std::array<double, kSumsApart> products{};
};

double total(const std::array<double, kSumsApart>& lanes) { return lanes[0] + lanes[1] + (lanes[2] + lanes[3]); }

// Both sides less their first number: whatever that is, its distance from the mean is at most sqrt(n) deviations, so
// little is lost when the squares of means are taken off.
template <class Value>
Totals add_up(std::span<const double> sums, std::span<const Value> values) {
  Totals made;
  const double first_sum = sums[0];
  const double first_value = values[0];
  const auto add = [&](size_t i, size_t lane) {
    const double s = sums[i] - first_sum;
    const double v = static_cast<double>(values[i]) - first_value;
    made.sums[lane] += s;
    made.values[lane] += v;
    made.sum_squares[lane] += s * s;
    made.value_squares[lane] += v * v;
    made.products[lane] += s * v;
  };
  size_t i = 0;
  for (; i + kSumsApart <= sums.size(); i += kSumsApart) {
    for (size_t lane = 0; lane < kSumsApart; lane++) add(i + lane, lane);
  }
  for (; i < sums.size(); i++) add(i, 0);
  return made;
}

template <class Value>
double largest_size(std::span<const Value> values) {
  double largest = 0;
  for (const Value v : values) largest = std::max(largest, std::abs(static_cast<double>(v)));
  return largest;
}

template <class Value>
SubsetCorrelation correlate(std::span<const double> sums, std::span<const Value> values, const SideRounding& rounding,
                            double population, std::span<double> influences) {
  const size_t count = sums.size();
  assert(values.size() == count);
  if (count == 0) return {.state = SubsetState::attributions_flat};
  const auto n = static_cast<double>(count);
  const Totals totals = add_up(sums, values);
  const double mean_sum = total(totals.sums) / n;
  const double mean_value = total(totals.values) / n;
  if (!std::isfinite(mean_value)) return {.state = SubsetState::values_not_finite};
  const double sum_deviation = std::sqrt(std::max(0.0, total(totals.sum_squares) / n - mean_sum * mean_sum));
  const double value_deviation = std::sqrt(std::max(0.0, total(totals.value_squares) / n - mean_value * mean_value));
  if (!(sum_deviation > rounding.sums)) return {.state = SubsetState::attributions_flat};
  if (!(value_deviation > rounding.values)) return {.state = SubsetState::values_flat};
  const double covariance = mean_sum * mean_value - total(totals.products) / n;
  SubsetCorrelation made;
  made.correlation = std::clamp(covariance / sum_deviation / value_deviation, -1.0, 1.0);
  made.standard_error = 0;
  if (n >= population) return made;
  std::array<double, kSumsApart> squares{};
  const double by_sum = 1 / sum_deviation;
  const double by_value = 1 / value_deviation;
  for (size_t i = 0; i < count; i++) {
    const double u = (sums[i] - sums[0] - mean_sum) * by_sum;
    const double w = (mean_value - (static_cast<double>(values[i]) - values[0])) * by_value;
    const double influence = u * w - made.correlation * (u * u + w * w) / 2;
    squares[i % kSumsApart] += influence * influence;
    if (!influences.empty()) influences[i] = influence;
  }
  made.standard_error = count < 2 ? NAN : std::sqrt((1 - n / population) * total(squares) / n / (n - 1));
  return made;
}

// Of one row. values: sums over reference rows, of all designs; none for one reference row.
struct RowState {
  std::vector<double> values;
  VectorBuffer<double> sums;
  std::vector<double> tables;
};

// The influences of the subsets that were drawn: of the rows of a turn, and added up over rows.
class SharedInfluences {
 public:
  SharedInfluences(std::span<const SubsetDesign> designs, size_t turn_rows) {
    for (const SubsetDesign& design : designs) {
      const size_t subsets = design.whole() ? 0 : design.size();
      of_turn_.emplace_back(subsets == 0 ? 0 : turn_rows, subsets);
      of_designs_.emplace_back(subsets);
      of_rows_.emplace_back(subsets);
    }
  }

  // Empty for a design of all subsets.
  std::span<double> room(size_t place, size_t design) {
    return of_turn_[design].empty() ? std::span<double>() : of_turn_[design].row(place);
  }

  void add(std::span<const size_t> turn, const OwnedMatrix<SubsetState>& state, const Context& context) {
    std::vector<double> in_mean(turn.size(), 0);
    for (size_t i = 0; i < turn.size(); i++) {
      const auto defined = std::ranges::count(state.row(turn[i]), SubsetState::defined);
      if (defined > 0) in_mean[i] = 1 / static_cast<double>(defined);
      rows_ += defined > 0 ? 1 : 0;
    }
    std::vector<double> in_design(turn.size());
    std::vector<double> in_row(turn.size());
    for (size_t d = 0; d < of_turn_.size(); d++) {
      if (of_turn_[d].empty()) continue;
      for (size_t i = 0; i < turn.size(); i++) {
        const bool defined = state(turn[i], d) == SubsetState::defined;
        in_design[i] = defined ? 1 : 0;
        in_row[i] = defined ? in_mean[i] : 0;
      }
      of_designs_[d].add(of_turn_[d].view(), in_design, context);
      if (of_turn_.size() > 1) of_rows_[d].add(of_turn_[d].view(), in_row, context);
    }
  }

  // Designs are drawn independently of each other.
  void finish(std::span<const SubsetDesign> designs, SubsetCorrelations& made) const {
    const std::vector<DrawSums>& of_rows = designs.size() > 1 ? of_rows_ : of_designs_;
    double squares = 0;
    for (size_t d = 0; d < designs.size(); d++) {
      const double population = designs[d].whole() ? 0 : designs[d].population();
      made.design_error.push_back(
          std::sqrt(of_designs_[d].squared_error_of_influences(population, of_designs_[d].rows())));
      squares += of_rows[d].squared_error_of_influences(population, rows_);
    }
    made.shared_error = std::sqrt(squares);
  }

 private:
  std::vector<Matrix64> of_turn_;     // for each design: rows of the turn x subsets
  std::vector<DrawSums> of_designs_;  // over rows, each alike
  std::vector<DrawSums> of_rows_;     // over rows, by the share that the design has in the row's mean
  size_t rows_ = 0;
};

}  // namespace

std::string_view subset_state_reason(SubsetState state) {
  switch (state) {
    case SubsetState::attributions_not_finite: return kNotFinite;
    case SubsetState::attributions_all_zero: return kAllZero;
    case SubsetState::attributions_flat: return "attributions are the same for all subsets";
    case SubsetState::values_not_finite: return "the model's value is no number for some subset";
    case SubsetState::values_flat: return "the model's value is the same for all subsets";
    case SubsetState::defined: break;
  }
  return {};
}

SubsetState subset_attribution_state(std::span<const float> attributions) {
  if (!all_finite(attributions)) return SubsetState::attributions_not_finite;
  if (all_zero(attributions)) return SubsetState::attributions_all_zero;
  const auto [least, most] = std::ranges::minmax(attributions);
  if (static_cast<double>(most) - least <= kSubsetRounding * largest_size(attributions)) {
    return SubsetState::attributions_flat;
  }
  return SubsetState::defined;
}

SideRounding subset_side_rounding(const SubsetDesign& design, std::span<const float> attributions,
                                  double value_rounding) {
  return {kSubsetRounding * std::sqrt(static_cast<double>(design.largest())) * largest_size(attributions),
          value_rounding};
}

SubsetCorrelation correlate_with_loss(std::span<const double> sums, std::span<const double> values,
                                      const SideRounding& rounding, double population, std::span<double> influences) {
  return correlate(sums, values, rounding, population, influences);
}

SubsetCorrelations correlate_subsets(const Game& game, MatrixView<const float> attributions,
                                     std::span<const SubsetDesign> designs, const Context& context,
                                     std::string_view task, SubsetValues* shared_values) {
  const size_t rows = game.rows();
  assert(attributions.rows() == rows && attributions.cols() == game.players());
  SubsetCorrelations made{Matrix64(rows, designs.size()),
                          Matrix64(rows, designs.size()),
                          OwnedMatrix<SubsetState>(rows, designs.size()),
                          {},
                          0,
                          0};
  std::ranges::fill(made.correlation.values(), NAN);
  std::ranges::fill(made.standard_error.values(), NAN);
  std::vector<Coalitions> kept;
  std::vector<size_t> begins = {0};
  size_t drawn = 0;
  for (const SubsetDesign& design : designs) {
    kept.push_back(design.kept());
    begins.push_back(begins.back() + design.size());
    drawn += design.whole() ? 0 : design.size();
  }
  std::vector<size_t> played;
  for (size_t r = 0; r < rows; r++) {
    const SubsetState state = subset_attribution_state(attributions.row(r));
    if (state == SubsetState::defined) played.push_back(r);
    std::ranges::fill(made.state.row(r), state);
  }
  const size_t references = game.references();
  const bool held = shared_values != nullptr && shared_values->hold(game, designs, context, task);
  made.evaluations =
      held ? shared_values->counted_evaluations() : static_cast<uint64_t>(played.size()) * references * begins.back();

  const size_t turn_rows =
      drawn == 0 ? played.size() : std::min(played.size(), std::max(kInfluencesPerTurn / drawn, kLeastRowsPerTurn));
  SharedInfluences shared(designs, turn_rows);
  std::vector<size_t> place(rows, 0);  // of a row in its turn
  for (size_t i = 0; i < played.size(); i++) place[played[i]] = i % turn_rows;

  const auto finish = [&](RowState& state, size_t row, size_t design, auto values) {
    const std::span<const float> phi = attributions.row(row);
    const std::span<double> sums(state.sums.get(values.size()), values.size());
    designs[design].sum(phi, sums, state.tables);
    const SideRounding rounding = subset_side_rounding(designs[design], phi, game.rounding() * largest_size(values));
    const SubsetCorrelation found = correlate(std::span<const double>(sums), values, rounding,
                                              designs[design].population(), shared.room(place[row], design));
    made.correlation(row, design) = found.correlation;
    made.standard_error(row, design) = found.standard_error;
    made.state(row, design) = found.state;
  };
  const Context inner = context.quiet();
  std::vector<const SubsetValues::Held*> known;
  for (size_t d = 0; held && d < designs.size(); d++) known.push_back(&shared_values->of(designs[d]));
  const auto finish_known = [&](std::span<const size_t> turn) {
    parallel_blocks(inner, turn.size(), kRowsPerTurn, [&](const Block& block) {
      RowState state;
      for (size_t i = block.begin; i < block.end; i++) {
        for (size_t d = 0; d < known.size(); d++) {
          if (references == 1) {
            finish(state, turn[i], d, std::span<const float>(known[d]->values.row(turn[i])));
          } else {
            finish(state, turn[i], d, std::span<const double>(known[d]->sums.row(turn[i])));
          }
        }
      }
    });
  };
  const bool one_turn = turn_rows == played.size();
  ProgressScope progress(one_turn ? inner : context, task, played.size());
  for (size_t first = 0; first < played.size(); first += turn_rows) {
    const std::span<const size_t> turn = std::span(played).subspan(first, std::min(turn_rows, played.size() - first));
    if (held) {
      // In the same turns as without, because influences of rows are added up turn by turn.
      finish_known(turn);
      shared.add(turn, made.state, inner);
      progress.advance(turn.size());
      continue;
    }
    play(
        game, turn, kept, one_turn ? context : inner, task,
        [&](size_t /*row*/) { return RowState{std::vector<double>(references == 1 ? 0 : begins.back()), {}, {}}; },
        [&](RowState& state, size_t row, size_t reference, size_t part, std::span<const float> found) {
          if (references == 1) {
            finish(state, row, part, found);
            return;
          }
          // A correlation with the sum over reference rows is that with their mean.
          const std::span<double> values = std::span(state.values).subspan(begins[part], found.size());
          for (size_t i = 0; i < found.size(); i++) values[i] += found[i];
          if (reference + 1 < references) return;
          finish(state, row, part, std::span<const double>(values));
        },
        [](const RowState& /*state*/, size_t /*row*/) {});
    shared.add(turn, made.state, inner);
    progress.advance(turn.size());
  }
  shared.finish(designs, made);
  return made;
}

void score_by_subsets(const Game& game, MatrixView<const float> attributions, const SubsetDesign& design,
                      Scores& scores, const Context& context, std::string_view task, SubsetValues* shared_values) {
  const SubsetCorrelations found =
      correlate_subsets(game, attributions, std::span(&design, 1), context, task, shared_values);
  const std::span<const double> values = found.correlation.values();
  scores.values.assign(values.begin(), values.end());
  if (!design.whole()) {
    const std::span<const double> errors = found.standard_error.values();
    scores.standard_error.assign(errors.begin(), errors.end());
  }
  scores.shared_error = found.shared_error;
  UndefinedCounts undefined;
  for (const SubsetState state : found.state.values()) {
    if (state != SubsetState::defined) undefined.add(subset_state_reason(state));
  }
  scores.undefined = undefined.take();
  scores.evaluations += found.evaluations;
}

}  // namespace assay
