// Prepares tables for training: checks that they have labels, and encodes training rows and held-out rows alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"

namespace assay {

inline constexpr const char* kDefaultEncoding = "label:impute=mean";

// What the user calls these arguments, for messages.
struct TrainingWords {
  std::string_view label = "label";
  std::string_view encode = "encode";
};

// An input error if the table has no labels. `option`: the argument that names the label column.
void require_labels(const Table& training, std::string_view option = "label");

struct TrainingRows {
  Encoder encoder;
  Dataset data;
  std::optional<Dataset> held_out = {};  // those whose class is known; nothing where there are none
  std::vector<std::string> notes =
      {};  // sentences: cells that were rounded, and what of the held-out rows the training rows do not know
};

// encode: as encoder_options() reads it. Everything is fitted on the training rows alone. A category that only held-out
// rows have is unknown (assay/data/unseen.h), and rows of a class that only they have are left out of them. An input
// error when there are no labels.
TrainingRows training_rows(const Table& training, const Table* held_out, const std::string& encode,
                           const TrainingWords& words = {});

}  // namespace assay
