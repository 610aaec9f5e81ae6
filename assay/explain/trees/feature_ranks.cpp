#include "assay/explain/trees/feature_ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/model/trees/float_threshold.h"

namespace assay {
namespace {

constexpr size_t kMostCuts = 65'000;
constexpr size_t kMostBits = size_t{1} << 29;
constexpr uint32_t kNoColumn = UINT32_MAX;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Calls cut(c) for every cut that the branch needs. Cuts that a number has no use for do no harm.
template <class Cut>
void for_cuts(const TreeEnsemble& trees, const TreeNode& branch, const Cut& cut) {
  const auto alone = [&](double t) {
    cut(float_below(t));
    cut(float_at_most(t));
  };
  switch (branch.mode()) {
    case TreeMode::member:
      for (const double t : trees.members(branch)) {
        if (!std::isnan(t)) alone(t);
      }
      return;
    case TreeMode::member_whole:
      for (const double t : trees.members(branch)) {
        if (!(t >= 0)) continue;
        cut(float_below(t));
        cut(std::max(float_below(t + 1), float_at_most(t)));  // beyond 2^53 the next whole number is t itself
      }
      return;
    case TreeMode::less_equal_or_zero:
      cut(float_at_most(kTreeZero));
      cut(float_below(-kTreeZero));
      break;
    case TreeMode::equal:
    case TreeMode::not_equal:
      if (!std::isnan(branch.threshold)) alone(branch.threshold);
      return;
    default: break;
  }
  if (std::isnan(branch.threshold)) return;
  const bool open = branch.mode() == TreeMode::less || branch.mode() == TreeMode::greater_equal;
  cut(open ? float_below(branch.threshold) : float_at_most(branch.threshold));
}

// How often for_cuts calls at most. Branches may share a set, so that nobody goes through its members here.
size_t most_cuts(const TreeEnsemble& trees, const TreeNode& branch) {
  if (has_set(branch.mode())) return 2 * trees.members(branch).size();
  return branch.mode() == TreeMode::less_equal_or_zero ? 3 : tests_order(branch.mode()) ? 1 : 2;
}

bool may_need_bits(TreeMode mode) {
  return mode == TreeMode::member || mode == TreeMode::member_whole || mode == TreeMode::less_equal_or_zero ||
         mode == TreeMode::equal;
}

}  // namespace

RankDemand rank_demand(const TreeEnsemble& trees, std::span<const uint32_t> branches) {
  RankDemand made;
  for (const uint32_t at : branches) {
    const TreeNode& branch = trees.nodes()[at];
    made.cuts += most_cuts(trees, branch);
    made.bit_tests += may_need_bits(branch.mode()) ? 1 : 0;
    if (made.cuts > kMostCuts) break;  // already too many
  }
  return made;
}

bool ranks_fit(const RankDemand& demand) {
  return demand.cuts <= kMostCuts && demand.bit_tests <= kMostBits / (demand.cuts + 64);
}

FeatureRanks::FeatureRanks(const TreeEnsemble& trees, std::span<const uint32_t> branches)
    : trees_(&trees), column_of_feature_(trees.features(), kNoColumn) {
  std::vector<std::vector<float>> cuts;
  for (const uint32_t at : branches) {
    const TreeNode& branch = trees.nodes()[at];
    uint32_t& column = column_of_feature_[branch.feature];
    if (column == kNoColumn) {
      column = static_cast<uint32_t>(features_.size());
      features_.push_back(branch.feature);
      cuts.emplace_back();
    }
    for_cuts(trees, branch, [&](float c) { cuts[column].push_back(c); });
  }
  first_cut_.push_back(0);
  for (std::vector<float>& each : cuts) {
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
    cuts_.insert(cuts_.end(), each.begin(), each.end());
    first_cut_.push_back(static_cast<uint32_t>(cuts_.size()));
  }
}

uint16_t FeatureRanks::rank_of(size_t column, float x) const {
  if (std::isnan(x)) return 0;
  const auto known = cuts(column);
  const float* first = known.data();
  // Halving without branches: what a row has is not foreseen.
  for (size_t count = known.size(); count > 0;) {
    const size_t half = (count + 1) / 2;
    first += first[half - 1] < x ? half : 0;
    count -= half;
  }
  return static_cast<uint16_t>(first - known.data() + 1);
}

RankTest FeatureRanks::test(const TreeNode& branch, std::vector<BitTest>& bit_tests) {
  RankTest made;
  made.column = column_of_feature_[branch.feature];
  const auto known = cuts(made.column);
  const auto classes = static_cast<uint16_t>(known.size() + 1);
  const bool missing = trees_->goes_true(branch, std::numeric_limits<double>::quiet_NaN());
  const double t = branch.threshold;
  // Ranks first .. last go true, and `missing`; or those do not.
  const auto interval = [&](uint16_t first, uint16_t last, bool with_missing) {
    if (with_missing) first = 0;
    const bool none = first > last;
    made.lowest = none ? 0 : first;
    made.width = none ? UINT16_MAX : static_cast<uint16_t>(last - first);
    made.flip = none ? UINT16_MAX : 0;
  };
  const auto inverted = [&](uint16_t first, uint16_t last) {
    interval(first, last, false);
    made.flip ^= UINT16_MAX;
  };
  switch (branch.mode()) {
    case TreeMode::less_equal:
    case TreeMode::less: {
      const float cut = branch.mode() == TreeMode::less ? float_below(t) : float_at_most(t);
      const bool never = std::isnan(t) || (branch.mode() == TreeMode::less && t == -kInfinity);
      interval(1, never ? 0 : rank_of(made.column, cut), missing);
      return made;
    }
    case TreeMode::greater:
    case TreeMode::greater_equal: {
      const float cut = branch.mode() == TreeMode::greater_equal ? float_below(t) : float_at_most(t);
      const bool always = branch.mode() == TreeMode::greater_equal && t == -kInfinity;
      const uint16_t last_false = std::isnan(t) ? classes : always ? 0 : rank_of(made.column, cut);
      if (missing) {
        inverted(1, last_false);
      } else {
        interval(static_cast<uint16_t>(last_false + 1), classes, false);
      }
      return made;
    }
    case TreeMode::not_equal:
    case TreeMode::equal: {
      const bool met = !std::isnan(t) && static_cast<double>(float_at_most(t)) == t;
      const uint16_t first = met ? rank_of(made.column, float_at_most(t)) : 1;
      const uint16_t last = met ? first : 0;
      if (branch.mode() == TreeMode::not_equal) {
        inverted(first, last);
        return made;
      }
      if (!missing) {
        interval(first, last, false);
        return made;
      }
      break;
    }
    default: break;
  }
  // One bit for each rank, by the ensemble's own decision on the largest number of each class.
  bit_tests.push_back({made.column, static_cast<uint32_t>(bits_.size())});
  bits_.resize(bits_.size() + classes / 64 + 1);
  uint64_t* bits = bits_.data() + bit_tests.back().first_word;
  bits[0] = missing ? 1 : 0;
  for (size_t rank = 1; rank <= classes; rank++) {
    const float x = rank == classes ? kInfinity : known[rank - 1];
    if (trees_->goes_true(branch, static_cast<double>(x))) bits[rank / 64] |= uint64_t{1} << (rank % 64);
  }
  made.column = static_cast<uint32_t>(columns() + bit_tests.size() - 1);
  made.lowest = 1;
  return made;
}

void FeatureRanks::rank(std::span<const float* const> rows, uint16_t* ranks) const {
  for (size_t c = 0; c < features_.size(); c++) {
    uint16_t* to = ranks + c * kRankRows;
    for (size_t i = 0; i < rows.size(); i++) to[i] = rank_of(c, rows[i][features_[c]]);
    std::fill(to + rows.size(), to + kRankRows, uint16_t{0});
  }
}

void FeatureRanks::rank_row(const float* row, uint16_t* ranks) const {
  for (size_t c = 0; c < features_.size(); c++) ranks[c] = rank_of(c, row[features_[c]]);
}

void FeatureRanks::decide(std::span<const BitTest> tests, const uint16_t* ranks, uint16_t* decided) const {
  for (const BitTest& test : tests) {
    const uint64_t* bits = bits_.data() + test.first_word;
    const uint16_t* from = ranks + test.column * kRankRows;
    for (size_t i = 0; i < kRankRows; i++) decided[i] = bits[from[i] / 64] >> (from[i] % 64) & 1;
    decided += kRankRows;
  }
}

}  // namespace assay
