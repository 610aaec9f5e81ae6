#include "assay/aggregate/mixtures/pair_grams.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "assay/aggregate/common.h"
#include "assay/aggregate/members.h"
#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

constexpr size_t kGramsAtATime = 4096;

constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();
// Pairs of a row that are gathered before they are handed out.
constexpr size_t kPairsAtOnce = 64;
// Sums kept apart, so that additions need not wait for each other.
constexpr size_t kSums = 8;

double dot_in_parts(const double* a, const double* b, size_t count) {
  std::array<double, kSums> sums{};
  size_t p = 0;
  for (; p + kSums <= count; p += kSums) {
    for (size_t i = 0; i < kSums; i++) sums[i] += a[p + i] * b[p + i];
  }
  for (size_t i = 0; p < count; p++, i++) sums[i] += a[p] * b[p];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void pack_gram(const double* values, size_t members, size_t players, double* packed) {
  for (size_t j = 0; j < members; j++) {
    for (size_t k = j; k < members; k++) *packed++ = dot_in_parts(values + j * players, values + k * players, players);
  }
}

// Rows have attributions of their own only where every member has.
Explanations finite_frame(const Members& members) {
  Explanations made;
  made.values = Matrix(members.rows(), 1);
  for (size_t r = 0; r < members.rows(); r++) made.values(r, 0) = members.finite(r) ? 0.0F : NAN;
  return made;
}

Neighbourhoods found_neighbourhoods(const AggregateTask& task, const Members& members,
                                    const MixtureNeighbourOptions& options, const Context& context) {
  const Explanations frame = finite_frame(members);
  Neighbourhoods made(evaluate_task(task, frame, nullptr), options.criterion_options("raw"), context);
  for (PoolExplanations* pool : task.pool_members) {
    explain_neighbours(evaluate_task(task, frame, pool), made, context);
  }
  return made;
}

// Counts the comparable neighbours of each row and marks them.
class Counting final : public NeighbourVisitor {
 public:
  Counting(std::span<const uint32_t> comparable, std::span<const size_t> batch, std::span<uint64_t> counts,
           std::vector<std::atomic<uint32_t>>& marks)
      : comparable_(comparable), batch_(batch), counts_(counts), marks_(marks) {}
  void see(size_t block, std::span<const BlockHit> hits) override {
    uint32_t seen = 0;
    for (const BlockHit& hit : hits) {
      const uint32_t chosen = hit.within & ~hit.coincident & comparable_[block];
      counts_[batch_[hit.query]] += static_cast<uint64_t>(std::popcount(chosen));
      seen |= chosen;
    }
    if (seen != 0) marks_[block].fetch_or(seen, std::memory_order_relaxed);
  }

 private:
  std::span<const uint32_t> comparable_;
  std::span<const size_t> batch_;
  std::span<uint64_t> counts_;
  std::vector<std::atomic<uint32_t>>& marks_;
};

}  // namespace

NeighbourhoodOptions MixtureNeighbourOptions::criterion_options(const std::string& normalise) const {
  return {*this, {"l2", normalise}};
}

std::vector<double> packed_products(std::span<const double> weights) {
  std::vector<double> made;
  for (size_t j = 0; j < weights.size(); j++) {
    for (size_t k = j; k < weights.size(); k++) made.push_back((j == k ? 1 : 2) * weights[j] * weights[k]);
  }
  return made;
}

double packed_sum(std::span<const double> gram, std::span<const double> products) {
  double total = 0;
  for (size_t i = 0; i < gram.size(); i++) total += gram[i] * products[i];
  return total;
}

// Makes the Gram matrices of one batch of rows and hands them on.
class PairCollector final : public NeighbourVisitor {
 public:
  PairCollector(const PairGrams& all, const Neighbourhoods::Part& part, std::span<const uint32_t> comparable,
                std::span<const size_t> batch, bool whole, const PairGrams::See& see)
      : all_(all),
        part_(part),
        comparable_(comparable),
        batch_(batch),
        whole_(whole),
        see_(see),
        differences_(all.members() * all.members_->players()) {}

  void see(size_t block, std::span<const BlockHit> hits) override {
    for (const BlockHit& hit : hits) {
      for (uint32_t chosen = hit.within & ~hit.coincident & comparable_[block]; chosen != 0; chosen &= chosen - 1) {
        const auto at = static_cast<size_t>(std::countr_zero(chosen));
        add(hit.query, part_.index.places()[block * kBlockRows + at], all_.weighted_ ? 1 / hit.distances[at] : 1.0);
      }
    }
  }

  void finish() override {
    for (size_t i = 0; i < batch_.size(); i++) hand_on(i);
  }

 private:
  void add(size_t query, size_t pool_row, double factor) {
    const size_t members = all_.members();
    const size_t players = all_.members_->players();
    const uint32_t other = all_.slot_of_pool_[pool_row];
    for (size_t j = 0; j < members; j++) {
      const float* x = all_.members_->of(j, batch_[query]).data();
      const float* z = all_.pool_values_[j].row(other).data();
      double* out = differences_.data() + j * players;
      for (size_t p = 0; p < players; p++) out[p] = static_cast<double>(x[p]) - z[p];
    }
    PairGrams::KeptRow& row = gathered_[query];
    const size_t packed = packed_size(members);
    row.grams.resize(row.grams.size() + packed);
    pack_gram(differences_.data(), members, players, row.grams.data() + row.grams.size() - packed);
    row.factors.push_back(factor);
    row.others.push_back(other);
    if (!whole_ && row.others.size() == kPairsAtOnce) hand_on(query);
  }

  void hand_on(size_t query) {
    PairGrams::KeptRow& row = gathered_[query];
    if (row.others.empty()) return;
    see_(all_.slot_of_row_[batch_[query]],
         {row.others.size(), row.grams.data(), row.factors.data(), row.others.data()});
    row.grams.clear();
    row.factors.clear();
    row.others.clear();
  }

  const PairGrams& all_;
  const Neighbourhoods::Part& part_;
  std::span<const uint32_t> comparable_;
  std::span<const size_t> batch_;
  bool whole_;
  const PairGrams::See& see_;
  std::vector<double> differences_;
  std::array<PairGrams::KeptRow, kBlockRows> gathered_;
};

PairGrams::PairGrams(const AggregateTask& task, const Members& members, const MixtureNeighbourOptions& options,
                     const Context& context, size_t most_bytes)
    : task_(&task),
      members_(&members),
      weighted_(options.weighting == "inverse_distance"),
      neighbourhoods_(found_neighbourhoods(task, members, options, context)) {
  const Explanations frame = finite_frame(members);
  std::vector<uint64_t> counts(members.rows(), 0);
  std::vector<bool> needed(task.subject.pool->rows(), false);
  const std::vector<std::vector<uint32_t>> comparable = comparable_places();
  for (size_t i = 0; i < neighbourhoods_.parts().size(); i++) {
    const Neighbourhoods::Part& part = neighbourhoods_.parts()[i];
    std::vector<std::atomic<uint32_t>> marks(comparable[i].size());
    part.index.stream(
        task.subject.rows->x.view(), finite_rows(frame.values.view(), part.rows), neighbourhoods_.radius(), false,
        [&](std::span<const size_t> batch) { return std::make_unique<Counting>(comparable[i], batch, counts, marks); },
        context);
    const std::span<const uint32_t> places = part.index.places();
    for (size_t place = 0; place < places.size(); place++) {
      if ((marks[place / kBlockRows].load() >> (place % kBlockRows) & 1) != 0) needed[places[place]] = true;
    }
  }
  slot_of_row_.assign(members.rows(), 0);
  for (size_t r = 0; r < counts.size(); r++) {
    if (counts[r] == 0) continue;
    slot_of_row_[r] = rows_.size();
    rows_.push_back(r);
    counts_.push_back(counts[r]);
    pairs_ += counts[r];
  }
  slot_of_pool_.assign(task.subject.pool->rows(), kNoSlot);
  for (size_t r = 0; r < needed.size(); r++) {
    if (!needed[r]) continue;
    slot_of_pool_[r] = static_cast<uint32_t>(pool_rows_.size());
    pool_rows_.push_back(r);
  }
  const PoolOutputs::Values explained = explained_neighbours(context);
  for (const PoolExplanations* pool : task.pool_members) {
    Matrix& values = pool_values_.emplace_back(pool_rows_.size(), members.players());
    for (size_t s = 0; s < pool_rows_.size(); s++) {
      std::ranges::copy(pool->values().row(pool_rows_[s]), values.row(s).begin());
    }
    clear_rounding(values.view(), explained.output, explained.base);
    scale_to_unit_norm(values.view());
  }
  const size_t bytes_of_pair = (packed_size(members.size()) + 1) * sizeof(double) + sizeof(uint32_t);
  if (pairs_ > most_bytes / bytes_of_pair) return;
  kept_rows_.resize(rows_.size());
  stream_pairs(
      true,
      [&](size_t i, const PairSpan& pairs) {
        KeptRow& row = kept_rows_[i];
        row.grams.assign(pairs.grams, pairs.grams + pairs.count * packed_size(members.size()));
        row.factors.assign(pairs.factors, pairs.factors + pairs.count);
        row.others.assign(pairs.others, pairs.others + pairs.count);
      },
      context);
  kept_ = true;
}

// As for the rows themselves: without a base of any member, noise is not known.
PoolOutputs::Values PairGrams::explained_neighbours(const Context& context) {
  const bool based = std::ranges::any_of(task_->members, [](const Explanations* member) { return says_base(*member); });
  const PoolOutputs outputs(*task_);
  if (!based || !outputs.known() || pool_rows_.empty()) return {};
  evaluations_ += pool_rows_.size() + task_->subject.reference->rows.rows();
  return outputs.of(pool_rows_, context);
}

// By part and block: places whose members are all numbers.
std::vector<std::vector<uint32_t>> PairGrams::comparable_places() const {
  std::vector<std::vector<uint32_t>> made;
  for (const Neighbourhoods::Part& part : neighbourhoods_.parts()) {
    const std::span<const uint32_t> places = part.index.places();
    std::vector<uint32_t>& comparable = made.emplace_back((places.size() + kBlockRows - 1) / kBlockRows, 0U);
    for (size_t place = 0; place < places.size(); place++) {
      const bool finite = std::ranges::all_of(task_->pool_members, [&](const PoolExplanations* pool) {
        return all_finite(pool->values().row(places[place]));
      });
      if (finite) comparable[place / kBlockRows] |= uint32_t{1} << (place % kBlockRows);
    }
  }
  return made;
}

void PairGrams::stream_pairs(bool whole, const See& see, const Context& context) const {
  const std::vector<std::vector<uint32_t>> comparable = comparable_places();
  for (size_t i = 0; i < neighbourhoods_.parts().size(); i++) {
    const Neighbourhoods::Part& part = neighbourhoods_.parts()[i];
    std::vector<size_t> scored;
    for (const size_t row : part.rows) {
      if (members_->finite(row)) scored.push_back(row);
    }
    part.index.stream(
        task_->subject.rows->x.view(), scored, neighbourhoods_.radius(), weighted_,
        [&](std::span<const size_t> batch) {
          return std::make_unique<PairCollector>(*this, part, comparable[i], batch, whole, see);
        },
        context, "comparing members");
  }
}

void PairGrams::each_pair(bool whole, const See& see, const Context& context) const {
  if (!kept_) {
    stream_pairs(whole, see, context);
    return;
  }
  const Context inner = context.quiet();
  // A pass is made again and again: few pairs take less time than handing them out.
  const size_t at_a_time = std::max<size_t>(1, rows_.size() * kGramsAtATime / std::max<uint64_t>(1, pairs_));
  parallel_blocks(inner, rows_.size(), at_a_time, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      const KeptRow& row = kept_rows_[i];
      see(i, {row.others.size(), row.grams.data(), row.factors.data(), row.others.data()});
    }
  });
}

std::string PairGrams::description(size_t all_rows) const {
  return fmt::format(
      "neighbourhoods: radius {:.6g}{}; {} of {} rows have neighbours, {:.4g} on average", neighbourhoods_.radius(),
      neighbourhoods_.radius_chosen() ? " (chosen: between distances, just above the median over the rows of the "
                                        "distance to the tenth nearest row of "
                                        "the class)"
                                      : "",
      rows_.size(), all_rows, rows_.empty() ? 0.0 : static_cast<double>(pairs_) / static_cast<double>(rows_.size()));
}

Matrix64 PairGrams::row_grams() const {
  Matrix64 made(rows_.size(), packed_size(members()));
  std::vector<double> values(members() * members_->players());
  for (size_t i = 0; i < rows_.size(); i++) {
    for (size_t j = 0; j < members(); j++) {
      std::ranges::copy(members_->of(j, rows_[i]), values.data() + j * members_->players());
    }
    pack_gram(values.data(), members(), members_->players(), made.row(i).data());
  }
  return made;
}

Matrix64 PairGrams::pool_grams() const {
  Matrix64 made(pool_rows_.size(), packed_size(members()));
  std::vector<double> values(members() * members_->players());
  for (size_t i = 0; i < pool_rows_.size(); i++) {
    for (size_t j = 0; j < members(); j++) {
      std::ranges::copy(pool_values_[j].row(i), values.data() + j * members_->players());
    }
    pack_gram(values.data(), members(), members_->players(), made.row(i).data());
  }
  return made;
}

PoolExplanations PairGrams::mixed_pool(std::span<const double> weights) const {
  Matrix made(task_->subject.pool->rows(), members_->players());
  std::ranges::fill(made.values(), std::numeric_limits<float>::quiet_NaN());
  std::vector<double> mixed(members_->players());
  for (size_t s = 0; s < pool_rows_.size(); s++) {
    std::ranges::fill(mixed, 0.0);
    for (size_t j = 0; j < members(); j++) {
      const std::span<const float> values = pool_values_[j].row(s);
      for (size_t p = 0; p < mixed.size(); p++) mixed[p] += weights[j] * values[p];
    }
    store_row(mixed, made.row(pool_rows_[s]));
  }
  return PoolExplanations(std::move(made));
}

}  // namespace assay
