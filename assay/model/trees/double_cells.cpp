#include "assay/model/trees/double_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr double kDoubleInfinity = std::numeric_limits<double>::infinity();

double before(double x) { return std::nextafter(x, -kDoubleInfinity); }

// The numbers after which a branch may decide otherwise.
void add_ends(const TreeEnsemble& trees, const TreeNode& node, std::vector<double>& ends) {
  const double t = node.threshold;
  switch (node.mode()) {
    case TreeMode::less_equal:
    case TreeMode::greater: ends.push_back(t); break;
    case TreeMode::less:
    case TreeMode::greater_equal: ends.push_back(before(t)); break;
    case TreeMode::equal:
    case TreeMode::not_equal: ends.insert(ends.end(), {before(t), t}); break;
    case TreeMode::less_equal_or_zero: ends.insert(ends.end(), {t, before(-kTreeZero), kTreeZero}); break;
    case TreeMode::member:
      for (const double member : trees.members(node)) ends.insert(ends.end(), {before(member), member});
      break;
    case TreeMode::member_whole:
      ends.push_back(before(0));
      for (const double member : trees.members(node)) ends.insert(ends.end(), {before(member), before(member + 1)});
      break;
    case TreeMode::leaf: break;
  }
}

// How many ends lie below x: the same for two numbers that no branch tells apart.
size_t part_of(const std::vector<double>& ends, double x) {
  return static_cast<size_t>(std::ranges::lower_bound(ends, x) - ends.begin());
}

bool in_part(const std::vector<double>& ends, size_t part, float number) {
  const auto x = static_cast<double>(number);
  return (part == 0 || ends[part - 1] < x) && (part == ends.size() || x <= ends[part]);
}

}  // namespace

DoubleCells::DoubleCells(const TreeEnsemble& trees) : ends_(trees.features()) {
  for (const TreeNode& node : trees.nodes()) {
    if (!node.is_leaf()) add_ends(trees, node, ends_[node.feature]);
  }
  for (std::vector<double>& ends : ends_) {
    std::erase_if(ends, [](double end) { return std::isnan(end); });
    std::ranges::sort(ends);
    const auto repeated = std::ranges::unique(ends);
    ends.erase(repeated.begin(), repeated.end());
    ends.shrink_to_fit();
  }
}

std::optional<float> DoubleCells::stand_in(size_t feature, double cell, float near) const {
  if (static_cast<double>(near) == cell || std::isnan(cell)) return near;
  const std::vector<double>& ends = ends_[feature];
  const size_t part = part_of(ends, cell);
  if (in_part(ends, part, near)) return near;
  // The cell lies between these two, so that no other number is nearer.
  const float other =
      std::nextafter(near, static_cast<float>(cell > static_cast<double>(near) ? kDoubleInfinity : -kDoubleInfinity));
  if (in_part(ends, part, other)) return other;
  return {};
}

std::string DoubleCells::why_none(size_t feature, double cell) const {
  const std::vector<double>& ends = ends_[feature];
  const size_t part = part_of(ends, cell);
  return fmt::format(
      "no float32 number, which cells are kept as, lies with {} between the model's thresholds {} and {}", cell,
      part == 0 ? -kDoubleInfinity : ends[part - 1], part == ends.size() ? kDoubleInfinity : ends[part]);
}

}  // namespace assay
