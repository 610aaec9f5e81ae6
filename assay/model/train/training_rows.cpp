#include "assay/model/train/training_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "assay/core/error.h"
#include "assay/data/unseen.h"

namespace assay {
namespace {

// The numbers below `count` that are not in the list, which is sorted.
std::vector<size_t> others(const std::vector<size_t>& list, size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<size_t> kept;
  std::ranges::set_difference(all, list, std::back_inserter(kept));
  return kept;
}

}  // namespace

void require_labels(const Table& training, std::string_view option) {
  if (training.label) return;
  fail_input(training.source, fmt::format("a column of labels to predict; {} names it", option), "none");
}

TrainingRows training_rows(const Table& training, const Table* held_out, const std::string& encode,
                           const TrainingWords& words) {
  require_labels(training, words.label);
  const EncoderOptions options = encoder_options(words.encode, encode);
  TrainingRows made{Encoder::fit(training, options), {}};
  // Test rows are encoded before training, so that what is wrong with them is known before.
  if (held_out != nullptr) {
    const std::vector<size_t> left_out = rows_of_unknown_class(made.encoder, *held_out);
    Dataset all = apply_with_unknown(made.encoder, *held_out);
    made.notes = unknown_in_words(all, left_out.size());
    if (left_out.empty()) {
      made.held_out = std::move(all);
    } else if (const std::vector<size_t> kept = others(left_out, all.rows()); !kept.empty()) {
      made.held_out = select_rows(all, kept);
    }
  }
  made.data = made.encoder.apply(training);
  made.notes.insert(made.notes.begin(), made.data.notes.begin(), made.data.notes.end());
  return made;
}

}  // namespace assay
