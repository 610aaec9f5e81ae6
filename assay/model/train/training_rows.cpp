#include "assay/model/train/training_rows.h"

#include <fmt/format.h>

#include "assay/core/error.h"

namespace assay {

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
  try {
    if (held_out != nullptr) made.held_out = made.encoder.apply(*held_out);
  } catch (const Error&) {
    made.encoder = Encoder::fit(stacked(training, *held_out), options);
    made.held_out = made.encoder.apply(*held_out);
  }
  made.data = made.encoder.apply(training);
  return made;
}

}  // namespace assay
