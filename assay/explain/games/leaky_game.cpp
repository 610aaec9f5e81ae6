// The game of a network with one hidden layer of (leaky) ReLUs: no rows, no products, one maximum and one addition for
// each hidden unit and coalition.
//
// With t_j(S) the entries of a coalition (games/entry_tables.h), s the slope below 0 and w_j the weight of unit j in
// the explained value,
//   v(S) = constant + sum over j of w_j leaky(t_j(S)),   leaky(t) = s t + (1 - s) max(t, 0).
// The part s t is additive over players, and so is every unit whose entry keeps its sign over all coalitions, which the
// sums of its positive and of its negative deltas tell: both are summed in float64, once for each player. The other
// units are scaled by |w_j| (1 - s) and go through games/leaky_kernels.h: in a range the subsets of the lowest players
// lie side by side in vectors; in a list the units do, from table rows. Along orders rows do (games/leaky_walks.h).
//
// Cost: set-up of a row about players x units; then units / lanes steps for each coalition. Accuracy: float32 sums of
// float64 deltas rounded once; over random networks of 40 to 512 units within 3e-6 of the largest |v| of what the model
// predicts. Rows that drive units far below 0, as raw features of large numbers do, are played from whole sums instead.
// A value's bits depend on the row, the reference row and the coalition; in lists also on how many coalitions the call
// asks for, which decides how players are cut into tables, and along an order on that order. All forms agree to float32
// rounding.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "assay/explain/games/entry_kernels.h"
#include "assay/explain/games/entry_tables.h"
#include "assay/explain/games/leaky_kernels.h"
#include "assay/explain/games/leaky_walks.h"
#include "assay/explain/games/makers.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/games/side_by_side.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// Coalitions of a list that are played at a time.
constexpr size_t kBlock = 512;
// Values of rows that are walked together then take 4 MiB. (A row alone takes as long from tables.)
constexpr size_t kMostWalked = size_t{1} << 16;
// So long that values of rows that are walked together take 16 MiB.
constexpr size_t kMostWalkedAlone = size_t{1} << 18;
// Coalitions whose places in the tables are found once for all rows of a call.
constexpr size_t kMostPlanned = 8192;
// How far the low players may take units below 0, over what all players bring them above: so many roundings of float32
// are lost of the value.
constexpr double kMostBelow = 32;
// Numbers of the copies of the first layer, one for each target.
constexpr size_t kMostWeights = size_t{1} << 25;

// What the rows of one target share. Units are those with a weight, the positive ones first.
struct TargetNetwork {
  size_t units = 0;
  size_t plus = 0;
  std::vector<uint32_t> unit_of;  // of each unit, its entry
  std::vector<double> scales;     // |w_j| (1 - s), padded by zeros
  Matrix weights;                 // columns x padded units: of the first layer
  std::vector<double> through;    // of each column: sum over all entries of its weight times w_j
  std::vector<double> constant;   // of each reference row: the value's offset and s t of its entries
  std::vector<float> bends;       // of each entry: w_j (1 - s)
  double slope = 0;

  double sign(size_t unit) const { return unit < plus ? 1 : -1; }
};

TargetNetwork prepare_target(const AffineEntry& entry, const LeakyTail& tail, const OutputTerm& term,
                             const Matrix64& references) {
  TargetNetwork made;
  made.slope = tail.slope;
  const MatrixView<const float> first = entry.weights();
  std::vector<double> weight(first.cols());
  for (size_t j = 0; j < weight.size(); j++) {
    weight[j] = static_cast<double>(term.scale) * tail.weights(j, term.output);
  }
  const double bend = 1 - made.slope;
  for (const bool plus : {true, false}) {
    for (size_t j = 0; j < weight.size(); j++) {
      const double scaled = weight[j] * bend;
      if (plus) made.bends.push_back(static_cast<float>(scaled));
      if (plus ? scaled > 0 : scaled < 0) made.unit_of.push_back(static_cast<uint32_t>(j));
    }
    if (plus) made.plus = made.unit_of.size();
  }
  made.units = made.unit_of.size();
  made.scales.assign(padded(made.units), 0);
  for (size_t i = 0; i < made.units; i++) made.scales[i] = std::abs(weight[made.unit_of[i]] * bend);
  made.weights = Matrix(first.rows(), padded(made.units));
  made.through.assign(first.rows(), 0);
  for (size_t c = 0; c < first.rows(); c++) {
    for (size_t i = 0; i < made.units; i++) made.weights(c, i) = first(c, made.unit_of[i]);
    for (size_t j = 0; j < weight.size(); j++) made.through[c] += weight[j] * first(c, j);
  }
  for (size_t r = 0; r < references.rows(); r++) {
    double sum = 0;
    for (size_t j = 0; j < weight.size(); j++) sum += weight[j] * references(r, j);
    made.constant.push_back(term.offset + static_cast<double>(term.scale) * tail.bias[term.output] + made.slope * sum);
  }
  return made;
}

class LeakyGame final : public Game, public SideBySide {
 public:
  LeakyGame(const ExplainTask& task, const AffineEntry& entry, const LeakyTail& tail)
      : task_(task),
        weights_(entry.weights()),
        references_(affine_entries(task.reference.rows.view(), entry.weights(), entry.bias())) {
    targets_.resize(task.targets.terms.size());
    std::vector<bool> used(targets_.size(), false);
    for (const uint32_t target : task.targets.of_row) used[target] = true;
    for (size_t t = 0; t < targets_.size(); t++) {
      if (used[t]) targets_[t] = prepare_target(entry, tail, task.targets.terms[t], references_);
    }
  }

  size_t players() const override { return task_.players.size(); }
  size_t rows() const override { return task_.rows.rows(); }
  size_t references() const override { return references_.rows(); }
  bool strata() const override { return task_.reference.strata; }
  bool concurrent() const override { return true; }
  double rounding() const override { return kTableRounding; }

  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context& context) const override {
    assert(coalitions.players() == players() && values.rows() == rows.size() && values.cols() == coalitions.size());
    const ScratchPool<Scratch>::Lease scratch(pool_);
    if (walks(coalitions)) {
      for (size_t i = 0; i < rows.size(); i += walk_lanes()) {
        context.check_cancelled();
        const size_t count = std::min(walk_lanes(), rows.size() - i);
        float* by_row = scratch->walk_values.get(coalitions.size() * walk_lanes());
        walk(rows.subspan(i, count), reference, coalitions, *scratch, by_row, walk_lanes());
        transpose(by_row, walk_lanes(), coalitions.size(), count, values.row(i).data(), values.stride());
      }
      return;
    }
    const bool range = coalitions.is_range();
    TablePlan plan;
    size_t planned = SIZE_MAX;  // units that the plan is for
    for (size_t i = 0; i < rows.size(); i++) {
      context.check_cancelled();
      float* out = values.row(i).data();
      const size_t units = targets_[task_.targets.of_row[rows[i]]].units;
      if (!range && units != planned) {
        plan = plan_tables(players(), coalitions.size(), units);
        planned = units;
        scratch->planned_rows.resize(coalitions.size() <= kMostPlanned ? coalitions.size() * plan.chunks : 0);
        if (!scratch->planned_rows.empty()) {
          find_table_rows(plan, coalitions, 0, coalitions.size(), scratch->planned_rows.data());
        }
      }
      if (range || plan.chunks > 0) {
        const size_t low = range ? std::min(low_players_of_range(), players()) : plan.first_player[1];
        const LeakyRow row = prepare(rows[i], reference, low, *scratch);
        if (!row.cancels) {
          if (range) {
            values_of_range(row, coalitions.first(), coalitions.size(), scratch->range, out);
          } else {
            play_tables(row, plan, coalitions, *scratch, out);
          }
          continue;
        }
      }
      play_product(prepare(rows[i], reference, 0, *scratch), coalitions, *scratch, out);
    }
  }

  bool gives_side_by_side(const Coalitions& coalitions) const override { return walks(coalitions); }

  void values_side_by_side(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, size_t width,
                           float* values, const Context& context) const override {
    assert(walks(coalitions) && rows.size() <= width && width % walk_lanes() == 0);
    const ScratchPool<Scratch>::Lease scratch(pool_);
    for (size_t i = 0; i < rows.size(); i += walk_lanes()) {
      context.check_cancelled();
      const auto here = rows.subspan(i, std::min(walk_lanes(), rows.size() - i));
      walk(here, reference, coalitions, *scratch, values + i, width);
    }
  }

 private:
  struct Scratch {
    std::vector<double> differences, additive;
    std::vector<uint32_t> kept, table_rows;
    std::vector<uint32_t> planned_rows;  // table rows of all coalitions, the same for all rows of a target; or empty
    VectorBuffer<double> exact, bounds, walk_additive;
    VectorBuffer<float> deltas, base, signs, range, tables, additive_rows, masks, walk_rows, walk_values;
  };

  // Longer orders are walked too where tables have no place for so many players: products would take as long as the
  // square of their number.
  bool walks(const Coalitions& coalitions) const {
    if (coalitions.orders().empty()) return false;
    if (coalitions.size() <= kMostWalked) return true;
    return coalitions.size() <= kMostWalkedAlone &&
           plan_tables(players(), coalitions.size(), weights_.cols()).chunks == 0;
  }

  // At most walk_lanes() rows, whatever their targets: values, by row, those of coalitions `stride` apart.
  void walk(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, Scratch& scratch,
            float* values, size_t stride) const {
    const size_t lanes = walk_lanes();
    const std::vector<uint32_t>& player = task_.players.of_column;
    const auto base = task_.reference.rows.row(reference);
    float* differences = scratch.walk_rows.zeros((player.size() + weights_.cols()) * lanes);
    float* bends = differences + player.size() * lanes;
    double* additive = scratch.walk_additive.zeros((players() + 1) * lanes);
    for (size_t i = 0; i < rows.size(); i++) {
      const TargetNetwork& target = targets_[task_.targets.of_row[rows[i]]];
      const auto row = task_.rows.row(rows[i]);
      additive[i] = target.constant[reference];
      for (size_t c = 0; c < player.size(); c++) {
        const double difference = static_cast<double>(row[c]) - base[c];
        differences[c * lanes + i] = static_cast<float>(difference);
        additive[(player[c] + 1) * lanes + i] += target.slope * target.through[c] * difference;
      }
    }
    const std::vector<uint32_t>& targets = task_.targets.of_row;
    if (std::ranges::all_of(rows, [&](size_t row) { return targets[row] == targets[rows[0]]; })) {
      const std::vector<float>& same = targets_[targets[rows[0]]].bends;
      for (size_t j = 0; j < weights_.cols(); j++) std::fill_n(bends + j * lanes, lanes, same[j]);
    } else {
      for (size_t i = 0; i < rows.size(); i++) {
        const std::vector<float>& own = targets_[targets[rows[i]]].bends;
        for (size_t j = 0; j < weights_.cols(); j++) bends[j * lanes + i] = own[j];
      }
    }
    const LeakyWalk made = {players(), weights_, player, references_.row(reference), differences, bends, additive};
    walk_orders(made, coalitions.orders(), scratch.tables, values, stride);
  }

  // The row's game, with so many low players.
  LeakyRow prepare(size_t row, size_t reference, size_t low, Scratch& scratch) const {
    const TargetNetwork& target = targets_[task_.targets.of_row[row]];
    const std::vector<uint32_t>& player = task_.players.of_column;
    const size_t wide = target.scales.size();
    LeakyRow made;
    made.players = players();
    made.low = low;
    made.constant = target.constant[reference];
    subtract(task_.rows.row(row), task_.reference.rows.row(reference), scratch.differences);
    scratch.additive.assign(players(), 0);
    for (size_t c = 0; c < player.size(); c++) {
      scratch.additive[player[c]] += scratch.differences[c] * target.through[c];
    }
    for (size_t p = low; p < players(); p++) scratch.additive[p] *= target.slope;

    double* deltas = scratch.exact.zeros(players() * wide);
    add_deltas(target.weights.view(), player, scratch.differences, deltas, wide);
    double* base = scratch.bounds.zeros(3 * wide);
    for (size_t i = 0; i < target.units; i++) base[i] = target.scales[i] * references_(reference, target.unit_of[i]);
    double* lowest = base + wide;
    double* highest = lowest + wide;
    scale_and_bound(players(), target.units, wide, target.scales.data(), base, deltas, lowest, highest);

    scratch.kept.clear();
    double below = 0;
    double above = 0;
    float* kept_base = scratch.base.zeros(wide);
    for (size_t i = 0; i < target.units; i++) {
      if (lowest[i] < 0 && highest[i] > 0) {
        kept_base[scratch.kept.size()] = static_cast<float>(base[i]);
        scratch.kept.push_back(static_cast<uint32_t>(i));
        if (i < target.plus) made.plus++;
        for (size_t p = 0; p < low; p++) below -= std::min(deltas[p * wide + i], 0.0);
        above += highest[i];
        continue;
      }
      // max(t, 0) is t or 0 in all coalitions. The sums `through` hold t for the low players already, 0 for the others.
      const double sign = target.sign(i);
      if (lowest[i] >= 0) {
        made.constant += sign * base[i];
        for (size_t p = low; p < players(); p++) scratch.additive[p] += sign * deltas[p * wide + i];
      } else {
        for (size_t p = 0; p < low; p++) scratch.additive[p] -= sign * deltas[p * wide + i];
      }
    }
    made.cancels = below > kMostBelow * above;
    made.units = scratch.kept.size();
    made.stride = padded(made.units);
    float* kept_deltas = scratch.deltas.get(players() * made.stride);
    for (size_t p = 0; p < players(); p++) {
      const double sign = p < low ? -1 : 1;
      const double* from = deltas + p * wide;
      float* to = kept_deltas + p * made.stride;
      for (size_t i = 0; i < made.units; i++) to[i] = static_cast<float>(sign * from[scratch.kept[i]]);
      std::fill(to + made.units, to + made.stride, 0.0F);
    }
    float* signs = scratch.signs.zeros(made.stride);
    for (size_t i = 0; i < made.units; i++) signs[i] = i < made.plus ? 1.0F : -1.0F;
    made.signs = signs;
    made.deltas = kept_deltas;
    made.base = kept_base;
    made.additive = scratch.additive.data();
    return made;
  }

  void play_tables(const LeakyRow& row, const TablePlan& plan, const Coalitions& coalitions, Scratch& scratch,
                   float* values) const {
    float* tables = scratch.tables.get(plan.rows() * row.stride);
    build_tables(plan, row.deltas, row.base, row.stride, tables);
    float* additive = scratch.additive_rows.get(plan.rows());
    for (size_t c = 0; c < plan.chunks; c++) {
      const size_t first = plan.first_player[c];
      sum_subsets(row.additive + first, plan.first_player[c + 1] - first, c + 1 == plan.chunks ? row.constant : 0,
                  additive + plan.first_row[c]);
    }
    scratch.table_rows.resize(kBlock * plan.chunks);
    for (size_t begin = 0; begin < coalitions.size(); begin += kBlock) {
      const size_t count = std::min(kBlock, coalitions.size() - begin);
      const uint32_t* table_rows = scratch.planned_rows.data() + begin * plan.chunks;
      if (scratch.planned_rows.empty()) {
        find_table_rows(plan, coalitions, begin, count, scratch.table_rows.data());
        table_rows = scratch.table_rows.data();
      }
      values_of_table_rows(row, tables, additive, table_rows, plan.chunks, count, values + begin);
    }
  }

  // Without low players: a block's entries are a table of their own, beside one of zeros alone.
  void play_product(const LeakyRow& row, const Coalitions& coalitions, Scratch& scratch, float* values) const {
    const size_t block = std::min(kBlock, coalitions.size());
    float* tables = scratch.tables.get((block + 1) * row.stride);
    std::fill_n(tables, row.stride, 0.0F);
    float* additive = scratch.additive_rows.get(block + 1 + players());
    additive[0] = 0;
    float* by_player = additive + block + 1;
    for (size_t p = 0; p < players(); p++) by_player[p] = static_cast<float>(row.additive[p]);
    float* masks = scratch.masks.get(block * mask_stride(players()));
    scratch.table_rows.resize(2 * block);
    for (size_t i = 0; i < block; i++) {
      scratch.table_rows[2 * i] = 0;
      scratch.table_rows[2 * i + 1] = static_cast<uint32_t>(i + 1);
    }
    Product p;
    p.k = players();
    p.a = masks;
    p.a_row = mask_stride(players());
    p.accumulate = true;
    for (size_t begin = 0; begin < coalitions.size(); begin += block) {
      p.m = std::min(block, coalitions.size() - begin);
      write_masks(coalitions, begin, p.m, masks);
      for (size_t i = 1; i <= p.m; i++) {
        std::copy_n(row.base, row.stride, tables + i * row.stride);
        additive[i] = static_cast<float>(row.constant);
      }
      p.b = row.deltas;
      p.n = p.b_row = p.out_row = row.stride;
      p.out = tables + row.stride;
      if (p.n > 0) product(p);
      p.b = by_player;
      p.n = p.b_row = p.out_row = 1;
      p.out = additive + 1;
      product(p);
      values_of_table_rows(row, tables, additive, scratch.table_rows.data(), 2, p.m, values + begin);
    }
  }

  ExplainTask task_;
  MatrixView<const float> weights_;     // columns x entries: of the first layer
  Matrix64 references_;                 // reference rows x entries
  std::vector<TargetNetwork> targets_;  // those that rows have
  mutable ScratchPool<Scratch> pool_;
};

}  // namespace

std::unique_ptr<Game> make_leaky_game(const ExplainTask& task) {
  const AffineEntry* entry = task.model.affine_entry();
  if (entry == nullptr || task.targets.information) return nullptr;
  const std::optional<LeakyTail> tail = entry->leaky_tail();
  if (!tail) return nullptr;
  for (size_t j = 0; j < tail->weights.rows(); j++) {
    const auto row = tail->weights.row(j);
    if (!std::all_of(row.begin(), row.end(), [](float weight) { return std::isfinite(weight); })) return nullptr;
  }
  const MatrixView<const float> weights = entry->weights();
  if (task.targets.terms.size() > kMostWeights / std::max<size_t>(1, weights.rows() * padded(weights.cols()))) {
    return nullptr;
  }
  return std::make_unique<LeakyGame>(task, *entry, *tail);
}

}  // namespace assay
