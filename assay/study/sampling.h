// Which rows a study looks at: a sample small enough to end in minutes, with the classes in their proportions.
//
// Sampled rows that have no names are named by their numbers, counted from 1, in the table or in the part that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/dataset.h"

namespace assay {

// What users say: a number of rows, "all" or "auto". `option` names it in errors.
struct SampleWord {
  std::string_view option;
  std::string_view word = "auto";
};

// How many rows `said` means, at most `available`. by_default: the number for "auto". Throws an input error for 0 and
// for any other word.
size_t sample_count(const SampleWord& said, size_t by_default, size_t available);

// What "auto" means. Fewer rows if they have many players, which take longer to explain.
size_t default_rows(size_t players);
// As many rows as fit into 64 MB when a dozen methods explain them, at least 1000.
size_t default_pool_rows(size_t players);

// Indices of the sampled rows, ascending. If rows have classes, each class keeps its proportion.
std::vector<size_t> sample_rows(const SampleWord& said, size_t players, const Dataset& data, uint64_t seed);
std::vector<size_t> sample_pool_rows(const SampleWord& said, size_t players, const Dataset& pool, uint64_t seed);

// The rows with the indices `chosen`. Rows without names are named by their numbers plus 1; numbers[i] is the number of
// row i of `data`, from 0, in the table or part it came from.
Dataset numbered_rows(const Dataset& data, const std::vector<size_t>& chosen, std::span<const size_t> numbers);

// For each chosen row its index in the sampled pool, kNoRow if it is not there. in_pool: for each row its index in the
// whole pool, kNoRow if it is not there; empty if no row is in the pool, and then the result is empty too.
std::vector<size_t> sampled_in_pool(std::span<const size_t> in_pool, const std::vector<size_t>& chosen,
                                    const std::vector<size_t>& chosen_pool, size_t pool_rows);

// "200 of the 16,281 rows of adult, in the classes' shares"; without the shares if the rows have no classes, and
// `words` alone if all rows are taken.
std::string sampled_in_words(const Dataset& sample, size_t available, const std::string& words);

}  // namespace assay
