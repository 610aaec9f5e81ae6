#include "assay/explain/trees/row_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace assay {

size_t RowProgram::make_branches(size_t count) {
  const size_t first = columns_.size();
  const size_t end = first + (count + kWordBranches - 1) / kWordBranches * kWordBranches;
  columns_.resize(end, 0);
  lowest_.resize(end, 0);
  width_.resize(end, UINT16_MAX);
  within_.resize(end / kWordBranches, 0);
  return first;
}

void RowProgram::set_branch(size_t branch, const RankTest& test, size_t columns, std::span<const BitTest> bit_tests) {
  if (test.column >= columns) {
    bit_tests_.push_back({bit_tests[test.column - columns], static_cast<uint32_t>(branch)});
    return;
  }
  columns_[branch] = static_cast<uint8_t>(test.column);
  lowest_[branch] = test.lowest;
  width_[branch] = test.width;
  const auto bit = static_cast<uint16_t>(1U << branch % kWordBranches);
  if (test.flip == 0) within_[branch / kWordBranches] |= bit;
}

void RowProgram::add(const TreeLayout& layout, std::span<const RankTest> tests, size_t columns,
                     std::span<const BitTest> bit_tests, size_t first_row) {
  // A node's number among the branches above the units.
  std::vector<uint32_t> split_of_node(layout.places.size(), kNoNode);
  std::vector<uint32_t> splits;
  for (const TreeUnit& unit : layout.units) {
    for (uint32_t v = layout.places[unit.node].parent; v != kNoNode; v = layout.places[v].parent) {
      if (split_of_node[v] != kNoNode) break;
      split_of_node[v] = static_cast<uint32_t>(splits.size());
      splits.push_back(v);
    }
  }
  const size_t first_branch = make_branches(splits.size());
  for (size_t s = 0; s < splits.size(); s++) set_branch(first_branch + s, tests[splits[s]], columns, bit_tests);
  const size_t first_unit = first_rows_.size();
  for (size_t begin = 0; begin < layout.units.size(); begin += kBlockUnits) {
    const size_t count = std::min(kBlockUnits, layout.units.size() - begin);
    size_t planes = 0;
    for (size_t i = 0; i < count; i++) planes = std::max(planes, layout.units[begin + i].branches.size());
    const size_t first_plane = make_branches(planes * kBlockUnits);
    for (size_t i = 0; i < count; i++) {
      const TreeUnit& unit = layout.units[begin + i];
      for (size_t j = 0; j < unit.branches.size(); j++) {
        set_branch(first_plane + j * kBlockUnits + i, tests[unit.branches[j]], columns, bit_tests);
      }
      first_rows_.push_back(static_cast<uint32_t>(first_row + unit.first_row));
    }
    first_rows_.resize((first_rows_.size() + kBlockUnits - 1) / kBlockUnits * kBlockUnits, 0);
    add_block(layout, split_of_node, begin, first_branch / kWordBranches, first_plane / kBlockUnits);
  }
  for (const TreeGroup& group : layout.groups) {
    groups_.push_back({.first_unit = static_cast<uint32_t>(first_unit + group.first_unit),
                       .end_unit = static_cast<uint32_t>(first_unit + group.end_unit),
                       .players = group.players.data(),
                       .width = static_cast<uint32_t>(group.players.size())});
  }
  trees_.push_back({static_cast<uint32_t>(blocks_.size()), static_cast<uint32_t>(groups_.size())});
}

void RowProgram::add_block(const TreeLayout& layout, std::span<const uint32_t> split_of_node, size_t first_unit,
                           size_t first_word, size_t first_plane) {
  const size_t count = std::min(kBlockUnits, layout.units.size() - first_unit);
  struct Lanes {
    std::array<uint16_t, kBlockUnits> masks = {};
    std::array<uint16_t, kBlockUnits> expected = {};
  };
  // By word and position of the player. Without a mask every decision is as expected.
  std::map<std::pair<uint16_t, uint16_t>, Lanes> tests;
  std::array<uint16_t, kBlockUnits> all = {};
  size_t planes = 0;
  for (size_t i = 0; i < count; i++) {
    const TreeUnit& unit = layout.units[first_unit + i];
    planes = std::max(planes, unit.branches.size());
    all[i] = static_cast<uint16_t>((1U << layout.places[unit.node].players) - 1);
    for (uint32_t child = unit.node; layout.places[child].parent != kNoNode; child = layout.places[child].parent) {
      const uint32_t v = layout.places[child].parent;
      const uint32_t split = split_of_node[v];
      Lanes& lanes = tests[{static_cast<uint16_t>(split / kWordBranches), layout.places[v].position}];
      const auto bit = static_cast<uint16_t>(1U << split % kWordBranches);
      lanes.masks[i] |= bit;
      if (layout.places[child].is_true_child) lanes.expected[i] |= bit;
    }
  }
  lanes_.insert(lanes_.end(), all.begin(), all.end());
  for (const auto& [key, lanes] : tests) {
    tests_.push_back({.word = key.first, .keep = static_cast<uint16_t>(~(1U << key.second))});
    lanes_.insert(lanes_.end(), lanes.masks.begin(), lanes.masks.end());
    lanes_.insert(lanes_.end(), lanes.expected.begin(), lanes.expected.end());
  }
  for (size_t j = 0; j < planes; j++) {
    for (size_t i = 0; i < kBlockUnits; i++) {
      const TreeUnit* unit = i < count ? &layout.units[first_unit + i] : nullptr;
      const bool there = unit != nullptr && j < unit->branches.size();
      lanes_.push_back(there ? static_cast<uint16_t>(1U << layout.places[unit->branches[j]].bit) : uint16_t{0});
    }
  }
  blocks_.push_back({.first_word = static_cast<uint32_t>(first_word),
                     .first_plane = static_cast<uint32_t>(first_plane),
                     .tests = static_cast<uint16_t>(tests.size()),
                     .planes = static_cast<uint16_t>(planes)});
}

void RowProgram::add_to(const FeatureRanks& ranks, const uint16_t* of_row, const float* tables, size_t stride,
                        uint16_t* decided, uint32_t* rows, double* totals) const {
  const RowPlan plan{.columns = columns_,
                     .lowest = lowest_.data(),
                     .width = width_.data(),
                     .within = within_.data(),
                     .trees = trees_,
                     .blocks = blocks_.data(),
                     .groups = groups_.data(),
                     .tests = tests_.data(),
                     .lanes = lanes_.data(),
                     .first_rows = first_rows_.data()};
  decide_branches(plan, of_row, ranks.columns(), decided);
  for (const PlacedBitTest& each : bit_tests_) {
    const auto bit = static_cast<uint16_t>(1U << each.branch % kWordBranches);
    if (ranks.goes_true(each.test, of_row[each.test.column])) decided[each.branch / kWordBranches] |= bit;
  }
  add_row(plan, tables, decided, stride, rows, totals);
}

}  // namespace assay
