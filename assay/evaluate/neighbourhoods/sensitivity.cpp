#include "assay/evaluate/neighbourhoods/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>

namespace assay {
namespace {

// A pass over the whole block costs about as much as this many neighbours one by one.
constexpr int kFewRows = 2;

// Numbers that start at a cache line.
template <class T>
class AlignedRoom {
 public:
  explicit AlignedRoom(size_t size) : room_(size == 0 ? 0 : size + kLine / sizeof(T)) {
    void* start = room_.data();
    size_t bytes = room_.size() * sizeof(T);
    if (size > 0) data_ = static_cast<T*>(std::align(kLine, size * sizeof(T), start, bytes));
  }
  AlignedRoom(AlignedRoom&&) noexcept = default;
  AlignedRoom& operator=(AlignedRoom&&) noexcept = default;

  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static constexpr size_t kLine = 64;
  std::vector<T> room_;
  T* data_ = nullptr;
};

// Explanations of the pool by place, block after block, each player by player; empty where no kernel reads them.
AlignedRoom<float> tiles_of(ExplanationDistance distance, MatrixView<const float> pool,
                            std::span<const uint32_t> places) {
  const size_t blocks = (places.size() + kBlockRows - 1) / kBlockRows;
  AlignedRoom<float> tiles(has_tile_kernel(distance) ? blocks * kBlockRows * pool.cols() : 0);
  if (tiles.data() == nullptr) return tiles;
  for (size_t place = 0; place < places.size(); place++) {
    float* at = tiles.data() + place / kBlockRows * kBlockRows * pool.cols() + place % kBlockRows;
    const std::span<const float> row = pool.row(places[place]);
    for (size_t p = 0; p < row.size(); p++) at[p * kBlockRows] = row[p];
  }
  return tiles;
}

// What all batches of one part read, and where they write: each its own rows, and marks that only ever grow.
struct BatchComparison {
  ExplanationDistance distance;
  Fold fold;
  bool weighted;
  MatrixView<const float> rows;      // explanations, prepared
  MatrixView<const float> pool;      // explanations of the pool, prepared
  std::span<const uint32_t> places;  // rows of the pool by place
  const float* tiles;                // the same by place, as tiles_of has them; null where no kernel reads them
  std::vector<uint32_t> finite;      // by block: places with finite attributions
  std::span<double> values;          // results by row
  std::span<uint64_t> neighbours;    // compared, by row
  std::span<uint8_t> left_out;       // by row: whether a neighbour was left out
  std::vector<std::atomic<uint32_t>>& skipped;  // by block: neighbours that are not finite
  std::atomic<uint64_t>& undefined_pairs;
  const Context& context;
};

class Comparing final : public NeighbourVisitor {
 public:
  Comparing(BatchComparison& comparison, std::span<const size_t> batch)
      : all_(comparison), batch_(batch), wide_(comparison.tiles != nullptr ? comparison.pool.cols() * kBlockRows : 0) {}

  void see(size_t block, std::span<const BlockHit> hits) override {
    all_.context.check_cancelled();
    size_t count = 0;
    for (const BlockHit& hit : hits) {
      uint32_t chosen = hit.within & ~hit.coincident;
      if (const uint32_t lost = chosen & ~all_.finite[block]; lost != 0) {
        all_.skipped[block].fetch_or(lost, std::memory_order_relaxed);
        all_.left_out[batch_[hit.query]] = 1;
        chosen &= ~lost;
      }
      const int chosen_count = std::popcount(chosen);
      if (all_.tiles == nullptr || chosen_count <= kFewRows) {
        one_by_one(block, hit, chosen);
        continue;
      }
      counts_[hit.query] += static_cast<uint64_t>(chosen_count);
      dense_[count++] = {all_.rows.row(batch_[hit.query]).data(), chosen, all_.weighted ? hit.distances : nullptr,
                         &lanes_[hit.query]};
    }
    if (count == 0) return;
    const size_t players = all_.pool.cols();
    fold_tile(all_.distance, all_.fold, all_.tiles + block * kBlockRows * players, wide_.data(), players,
              {dense_.data(), count});
  }

  void finish() override {
    for (size_t i = 0; i < batch_.size(); i++) {
      all_.neighbours[batch_[i]] = counts_[i];
      if (counts_[i] == 0) continue;
      double total = 0;
      for (const double lane : lanes_[i].values) {
        total = all_.fold == Fold::mean ? total + lane : std::max(total, lane);
      }
      all_.values[batch_[i]] = all_.fold == Fold::mean ? total / static_cast<double>(counts_[i]) : total;
    }
  }

 private:
  void one_by_one(size_t block, const BlockHit& hit, uint32_t chosen) {
    const size_t row = batch_[hit.query];
    for (; chosen != 0; chosen &= chosen - 1) {
      const auto at = static_cast<size_t>(std::countr_zero(chosen));
      const size_t place = block * kBlockRows + at;
      // A pair may take milliseconds where ranks of thousands of players are compared.
      all_.context.check_cancelled();
      double apart = distance_between(all_.distance, all_.rows.row(row), all_.pool.row(all_.places[place]));
      if (std::isnan(apart)) {
        all_.undefined_pairs.fetch_add(1, std::memory_order_relaxed);
        all_.left_out[row] = 1;
        continue;
      }
      if (all_.weighted) apart /= hit.distances[at];
      fold_one(all_.fold, place, apart, lanes_[hit.query]);
      counts_[hit.query]++;
    }
  }

  BatchComparison& all_;
  std::span<const size_t> batch_;
  AlignedRoom<double> wide_;
  std::array<FoldLanes, kBlockRows> lanes_ = {};
  std::array<uint64_t, kBlockRows> counts_ = {};
  std::array<TileQuery, kBlockRows> dense_ = {};
};

std::vector<uint32_t> finite_places(MatrixView<const float> pool, std::span<const uint32_t> places) {
  std::vector<uint32_t> finite((places.size() + kBlockRows - 1) / kBlockRows, 0);
  for (size_t place = 0; place < places.size(); place++) {
    if (all_finite(pool.row(places[place]))) finite[place / kBlockRows] |= uint32_t{1} << (place % kBlockRows);
  }
  return finite;
}

// Scaled to unit norm. A row of zeros has no direction: it becomes NaN, like one whose attributions are not numbers.
Matrix directions_of(MatrixView<const float> values, const ComparisonOptions& options) {
  Matrix unit = prepared(values, options);
  for (size_t r = 0; r < unit.rows(); r++) {
    if (all_zero(unit.row(r))) std::ranges::fill(unit.row(r), NAN);
  }
  return unit;
}

std::string describe(const NeighbourhoodOptions& options, const Neighbourhoods& neighbourhoods, size_t rows,
                     std::span<const uint64_t> neighbours) {
  size_t covered = 0;
  double pairs = 0;
  for (const uint64_t count : neighbours) {
    covered += count > 0 ? 1 : 0;
    pairs += static_cast<double>(count);
  }
  return fmt::format(
      "neighbourhoods: radius {:.6g}{} under {} in {} space, explanations {}; {} of {} rows have neighbours, {:.4g} on "
      "average",
      neighbourhoods.radius(),
      neighbourhoods.radius_chosen() ? " (chosen: between distances, just above the median over the rows of the "
                                       "distance to the tenth nearest row of the class, the farthest where there are "
                                       "fewer)"
                                     : "",
      options.rho, options.space, options.comparison.normalise == "unit" ? "of unit norm" : "raw", covered, rows,
      covered > 0 ? pairs / static_cast<double>(covered) : 0.0);
}

}  // namespace

void score_sensitivity(const EvaluateTask& task, const NeighbourhoodOptions& options, Fold fold, Scores& scores,
                       const Context& context) {
  const Neighbourhoods neighbourhoods(task, options, context);
  scores.evaluations = neighbourhoods.evaluations();
  explain_neighbours(task, neighbourhoods, context);
  score_in_neighbourhoods(task, neighbourhoods, options, fold, scores, context);
}

void score_in_neighbourhoods(const EvaluateTask& task, const Neighbourhoods& neighbourhoods,
                             const NeighbourhoodOptions& options, Fold fold, Scores& scores, const Context& context) {
  // Only a change of the values is worth a copy.
  const bool unit = options.comparison.normalise == "unit";
  const MatrixView<const float> given = task.explanations.values.view();
  const Matrix unit_rows = unit ? directions_of(given, options.comparison) : Matrix();
  const Matrix unit_pool = unit ? directions_of(task.pool_explanations->values(), options.comparison) : Matrix();
  const MatrixView<const float> rows = unit ? unit_rows.view() : given;

  std::vector<uint64_t> neighbours(task.rows(), 0);
  std::vector<uint8_t> left_out(task.rows(), 0);
  std::atomic<uint64_t> undefined_pairs = 0;
  uint64_t skipped_rows = 0;
  for (const Neighbourhoods::Part& part : neighbourhoods.parts()) {
    const std::vector<size_t> scored = finite_rows(rows, part.rows);
    const MatrixView<const float> pool = unit ? unit_pool.view() : task.pool_explanations->values();
    std::vector<uint32_t> finite = finite_places(pool, part.index.places());
    std::vector<std::atomic<uint32_t>> skipped(finite.size());
    const ExplanationDistance distance = explanation_distance(options.comparison.distance);
    const AlignedRoom<float> tiles = tiles_of(distance, pool, part.index.places());
    BatchComparison comparison{.distance = distance,
                               .fold = fold,
                               .weighted = options.weighting == "inverse_distance",
                               .rows = rows,
                               .pool = pool,
                               .places = part.index.places(),
                               .tiles = tiles.data(),
                               .finite = std::move(finite),
                               .values = scores.values,
                               .neighbours = neighbours,
                               .left_out = left_out,
                               .skipped = skipped,
                               .undefined_pairs = undefined_pairs,
                               .context = context};
    part.index.stream(
        task.subject.rows->x.view(), scored, neighbourhoods.radius(), comparison.weighted,
        [&](std::span<const size_t> batch) { return std::make_unique<Comparing>(comparison, batch); }, context,
        "comparing explanations");
    for (const std::atomic<uint32_t>& places : skipped) {
      skipped_rows += static_cast<uint64_t>(std::popcount(places.load(std::memory_order_relaxed)));
    }
  }

  UndefinedCounts undefined;
  for (size_t r = 0; r < task.rows(); r++) {
    if (neighbours[r] > 0) continue;
    const bool no_direction = unit && all_zero(given.row(r));
    undefined.add(!all_finite(given.row(r)) ? kNotFinite
                  : no_direction            ? kAllZero
                  : left_out[r] != 0        ? kNoComparable
                                            : kNoNeighbour);
  }
  scores.undefined = undefined.take();
  scores.notes.push_back(describe(options, neighbourhoods, task.rows(), neighbours));
  if (skipped_rows > 0) {
    scores.notes.push_back(
        fmt::format("{} rows of the pool are left out as neighbours: their attributions are not all numbers{}",
                    skipped_rows, unit ? ", or all 0" : ""));
  }
  if (undefined_pairs > 0) {
    scores.notes.push_back(
        fmt::format("{} pairs are left out: one of the two explanations is all zero", undefined_pairs.load()));
  }
}

}  // namespace assay
