#include "assay/study/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/data/neighbours.h"
#include "assay/data/split.h"

namespace assay {
namespace {

constexpr size_t kFewPlayers = 32;
constexpr size_t kManyPlayers = 128;

// Numbers in the explanations of the pool by kPoolsAtOnce methods. More rows would also mean more neighbours to
// explain, which is slow if rows are wide.
constexpr size_t kPoolFloats = size_t{1} << 24U;
constexpr size_t kPoolsAtOnce = 14;
constexpr size_t kLeastPoolRows = 1000;

bool has_classes(const Dataset& data) { return !data.labels.empty() && !data.class_names.empty(); }

std::vector<size_t> stratified(const Dataset& data, size_t count, uint64_t seed) {
  if (count == data.rows()) {
    std::vector<size_t> all(count);
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  return stratified_sample(has_classes(data) ? data.labels : std::vector<float>(data.rows(), 0), count, seed);
}

}  // namespace

size_t sample_count(const SampleWord& said, size_t by_default, size_t available) {
  if (said.word == "all") return available;
  if (said.word == "auto") return std::min(by_default, available);
  size_t count = 0;
  const char* end = said.word.data() + said.word.size();
  const auto [at, problem] = std::from_chars(said.word.data(), end, count);
  const bool number = problem == std::errc() && at == end && count > 0;
  if (!number) fail_input(said.option, "a number of rows, all or auto", in_quotes(said.word));
  return std::min(count, available);
}

size_t default_rows(size_t players) { return players <= kFewPlayers ? 500 : players <= kManyPlayers ? 100 : 20; }

size_t default_pool_rows(size_t players) {
  return std::max(kLeastPoolRows, kPoolFloats / kPoolsAtOnce / std::max<size_t>(players, 1));
}

std::vector<size_t> sample_rows(const SampleWord& said, size_t players, const Dataset& data, uint64_t seed) {
  return stratified(data, sample_count(said, default_rows(players), data.rows()), seed);
}

std::vector<size_t> sample_pool_rows(const SampleWord& said, size_t players, const Dataset& pool, uint64_t seed) {
  return stratified(pool, sample_count(said, default_pool_rows(players), pool.rows()), seed);
}

Dataset numbered_rows(const Dataset& data, const std::vector<size_t>& chosen, std::span<const size_t> numbers) {
  Dataset made = select_rows(data, chosen);
  if (!made.ids.empty()) return made;
  made.id_name = kRowNumbers;
  made.row_numbers = true;
  for (const size_t row : chosen) made.ids.push_back(fmt::format("{}", numbers[row] + 1));
  return made;
}

std::vector<size_t> sampled_in_pool(std::span<const size_t> in_pool, const std::vector<size_t>& chosen,
                                    const std::vector<size_t>& chosen_pool, size_t pool_rows) {
  if (in_pool.empty()) return {};
  std::vector<size_t> place(pool_rows, kNoRow);
  for (size_t i = 0; i < chosen_pool.size(); i++) place[chosen_pool[i]] = i;
  std::vector<size_t> made;
  for (const size_t row : chosen) made.push_back(in_pool[row] == kNoRow ? kNoRow : place[in_pool[row]]);
  return made;
}

std::string sampled_in_words(const Dataset& sample, size_t available, const std::string& words) {
  if (sample.rows() == available) return words;
  return fmt::format("{} of the {} rows of {}{}", with_commas(sample.rows()), with_commas(available), words,
                     has_classes(sample) ? ", in the classes' shares" : "");
}

}  // namespace assay
