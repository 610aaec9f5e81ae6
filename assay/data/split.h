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

// Each class gives the same share of its rows to the test part, rounded so that the whole does too (largest
// remainders, ties to the lower class). Missing labels (NaN) are a class of their own. An input error unless
// 0 < test_share < 1.
RowSplit stratified_split(std::span<const float> labels, double test_share, uint64_t seed);

// The same for rows that belong together, such as the stays of one patient: all rows of a group go to one side. Groups
// are numbers, one for each row; none at all means that every row is its own, and gives the split above. Groups are
// taken in a random order, and one changes sides where that brings the classes' counts in the test part nearer (in the
// sum of squares) to those of a split by rows, until none does. So no group alone could be moved for the better, and
// where groups have one class each, its count is off by half of its largest group at most. An input error unless
// 0 < test_share < 1 and groups are none or as many as labels.
RowSplit grouped_split(std::span<const float> labels, std::span<const size_t> groups, double test_share, uint64_t seed);

// At most `count` rows that keep the classes' shares; all rows when there are not more. Ascending.
std::vector<size_t> stratified_sample(std::span<const float> labels, size_t count, uint64_t seed);

}  // namespace assay
