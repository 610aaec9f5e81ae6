#include "cli/training.h"

#include "assay/core/error.h"
#include "cli/commands.h"

namespace assay::cli {

void require_labels(const Table& training) {
  if (!training.label) fail_input(training.source, "a column of labels to predict; --label names it", "none");
}

TrainingRows training_rows(const Table& training, const Table* held_out, const std::string& encode) {
  require_labels(training);
  TrainingRows made{Encoder::fit(training, encoder_options(encode)), {}};
  // Test rows are encoded before training, so that what is wrong with them is known before.
  try {
    if (held_out != nullptr) made.held_out = made.encoder.apply(*held_out);
  } catch (const Error&) {
    made.encoder = Encoder::fit(stacked(training, *held_out), encoder_options(encode));
    made.held_out = made.encoder.apply(*held_out);
  }
  made.data = made.encoder.apply(training);
  return made;
}

}  // namespace assay::cli
