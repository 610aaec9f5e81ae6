// Which rows a study looks at: a sample that ends in minutes, in the classes' shares.
//
// Rows without names are known by their numbers in the table once they are sampled, as users count them, from 1.
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

// So many of the rows that are there: all of them where there are not more. An input error for any other word, and
// for 0.
size_t sample_count(const SampleWord& said, size_t by_default, size_t available);

// What "auto" means. Methods cost more for rows of many players, and the wide ones run the model each time.
size_t default_rows(size_t players);
// All whose explanations by a dozen methods fit into 64 MB, 1000 at least.
size_t default_pool_rows(size_t players);

// Indices of the sampled rows, ascending: in the shares of the classes where they have labels and classes.
std::vector<size_t> sample_rows(const SampleWord& said, size_t players, const Dataset& data, uint64_t seed);
std::vector<size_t> sample_pool_rows(const SampleWord& said, size_t players, const Dataset& pool, uint64_t seed);

// The rows with these indices. numbers: of all rows, counted from 0; they become the names of rows that have none, even
// where all of them are chosen.
Dataset numbered_rows(const Dataset& data, const std::vector<size_t>& chosen, std::span<const size_t> numbers);

// For each row of a sample of rows its number in a sample of the pool, kNoRow where it is none of its rows. in_pool:
// the same of all rows in the whole pool; empty where no row is one of the pool's, and then the result is.
std::vector<size_t> sampled_in_pool(std::span<const size_t> in_pool, const std::vector<size_t>& chosen,
                                    const std::vector<size_t>& chosen_pool, size_t pool_rows);

// "200 of the 16,281 rows of adult, in the classes' shares"; the words alone where the rows are all.
std::string sampled_in_words(size_t rows, size_t available, const std::string& words);

}  // namespace assay
