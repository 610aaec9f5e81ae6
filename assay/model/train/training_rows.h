// Tables made ready for training: labelled, encoded, and rows that are held out read alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"

namespace assay {

inline constexpr const char* kDefaultEncoding = "label:impute=mean";

// How the user names what is wrong.
struct TrainingWords {
  std::string_view label = "label";
  std::string_view encode = "encode";
};

// An input error when there are none. `option`: what names them.
void require_labels(const Table& training, std::string_view option = "label");

struct TrainingRows {
  Encoder encoder;
  Dataset data;
  std::optional<Dataset> held_out = {};
};

// encode: as encoder_options() reads it. A category that only held-out rows have is known to the model all the same,
// though it learns nothing of it. An input error when there are no labels.
TrainingRows training_rows(const Table& training, const Table* held_out, const std::string& encode,
                           const TrainingWords& words = {});

}  // namespace assay
