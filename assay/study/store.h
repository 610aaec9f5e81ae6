// Where a running study keeps its finished entries, so that an interrupted one can go on.
//
// The run (run.h) knows no files: archive/folder_store.h keeps entries in the folder of a study, tests keep them in
// memory. Whatever the store, what it gives back must equal what was saved, to the bit.
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/study/study.h"

namespace assay {

class StudyStore {
 public:
  virtual ~StudyStore() = default;

  // Whether all of the entry is there.
  virtual bool has(const std::string& stem, EntryKind kind) const = 0;
  // pool: null for aggregates.
  virtual void save(const StudyEntry& entry, const PoolExplanations* pool, const Context& context) = 0;
  // The entry, and what it knew of the pool. An input error says what does not fit.
  virtual StudyEntry load(const std::string& stem, PoolExplanations* pool, const Context& context) const = 0;
  // What messages call the place of this entry: the path of a file.
  virtual std::string place_of(const std::string& stem) const = 0;
};

}  // namespace assay
