// Splits of rows into training and test parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct RowSplit {
  std::vector<size_t> train;  // ascending
  std::vector<size_t> test;   // ascending
};

// Each class gives the same share of its rows to the test part. Counts are rounded so that the whole gives this share
// too (largest remainders, ties to the lower class). Missing labels (NaN) are a class of their own. An input error
// unless 0 < test_share < 1.
RowSplit stratified_split(std::span<const float> labels, double test_share, uint64_t seed);

// The same for rows that belong together, such as the stays of one patient: all rows of a group go to one side.
// `groups` holds a group number for each row; if it is empty, this is stratified_split. At first all groups are for
// training. They are visited in a random order, again and again, and a group changes sides if that brings the class
// counts of the test part nearer (in the sum of squares) to those of stratified_split. It ends when no such move is
// left. If every group has one class, a class's count is off by at most half of its largest group. An input error
// unless 0 < test_share < 1 and groups are none or as many as labels.
RowSplit grouped_split(std::span<const float> labels, std::span<const size_t> groups, double test_share, uint64_t seed);

// `count` rows, or all if there are fewer, in which classes keep their shares. Ascending.
std::vector<size_t> stratified_sample(std::span<const float> labels, size_t count, uint64_t seed);

}  // namespace assay
