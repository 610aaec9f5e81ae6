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

// At most `count` rows that keep the classes' shares; all rows when there are not more. Ascending.
std::vector<size_t> stratified_sample(std::span<const float> labels, size_t count, uint64_t seed);

}  // namespace assay
