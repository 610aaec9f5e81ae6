// Which part of a subject is missing that a criterion or an aggregator needs: the same words for both.
#pragma once

#include <optional>

#include "assay/core/refusal.h"
#include "assay/explain/subject.h"

namespace assay {

// The reason is the end of a sentence that begins with the name of the criterion or aggregator. The three flags say
// what it needs; `model` stands for model, rows, players and targets together.
inline std::optional<Refusal> missing_part(const Subject& subject, bool model, bool reference, bool pool) {
  const bool whole =
      subject.model != nullptr && subject.rows != nullptr && subject.players != nullptr && subject.targets != nullptr;
  if (model && !whole) return Refusal("needs the model and the rows that were explained", Need::model);
  if (reference && (subject.reference == nullptr || subject.reference->rows.rows() == 0)) {
    return Refusal("needs a reference that stands for absent features", Need::reference);
  }
  if (pool && subject.pool == nullptr) return Refusal("needs a pool of training rows", Need::pool);
  return {};
}

}  // namespace assay
