#include "assay/evaluate/neighbourhoods/neighbourhoods.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "assay/core/statistics.h"

namespace assay {
namespace {

constexpr size_t kNeighboursOfMedianRow = 10;
// How far above the median the gap is looked for in which a radius is put. Decimals such as 0.1 are rounded when they
// are stored in float32, so that equal steps of them differ by about this much at most.
constexpr double kMargin = 1e-4;

Norm norm_named(std::string_view name) {
  if (name == "l1") return Norm::l1;
  return name == "l2" ? Norm::l2 : Norm::linf;
}

// Which places of an index are somebody's neighbour. A block whose places are all marked is not looked at again: with a
// wide radius that is most of them after the first batches.
class Marks {
 public:
  explicit Marks(size_t places) : places_(places), marked_((places + kBlockRows - 1) / kBlockRows) {}

  bool full(size_t block) const {
    const size_t here = std::min(kBlockRows, places_ - block * kBlockRows);
    return marked_[block].load(std::memory_order_relaxed) == ~uint32_t{0} >> (kBlockRows - here);
  }
  void mark(size_t block, uint32_t places) { marked_[block].fetch_or(places, std::memory_order_relaxed); }
  bool marked(size_t place) const {
    return (marked_[place / kBlockRows].load(std::memory_order_relaxed) >> (place % kBlockRows) & 1) != 0;
  }

 private:
  size_t places_;
  std::vector<std::atomic<uint32_t>> marked_;
};

class Marking final : public NeighbourVisitor {
 public:
  explicit Marking(Marks& marks) : marks_(marks) {}
  bool wants(size_t block) override { return !marks_.full(block); }
  void see(size_t block, std::span<const BlockHit> hits) override {
    uint32_t places = 0;
    for (const BlockHit& hit : hits) places |= hit.within & ~hit.coincident;
    if (places != 0) marks_.mark(block, places);
  }

 private:
  Marks& marks_;
};

}  // namespace

Neighbourhoods::Neighbourhoods(const EvaluateTask& task, const NeighbourhoodOptions& options, const Context& context) {
  const std::vector<uint32_t> of_rows = predicted_classes(*task.subject.model, task.subject.rows->x.view(), context);
  const std::vector<uint32_t> of_pool = predicted_classes(*task.subject.model, task.subject.pool->x.view(), context);
  if (!task.subject.model->info().class_names.empty()) evaluations_ = of_rows.size() + of_pool.size();

  std::map<uint32_t, std::vector<size_t>> rows;
  std::map<uint32_t, std::vector<size_t>> pool;
  for (size_t r = 0; r < of_rows.size(); r++) rows[of_rows[r]].push_back(r);
  for (size_t r = 0; r < of_pool.size(); r++) {
    if (rows.contains(of_pool[r])) pool[of_pool[r]].push_back(r);
  }
  std::vector<std::vector<size_t>> part_rows;
  std::vector<std::vector<size_t>> part_pool;
  for (auto& [label, members] : pool) {
    part_rows.push_back(std::move(rows[label]));
    part_pool.push_back(std::move(members));
  }
  std::vector<NeighbourIndex> indexes =
      NeighbourIndex::of_parts(*task.subject.pool, norm_named(options.rho),
                               options.space == "raw" ? Space::raw : Space::scaled, part_pool, context);
  for (size_t i = 0; i < indexes.size(); i++) parts_.push_back({std::move(part_rows[i]), std::move(indexes[i])});

  chosen_ = !options.radius.has_value();
  if (!chosen_) {
    radius_ = *options.radius;
    return;
  }
  radius_ = reach(task, kNeighboursOfMedianRow, context);
}

double Neighbourhoods::reach(const EvaluateTask& task, size_t neighbours, const Context& context) const {
  const MatrixView<const float> rows = task.subject.rows->x.view();
  std::vector<double> reaches;
  for (const Part& part : parts_) {
    const std::vector<double> found = part.index.reach(rows, part.rows, neighbours, context);
    reaches.insert(reaches.end(), found.begin(), found.end());
  }
  const double median = quantile(reaches, 0.5);
  if (std::isnan(median)) return 0;
  const double least = median * (1 + kMargin);
  DistanceGap gap = {0, std::numeric_limits<double>::infinity()};
  for (const double reach : reaches) {
    if (reach <= least) gap.below = std::max(gap.below, reach);
    if (reach > least) gap.above = std::min(gap.above, reach);
  }
  for (const Part& part : parts_) gap = part.index.gap(rows, part.rows, least, gap, context);
  if (std::isinf(gap.above)) return least;
  const double middle = gap.below + (gap.above - gap.below) / 2;
  // Beyond the last neighbour but an outlier, the middle would say nothing of the distances that count.
  return gap.below > 0 ? std::min(middle, 2 * gap.below) : middle;
}

std::vector<size_t> finite_rows(MatrixView<const float> attributions, std::span<const size_t> rows) {
  std::vector<size_t> finite;
  for (const size_t row : rows) {
    if (all_finite(attributions.row(row))) finite.push_back(row);
  }
  return finite;
}

void explain_neighbours(const EvaluateTask& task, const Neighbourhoods& neighbourhoods, const Context& context) {
  if (task.pool_explanations->all_known()) return;
  std::vector<size_t> needed;
  for (const Neighbourhoods::Part& part : neighbourhoods.parts()) {
    const std::vector<size_t> scored = finite_rows(task.explanations.values.view(), part.rows);
    Marks marks(part.index.rows());
    part.index.stream(
        task.subject.rows->x.view(), scored, neighbourhoods.radius(), false,
        [&](std::span<const size_t>) { return std::make_unique<Marking>(marks); }, context);
    const std::span<const uint32_t> places = part.index.places();
    for (size_t place = 0; place < places.size(); place++) {
      if (marks.marked(place)) needed.push_back(places[place]);
    }
  }
  task.pool_explanations->need(needed, context);
}

}  // namespace assay
