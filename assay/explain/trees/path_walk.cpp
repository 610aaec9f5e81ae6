#include "assay/explain/trees/path_walk.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "assay/explain/paths/quadrature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/trees/path_walk.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {

// Loops over the lanes, without branches, become vector instructions of the target; every lane is computed by the same
// operations on each, so all targets agree to the last bit.
class PathWalker {
 public:
  PathWalker(const PathWalk::Job& job, const PathWalk::Points& points, std::vector<PathWalk::Frame>& frames)
      : job_(job), points_(points), frames_(frames), nodes_(job.trees.nodes().data()) {}

  void walk() {
    here_ = points_.weights;
    at_ = job_.root;
    do {
      descend();
    } while (ascend());
  }

 private:
  static constexpr size_t kLanes = PathWalk::kLanes;
  static constexpr uint32_t kNone = PathWalk::kNoFrame;
  using Frame = PathWalk::Frame;
  // What a frame waits for. Of a player whose conditions the row has failed above: its first child, then its second.
  // Else the child that the row does not take, then that of the row.
  enum Stage : uint8_t { kFirst, kSecond, kOther, kRow };

  struct Branch {
    uint32_t player;
    uint32_t row_child;
    uint32_t other_child;
    double row_share;
    double other_share;
  };

  double weight_at(uint32_t leaf) const { return job_.trees.leaf_weight(nodes_[leaf], job_.target); }

  Frame& push(uint32_t child, uint32_t player, Stage stage) {
    if (top_ == frames_.size()) frames_.resize(2 * top_ + 64);
    Frame& frame = frames_[top_++];
    frame.child = child;
    frame.player = player;
    frame.stage = stage;
    return frame;
  }

  // From at_ down to a leaf, or to a branch whose leaves are both summed at once, or to where nothing reaches.
  void descend() {
    while (!nodes_[at_].is_leaf()) {
      const TreeNode& node = nodes_[at_];
      const bool is_true = job_.trees.goes_true(node, static_cast<double>(job_.row[node.feature]));
      Branch branch;
      branch.player = job_.players.of_column[node.feature];
      branch.row_child = node.child + (is_true ? 0U : 1U);
      branch.other_child = node.child + (is_true ? 1U : 0U);
      branch.row_share = job_.shares[branch.row_child - job_.root];
      branch.other_share = job_.shares[branch.other_child - job_.root];
      const bool goes_on = job_.states[branch.player].row_failed ? enter_failed(branch) : enter(branch);
      if (!goes_on) return;
    }
    const double weight = weight_at(at_);
    for (size_t k = 0; k < kLanes; k++) sum_[k] = here_[k] * weight;
  }

  // The player's factor is r (1 - t) in both children, so r alone changes, and its own value by nothing.
  bool enter_failed(const Branch& branch) {
    if (nodes_[branch.row_child].is_leaf() && nodes_[branch.other_child].is_leaf()) {
      const double weight =
          weight_at(branch.row_child) * branch.row_share + weight_at(branch.other_child) * branch.other_share;
      for (size_t k = 0; k < kLanes; k++) sum_[k] = here_[k] * weight;
      return false;
    }
    Frame& frame = push(branch.row_child, branch.player, kFirst);
    for (size_t k = 0; k < kLanes; k++) frame.values[k] = here_[k] * branch.row_share;
    for (size_t k = 0; k < kLanes; k++) here_[k] *= branch.other_share;
    at_ = branch.other_child;
    return is_reached(branch.other_share);
  }

  bool enter(const Branch& branch) {
    PathWalk::PlayerState& state = job_.states[branch.player];
    double share = 1;
    if (state.innermost != kNone) {
      const Frame& outer = frames_[state.innermost];
      share = outer.share;
      for (size_t k = 0; k < kLanes; k++) here_[k] *= outer.inverses[k];
    }
    // Now without the player.
    const double row_share = share * branch.row_share;
    const double other_share = share * branch.other_share;
    if (nodes_[branch.row_child].is_leaf() && nodes_[branch.other_child].is_leaf()) {
      const double row_weight = weight_at(branch.row_child);
      const double other_weight = weight_at(branch.other_child) * other_share;
      // q - r for both, and their factors.
      const double value = row_weight * (1 - row_share) - other_weight;
      for (size_t k = 0; k < kLanes; k++) state.values[k] += here_[k] * value;
      const double rest_weight = row_weight * row_share + other_weight;
      for (size_t k = 0; k < kLanes; k++) {
        sum_[k] = here_[k] * (points_.rest[k] * rest_weight + points_.at[k] * row_weight);
      }
      subtract_from_outer(state, state.innermost);
      return false;
    }
    Frame& frame = push(branch.row_child, branch.player, kOther);
    frame.values = here_;
    frame.outer = state.innermost;
    frame.share = row_share;
    for (size_t k = 0; k < kLanes; k++) here_[k] *= other_share * points_.rest[k];
    state.row_failed = true;
    at_ = branch.other_child;
    return is_reached(other_share);
  }

  bool is_reached(double share) {
    if (share == 0) sum_ = {};
    return share != 0;
  }

  // The leaves of sum_ count in the player's frame above too, where its factor is another.
  void subtract_from_outer(PathWalk::PlayerState& state, uint32_t outer_frame) {
    if (outer_frame == kNone) return;
    const Frame& outer = frames_[outer_frame];
    const double gap = 1 - outer.share;
    for (size_t k = 0; k < kLanes; k++) state.values[k] -= sum_[k] * (gap * outer.inverses[k]);
  }

  // With the sum over the leaves below the node that is left, to the next child that waits; false when there is none.
  bool ascend() {
    while (top_ > 0) {
      Frame& frame = frames_[top_ - 1];
      PathWalk::PlayerState& state = job_.states[frame.player];
      switch (frame.stage) {
        case kFirst:
          here_ = frame.values;
          frame.values = sum_;
          frame.stage = kSecond;
          at_ = frame.child;
          return true;
        case kOther:
          state.row_failed = false;
          state.innermost = static_cast<uint32_t>(top_ - 1);
          for (size_t k = 0; k < kLanes; k++) {
            const double factor = frame.share * points_.rest[k] + points_.at[k];
            here_[k] = frame.values[k] * factor;
            frame.inverses[k] = 1 / factor;
          }
          frame.values = sum_;
          frame.stage = kRow;
          at_ = frame.child;
          return true;
        case kRow: {
          // (q - r) / factor, which is -1 / (1 - t) where q is 0.
          const double gap = 1 - frame.share;
          for (size_t k = 0; k < kLanes; k++) {
            state.values[k] += sum_[k] * (gap * frame.inverses[k]) - frame.values[k] * points_.inverse_rests[k];
          }
          for (size_t k = 0; k < kLanes; k++) sum_[k] += frame.values[k];
          state.innermost = frame.outer;
          subtract_from_outer(state, frame.outer);
          break;
        }
        default:
          for (size_t k = 0; k < kLanes; k++) sum_[k] += frame.values[k];
      }
      top_--;
    }
    return false;
  }

  const PathWalk::Job& job_;
  const PathWalk::Points& points_;
  std::vector<Frame>& frames_;
  const TreeNode* nodes_;
  size_t top_ = 0;
  uint32_t at_ = 0;
  alignas(64) PathWalk::Lanes here_{};  // weights of the points times the factors of the players on the path
  alignas(64) PathWalk::Lanes sum_{};
};

void walk_path_points(const PathWalk::Job& job, const PathWalk::Points& points, std::vector<PathWalk::Frame>& frames) {
  PathWalker(job, points, frames).walk();
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(walk_path_points);

// Of Gauss and Legendre, for this many players on a path.
size_t points_for(size_t players) {
  const size_t exact = (players + 1) / 2;
  const auto enough = static_cast<size_t>(std::ceil(4.5 * std::sqrt(static_cast<double>(players))));
  if (exact <= enough) return exact;
  // More than 1,024 points are panels side by side, which lose what points near the ends gain.
  constexpr size_t kPanel = 1024;
  return enough <= kPanel ? enough : std::min(exact, (enough * enough + kPanel - 1) / kPanel);
}

std::vector<PathWalk::Points> rule_of(size_t steps) {
  const Quadrature rule = quadrature(QuadratureRule::gauss_legendre, steps * PathWalk::kLanes);
  std::vector<PathWalk::Points> made(steps);
  for (size_t i = 0; i < rule.size(); i++) {
    PathWalk::Points& points = made[i / PathWalk::kLanes];
    const size_t k = i % PathWalk::kLanes;
    points.at[k] = rule.points[i];
    points.rest[k] = 1 - rule.points[i];
    points.inverse_rests[k] = 1 / points.rest[k];
    points.weights[k] = rule.weights[i];
  }
  return made;
}

}  // namespace

PathWalk::PathWalk(const TreeEnsemble& trees, const std::vector<uint32_t>& roots, const Players& players)
    : trees_(trees), players_(players), selection_(trees, roots), shares_(selection_.nodes(), 1) {
  assert(!trees.covers().empty() && trees.adds_up());
  std::map<size_t, uint32_t> rule_of_steps;
  for (const SelectedTree& tree : selection_.trees()) {
    double* const shares = shares_.data() + tree.first;
    for (uint32_t i = tree.root; i < tree.end; i++) {
      const TreeNode& node = trees.nodes()[i];
      if (node.is_leaf()) continue;
      for (const uint32_t child : {node.child, node.child + 1}) {
        shares[child - tree.root] = cover_ratio(trees, i, child);
      }
    }
    const size_t points = std::max<size_t>(1, points_for(most_players_on_path(tree)));
    const size_t steps = (points + kLanes - 1) / kLanes;
    const auto [known, is_new] = rule_of_steps.try_emplace(steps, static_cast<uint32_t>(rules_.size()));
    if (is_new) rules_.push_back(rule_of(steps));
    rule_of_tree_.push_back(known->second);
  }
}

size_t PathWalk::most_players_on_path(const SelectedTree& tree) const {
  std::vector<uint32_t> branches(players_.size());  // on the path, of each player
  size_t distinct = 0;
  size_t most = 0;
  struct Step {
    uint32_t node;
    bool is_left;
  };
  std::vector<Step> pending = {{tree.root, false}};
  while (!pending.empty()) {
    Step& step = pending.back();
    const TreeNode& node = trees_.nodes()[step.node];
    if (node.is_leaf()) {
      pending.pop_back();
      continue;
    }
    uint32_t& count = branches[players_.of_column[node.feature]];
    if (step.is_left) {
      if (--count == 0) distinct--;
      pending.pop_back();
      continue;
    }
    step.is_left = true;
    if (count++ == 0) most = std::max(most, ++distinct);
    pending.push_back({node.child, false});
    pending.push_back({node.child + 1, false});
  }
  return most;
}

void PathWalk::add(std::span<const float> row, size_t target, std::span<double> phi, Scratch& scratch) const {
  assert(row.size() == players_.columns());
  const float* const rows[] = {row.data()};
  add_rows(rows, target, {phi.data(), 1, phi.size()}, scratch);
}

void PathWalk::add_rows(std::span<const float* const> rows, size_t target, MatrixView<double> phi,
                        Scratch& scratch) const {
  assert(phi.rows() == rows.size() && phi.cols() == players_.size() && target < trees_.targets());
  const size_t players = players_.size();
  scratch.players.assign(rows.size() * players, {});
  for (const uint32_t number : selection_.with_target(target)) {
    const SelectedTree& tree = selection_.trees()[number];
    for (size_t i = 0; i < rows.size(); i++) {
      const Job job = {trees_,
                       players_,
                       tree.root,
                       shares_.data() + tree.first,
                       rows[i],
                       target,
                       scratch.players.data() + i * players};
      for (const Points& points : rules_[rule_of_tree_[number]]) {
        HWY_DYNAMIC_DISPATCH(walk_path_points)(job, points, scratch.frames);
      }
    }
  }
  const double scale = trees_.tree_share();
  for (size_t i = 0; i < rows.size(); i++) {
    for (size_t p = 0; p < players; p++) {
      double sum = 0;
      for (const double value : scratch.players[i * players + p].values) sum += value;
      phi(i, p) += finite_or_nan(sum * scale);
    }
  }
}

double PathWalk::base(size_t target) const {
  double sum = 0;
  std::vector<double> reach;
  for (const uint32_t number : selection_.with_target(target)) {
    const SelectedTree& tree = selection_.trees()[number];
    // Children stand behind their parents.
    reach.assign(tree.end - tree.root, 1);
    for (uint32_t i = tree.root; i < tree.end; i++) {
      const TreeNode& node = trees_.nodes()[i];
      if (node.is_leaf()) {
        sum += reach[i - tree.root] * trees_.leaf_weight(node, target);
        continue;
      }
      for (const uint32_t child : {node.child - tree.root, node.child + 1 - tree.root}) {
        reach[child] = reach[i - tree.root] * shares_[tree.first + child];
      }
    }
  }
  return sum * trees_.tree_share();
}

}  // namespace assay
#endif
