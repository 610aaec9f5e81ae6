// Tables made ready for training, the same for `assay train` and for a study that trains its own model.
#pragma once

#include <optional>
#include <string>

#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/data/table.h"

namespace assay::cli {

inline constexpr const char* kDefaultEncoding = "label:impute=mean";

// An input error when there are none.
void require_labels(const Table& training);

struct TrainingRows {
  Encoder encoder;
  Dataset data;
  std::optional<Dataset> held_out = {};
};

// encode: as --encode has it. A category that only held-out rows have is known to the model all the same, though it
// learns nothing of it. An input error when there are no labels.
TrainingRows training_rows(const Table& training, const Table* held_out, const std::string& encode);

}  // namespace assay::cli
