#include "assay/explain/trees/interventional_walk.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "assay/model/trees/float_threshold.h"

namespace assay {
namespace {

constexpr size_t kBits = 64;
// Up to so many players the shares are read from a table; more on one path take logarithms.
constexpr size_t kMostTable = 128;
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// What a frame waits for.
constexpr uint8_t kSecondChild = 0;  // nothing: its second child is as good as any other
constexpr uint8_t kReferenceSide = 1;
constexpr uint8_t kRowSide = 2;

// The float t such that x <= t for exactly the floats x that go to the true side of a node that compares doubles; NaN
// where nothing goes there.
float last_below(const TreeNode& node) {
  const bool is_less = node.mode() == TreeMode::less;
  const bool never = is_less && node.threshold == -std::numeric_limits<double>::infinity();
  if (never || std::isnan(node.threshold)) return std::numeric_limits<float>::quiet_NaN();
  return is_less ? float_below(node.threshold) : float_at_most(node.threshold);
}

// The values of one column in the references, in ascending order; missing ones apart.
struct SortedColumn {
  SortedColumn(MatrixView<const float> references, size_t column) {
    for (size_t r = 0; r < references.rows(); r++) {
      if (!std::isnan(references(r, column))) values.push_back(references(r, column));
    }
    std::sort(values.begin(), values.end());
    known.assign(4 * (values.size() + 1), kNone);
  }

  std::vector<float> values;
  // The set of a branch that sends the first k to one side and the others to the other; for each side that missing
  // values may take, and each side of the first.
  std::vector<uint32_t> known;
};

// Which sets of references the branches make. Thresholds between the same references make the same set: there are few,
// and they stay in the cache.
class SetNumbers {
 public:
  SetNumbers(const TreeEnsemble& trees, MatrixView<const float> references)
      : trees_(trees), references_(references), columns_(trees.features()) {}

  std::vector<const TreeNode*> makers;  // a branch for each set

  uint32_t number_of(const TreeNode& node) {
    const TreeMode mode = node.mode();
    const bool low_goes_true = mode == TreeMode::less_equal || mode == TreeMode::less;
    if (!tests_order(mode)) return add(node);
    std::vector<SortedColumn>& column = columns_[node.feature];
    if (column.empty()) column.emplace_back(references_, node.feature);
    const std::vector<float>& values = column.front().values;
    const auto first_other = std::partition_point(values.begin(), values.end(), [&](float x) {
      return trees_.goes_true(node, static_cast<double>(x)) == low_goes_true;
    });
    const size_t kind = (low_goes_true ? 2U : 0U) + node.missing_goes_true;
    uint32_t& known =
        column.front().known[kind * (values.size() + 1) + static_cast<size_t>(first_other - values.begin())];
    if (known == kNone) known = add(node);
    return known;
  }

 private:
  uint32_t add(const TreeNode& node) {
    makers.push_back(&node);
    return static_cast<uint32_t>(makers.size() - 1);
  }

  const TreeEnsemble& trees_;
  MatrixView<const float> references_;
  std::vector<std::vector<SortedColumn>> columns_;  // none or one each
};

template <class Frame>
Frame& push(std::vector<Frame>& frames, size_t& top) {
  if (top == frames.size()) frames.resize(2 * top + 64);
  return frames[top++];
}

}  // namespace

InterventionalWalk::InterventionalWalk(const TreeEnsemble& trees, const std::vector<uint32_t>& roots,
                                       const Players& players, MatrixView<const float> references)
    : trees_(trees),
      players_(players),
      selection_(trees, roots),
      all_references_(references.rows()),
      table_(std::min(players.size(), kMostTable)) {
  assert(references.rows() > 0 && trees.adds_up());
  make_nodes(references);
  if (players.size() > table_) {
    log_factorials_.push_back(0);
    for (size_t i = 1; i <= players.size(); i++) {
      log_factorials_.push_back(log_factorials_.back() + std::log(static_cast<long double>(i)));
    }
  }
  // gain(1, b) = 1 / (b + 1) and gain(a + 1, b) = gain(a, b) a / (a + b + 1); loss(a, b) = gain(b, a).
  shares_.resize((table_ + 1) * (table_ + 1));
  for (size_t b = 0; b <= table_; b++) {
    double gain = 1 / static_cast<double>(b + 1);
    for (size_t a = 1; a <= table_; a++) {
      shares_[b * (table_ + 1) + a].gain = shares_[a * (table_ + 1) + b].loss = gain;
      gain *= static_cast<double>(a) / static_cast<double>(a + b + 1);
    }
  }
}

void InterventionalWalk::make_nodes(MatrixView<const float> references) {
  SetNumbers sets(trees_, references);
  nodes_.reserve(selection_.nodes());
  for (const SelectedTree& tree : selection_.trees()) {
    for (uint32_t i = tree.root; i < tree.end; i++) {
      const TreeNode& node = trees_.nodes()[i];
      Node& made = nodes_.emplace_back();
      if (node.is_leaf()) {
        made.weight = finite_or_nan(node.threshold);
        continue;
      }
      const bool is_below = node.mode() == TreeMode::less_equal || node.mode() == TreeMode::less;
      made.branch = {is_below ? last_below(node) : 0, sets.number_of(node)};
      made.child = static_cast<uint32_t>(tree.first + node.child - tree.root);
      made.feature = node.feature;
      made.kind_bits = static_cast<uint32_t>(is_below ? Node::Kind::less_equal : Node::Kind::other) & 15U;
      made.missing_goes_true = node.missing_goes_true;
    }
  }
  for (size_t begin = 0; begin < references.rows(); begin += kMostWords * kBits) {
    Block& block = blocks_.emplace_back();
    block.references = std::min(references.rows() - begin, kMostWords * kBits);
    block.words = std::bit_ceil((block.references + kBits - 1) / kBits);
    block.sets.resize(sets.makers.size() * block.words);
    for (size_t set = 0; set < sets.makers.size(); set++) {
      const TreeNode& node = *sets.makers[set];
      for (size_t r = 0; r < block.references; r++) {
        const bool is_true = trees_.goes_true(node, static_cast<double>(references(begin + r, node.feature)));
        block.sets[set * block.words + r / kBits] |= uint64_t{is_true} << (r % kBits);
      }
    }
  }
}

template <size_t kWords>
class InterventionalWalk::Walker {
 public:
  Walker(const InterventionalWalk& walk, const Block& block, size_t target, Scratch& scratch)
      : walk_(walk),
        block_(block),
        target_(target),
        scale_(walk.trees_.tree_share() / static_cast<double>(walk.all_references_)),
        scratch_(scratch),
        nodes_(walk.nodes_.data()) {
    // As a walk leaves them.
    scratch.row_failed_.assign(walk.players_.size(), 0);
    scratch.turned_.assign(walk.players_.size() * kWords, 0);
    failed_ = scratch.row_failed_.data();
  }

  void walk(const SelectedTree& tree, const float* row, double* phi) {
    row_ = row;
    phi_ = phi;
    tree_ = &tree;
    // Sums start anew in every tree, so that a tree's values do not depend on those before.
    scratch_.references_.assign(block_.references, {});
    states_ = scratch_.references_.data();
    lost_ = 0;
    top_ = 0;
    at_ = static_cast<uint32_t>(tree.first);
    here_ = {};
    for (size_t r = 0; r < block_.references; r++) here_[r / kBits] |= uint64_t{1} << (r % kBits);
    do {
      if (is_single()) {
        walk_single();
      } else {
        descend();
      }
    } while (ascend());
  }

 private:
  using Set = std::array<uint64_t, kWords>;

  static bool any(const Set& set) {
    uint64_t all = 0;
    for (const uint64_t word : set) all |= word;
    return all != 0;
  }
  template <class Each>
  static void for_members(const uint64_t* set, const Each& each) {
    for (size_t k = 0; k < kWords; k++) {
      for (uint64_t left = set[k]; left != 0; left &= left - 1) {
        each(k * kBits + static_cast<size_t>(std::countr_zero(left)));
      }
    }
  }
  // Whether one reference is left here. A count of bits is a call on old machines.
  bool is_single() const {
    uint64_t seen = 0;
    uint64_t again = 0;
    for (const uint64_t word : here_) {
      again |= seen & word;
      seen |= word;
    }
    return (again | (seen & (seen - 1))) == 0;
  }
  uint32_t number_in_trees(uint32_t at) const { return static_cast<uint32_t>(at - tree_->first + tree_->root); }
  double weight_at(uint32_t leaf) const {
    if (target_ == 0) return nodes_[leaf].weight * scale_;
    const TreeEnsemble& trees = walk_.trees_;
    return finite_or_nan(trees.leaf_weight(trees.nodes()[number_in_trees(leaf)], target_)) * scale_;
  }
  bool row_goes_true(const Node& node, uint32_t at) const {
    const float x = row_[node.feature];
    if (node.kind() == Node::Kind::less_equal) {
      return (x <= node.branch.threshold) | ((node.missing_goes_true != 0) & (x != x));
    }
    return walk_.trees_.goes_true(walk_.trees_.nodes()[number_in_trees(at)], static_cast<double>(x));
  }

  // From at_ down to a leaf, or until one reference is left, whose part of the tree is then walked to its end.
  void descend() {
    while (nodes_[at_].kind() != Node::Kind::leaf) {
      const Node& node = nodes_[at_];
      const uint32_t player = walk_.players_.of_column[node.feature];
      const bool is_true = row_goes_true(node, at_);
      const uint64_t* const true_set = block_.sets.data() + size_t{node.branch.set} * kWords;
      const uint64_t flip = is_true ? 0 : ~uint64_t{0};
      const uint32_t row_child = node.child + (is_true ? 0U : 1U);
      const uint32_t other_child = node.child + (is_true ? 1U : 0U);
      if (failed_[player] != 0) {
        // The reference decides alone.
        Set with;
        Set against;
        for (size_t k = 0; k < kWords; k++) {
          with[k] = here_[k] & (true_set[k] ^ flip);
          against[k] = here_[k] & ~with[k];
        }
        if (!any(against)) {
          at_ = row_child;
          continue;
        }
        if (!any(with)) {
          at_ = other_child;
          continue;
        }
        Scratch::Frame& frame = push(scratch_.frames_, top_);
        std::copy(against.begin(), against.end(), frame.references.begin());
        frame.child = other_child;
        frame.stage = kSecondChild;
        at_ = row_child;
        here_ = with;
      } else {
        const uint64_t* const turned = scratch_.turned_.data() + player * kWords;
        Set turning;
        for (size_t k = 0; k < kWords; k++) turning[k] = here_[k] & ~(true_set[k] ^ flip) & ~turned[k];
        if (!any(turning)) {
          at_ = row_child;
          continue;
        }
        Scratch::Frame& frame = push(scratch_.frames_, top_);
        std::copy(here_.begin(), here_.end(), frame.references.begin());
        std::copy(turning.begin(), turning.end(), frame.turning.begin());
        frame.before = lost_;
        frame.child = row_child;
        frame.player = player;
        frame.stage = kReferenceSide;
        failed_[player] = 1;
        reference_only_++;
        at_ = other_child;
        here_ = turning;
      }
      if (is_single()) {
        walk_single();
        return;
      }
    }
    add_leaf(weight_at(at_));
  }

  // To the next child that waits; false when there is none.
  bool ascend() {
    while (top_ > 0) {
      Scratch::Frame& frame = scratch_.frames_[top_ - 1];
      uint64_t* const turned = scratch_.turned_.data() + frame.player * kWords;
      if (frame.stage == kRowSide) {
        double after = 0;
        for_members(frame.turning.data(), [&](size_t r) {
          after += states_[r].gained;
          states_[r].row_only--;
        });
        phi_[frame.player] += after - frame.before;
        for (size_t k = 0; k < kWords; k++) turned[k] &= ~frame.turning[k];
        top_--;
        continue;
      }
      at_ = frame.child;
      std::copy_n(frame.references.begin(), kWords, here_.begin());
      if (frame.stage == kSecondChild) {
        top_--;
        return true;
      }
      phi_[frame.player] -= lost_ - frame.before;
      failed_[frame.player] = 0;
      reference_only_--;
      double before = 0;
      for_members(frame.turning.data(), [&](size_t r) {
        before += states_[r].gained;
        states_[r].row_only++;
      });
      for (size_t k = 0; k < kWords; k++) turned[k] |= frame.turning[k];
      frame.before = before;
      frame.stage = kRowSide;
      return true;
    }
    return false;
  }

  void add_leaf(double weight) {
    if (weight == 0) return;
    double losses = 0;
    if (walk_.log_factorials_.empty()) {
      const Share* const shares = walk_.shares_.data() + reference_only_ * (walk_.table_ + 1);
      for_members(here_.data(), [&](size_t r) {
        const Share& each = shares[states_[r].row_only];
        states_[r].gained += weight * each.gain;
        losses += each.loss;
      });
    } else {
      for_members(here_.data(), [&](size_t r) {
        const Share each = walk_.share(states_[r].row_only, reference_only_);
        states_[r].gained += weight * each.gain;
        losses += each.loss;
      });
    }
    lost_ += weight * losses;
  }

  // All below at_ for the one reference that is left: the same walk, without sets.
  void walk_single() {
    size_t word = 0;
    while (here_[word] == 0) word++;
    const uint64_t bit = here_[word] & (~here_[word] + 1);
    const auto r = word * kBits + static_cast<size_t>(std::countr_zero(bit));
    const uint64_t* const sets = block_.sets.data() + word;
    uint64_t* const turned = scratch_.turned_.data() + word;
    double gained = states_[r].gained;
    size_t row_only = states_[r].row_only;
    std::vector<Scratch::SingleFrame>& frames = scratch_.single_frames_;
    size_t top = 0;
    for (;;) {
      while (nodes_[at_].kind() != Node::Kind::leaf) {
        const Node& node = nodes_[at_];
        const uint32_t player = walk_.players_.of_column[node.feature];
        const bool is_true = row_goes_true(node, at_);
        const bool reference_is_true = (sets[size_t{node.branch.set} * kWords] & bit) != 0;
        const bool has_failed = failed_[player] != 0;
        const bool decides = has_failed ? reference_is_true : is_true;
        const bool turns =
            (is_true != reference_is_true) & !has_failed & ((turned[size_t{player} * kWords] & bit) == 0);
        at_ = node.child + (decides ? 0U : 1U);
        if (!turns) continue;
        Scratch::SingleFrame& frame = push(frames, top);
        frame = {lost_, at_, player, false};
        at_ = node.child + (decides ? 1U : 0U);
        failed_[player] = 1;
        reference_only_++;
      }
      const double weight = weight_at(at_);
      const Share share = walk_.share(row_only, reference_only_);
      gained += weight * share.gain;
      lost_ += weight * share.loss;
      while (top > 0 && frames[top - 1].is_row_side) {
        const Scratch::SingleFrame& frame = frames[--top];
        phi_[frame.player] += gained - frame.before;
        turned[size_t{frame.player} * kWords] &= ~bit;
        row_only--;
      }
      if (top == 0) break;
      Scratch::SingleFrame& frame = frames[top - 1];
      phi_[frame.player] -= lost_ - frame.before;
      failed_[frame.player] = 0;
      reference_only_--;
      turned[size_t{frame.player} * kWords] |= bit;
      row_only++;
      frame.before = gained;
      frame.is_row_side = true;
      at_ = frame.child;
    }
    states_[r].gained = gained;
  }

  const InterventionalWalk& walk_;
  const Block& block_;
  size_t target_;
  double scale_;
  Scratch& scratch_;
  const Node* nodes_;
  const SelectedTree* tree_ = nullptr;
  const float* row_ = nullptr;
  double* phi_ = nullptr;
  Scratch::Reference* states_ = nullptr;
  uint8_t* failed_ = nullptr;
  uint32_t at_ = 0;
  Set here_{};  // the references that reach the node in some mixture with the row
  size_t top_ = 0;
  size_t reference_only_ = 0;  // players on the path that the references here alone satisfy
  double lost_ = 0;            // the leaves' shares for each of these
};

void InterventionalWalk::add(std::span<const float> row, size_t target, std::span<double> phi, Scratch& scratch) const {
  assert(row.size() == players_.columns());
  const float* const rows[] = {row.data()};
  add_rows(rows, target, {phi.data(), 1, phi.size()}, scratch);
}

void InterventionalWalk::add_rows(std::span<const float* const> rows, size_t target, MatrixView<double> phi,
                                  Scratch& scratch) const {
  assert(phi.rows() == rows.size() && phi.cols() == players_.size() && target < trees_.targets());
  const auto walk_all = [&](auto&& walker) {
    for (const uint32_t number : selection_.with_target(target)) {
      for (size_t i = 0; i < rows.size(); i++) walker.walk(selection_.trees()[number], rows[i], phi.row(i).data());
    }
  };
  for (const Block& block : blocks_) {
    switch (block.words) {
      case 1: walk_all(Walker<1>(*this, block, target, scratch)); break;
      case 2: walk_all(Walker<2>(*this, block, target, scratch)); break;
      default: walk_all(Walker<4>(*this, block, target, scratch));
    }
  }
}

InterventionalWalk::Share InterventionalWalk::share(size_t row_only, size_t reference_only) const {
  if (row_only <= table_ && reference_only <= table_) return shares_[reference_only * (table_ + 1) + row_only];
  // (a - 1)! b! / (a + b)!
  const auto gain = [&](size_t a, size_t b) {
    if (a == 0) return 0.0;
    return static_cast<double>(std::exp(log_factorials_[a - 1] + log_factorials_[b] - log_factorials_[a + b]));
  };
  return {gain(row_only, reference_only), gain(reference_only, row_only)};
}

}  // namespace assay
